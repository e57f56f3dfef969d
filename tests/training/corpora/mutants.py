"""Damage files as files really get damaged: cut off, glued, re-encoded, edited by hand."""

import random

_SHARDS = [
    b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xfe\xff", b"\r", b"\r\n", b"\n", b"\n\n", b"\t",
    b"\t\t\t", b"|", b"||", b"|t|", b"|a|", b'"', b"'", b"<", b">", b"</", b"&", b"&amp;", b"&x;",
    b";", b";;", b"#", b"#1\tAnnotatorNotes T1\t", b"T1\t", b"::", b"[", b"]", b"-1", b"-", b"9",
    b"9" * 30, "é".encode(), "😀".encode(), "９".encode(), b"\xe2\x80\xa8", b" " * 50, b",",
]  # fmt: skip


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Damage a file in one to four ways."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        place = chance.randrange(len(data) + 1)
        length = chance.choice((1, 1, 3, 10, 40))
        way = chance.randrange(7)
        if way == 0:
            data = data[:place]
        elif way == 1:
            data = data[:place] + data[place + length :]
        elif way == 2:
            data = data[:place] + chance.choice(_SHARDS) + data[place:]
        elif way == 3:
            data = data[:place] + data[place : place + length] * 2 + data[place + length :]
        elif way == 4:
            data = data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]
        elif way == 5:
            lines = data.split(b"\n")
            chance.shuffle(lines)
            data = b"\n".join(lines)
        else:
            data = data.replace(chance.choice((b"\t", b"|", b" ", b"\n", b'"', b"1")), b"", 1)
    return data

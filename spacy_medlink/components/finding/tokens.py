"""From characters to the tokens of a Doc, which are split where a mention lies within one."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import pairwise

from spacy.tokens import Doc, Span


def token_starts(doc: Doc) -> list[int]:
    """List the first character of each token; tokens themselves would take longer."""
    starts: list[int] = doc.to_array("IDX").tolist()
    return starts


def text_of(doc: Doc) -> str:
    """Get the text of a Doc as `doc.text`, which makes an object of each token."""
    orths, spaces = doc.to_array(["ORTH", "SPACY"]).T.tolist() if len(doc) else ([], [])
    strings = doc.vocab.strings
    return "".join(
        [
            strings[orth] + " " if space else strings[orth]
            for orth, space in zip(orths, spaces, strict=True)
        ]
    )


def split_tokens(doc: Doc, places: Iterable[int]) -> None:
    """Split the tokens of a Doc so that one begins at each of some characters.

    A Doc with the vectors of a transformer stays as it is, since these belong to its tokens. Spans
    of `doc.ents` and `doc.spans` keep their characters.
    """
    starts = token_starts(doc)
    inside: dict[int, list[int]] = {}
    for character in sorted(set(places)):
        index = bisect_right(starts, character) - 1
        if index >= 0 and starts[index] < character < starts[index] + len(doc[index]):
            inside.setdefault(index, []).append(character - starts[index])
    if not inside or (Doc.has_extension("trf_data") and doc._.trf_data is not None):
        return
    groups = {
        key: [(span.start_char, span.end_char, span.label, span.kb_id, span.id) for span in group]
        for key, group in doc.spans.items()
    }
    with doc.retokenize() as retokenizer:
        for index, cuts in inside.items():
            token = doc[index]
            borders = [0, *cuts, len(token)]
            texts = [token.text[a:b] for a, b in pairwise(borders)]
            head = token.head if token.head != token else (token, 0)
            heads = [head, *[(token, 0)] * (len(texts) - 1)]
            retokenizer.split(token, texts, heads=heads)
    starts = token_starts(doc)
    for key, spans in groups.items():
        group = doc.spans[key]
        made = [
            Span(doc, *token_run(starts, first, last), label=label, kb_id=kb_id, span_id=span_id)
            for first, last, label, kb_id, span_id in spans
        ]
        doc.spans[key] = type(group)(doc, name=group.name, attrs=group.attrs, spans=made)


def token_run(starts: list[int], first: int, last: int) -> tuple[int, int]:
    """Find the tokens that hold characters.

    starts (List[int]): the first character of each token.
    """
    begin = bisect_right(starts, first) - 1
    return max(begin, 0), max(bisect_left(starts, last), begin + 1)

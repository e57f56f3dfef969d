"""Text files of corpora: whole, by lines, and with a mention a line."""

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.kb.readers.lines import open_source

from ..records import Mention, Span
from ..tally import Tally

BOM = b"\xef\xbb\xbf"
_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)


def read_text(path: Path, tally: Tally, fallback: str = "") -> str | None:
    """Read a file of text with its line ends as they are, since offsets count them.

    fallback (str): encoding of files that are not UTF-8, "" for none.
    RETURNS (Optional[str]): None when the file is not text, which is counted as a fault.
    """
    try:
        with open_source(path) as file:
            data = file.read().removeprefix(BOM)
    except _DAMAGED as error:
        raise _broken(path, error) from error
    text = _decoded(data, "")
    if text is None and (text := _decoded(data, fallback)) is not None:
        tally.note(f"files read as {fallback}, since they are not UTF-8")
    elif text is None:
        tally.fault("files that are not UTF-8 text", path)
    return text


def read_lines(path: Path, tally: Tally, fallback: str = "") -> Iterator[tuple[int, str]]:
    """Stream (number from 1, line without its end) of a file, plain or `.gz`.

    Only a line feed ends a line. Lines that are not text are counted as faults and left out.
    RAISES (MedlinkError): E165 when the file cannot be opened, E165 when a gzip file is damaged.
    """
    line_number = 0
    with open_source(path) as file:
        try:
            for line_number, raw in enumerate(file, 1):
                raw = raw.removeprefix(BOM) if line_number == 1 else raw
                line = _decoded(raw, fallback)
                if line is None:
                    tally.fault("lines that are not UTF-8 text", path, line_number)
                else:
                    yield line_number, line.rstrip("\r\n")
        except _DAMAGED as error:
            raise _broken(path, error, line_number + 1) from error


def read_mentions(
    path: Path, tally: Tally, parse: Callable[[str], Mention | None]
) -> tuple[Mention, ...]:
    """Read a mention of each line; lines that are none are counted as faults.

    parse (Callable[[str], Optional[Mention]]): makes a mention of a line, without its number.
    """
    mentions = []
    for line_number, line in read_lines(path, tally):
        if mention := parse(line.strip()):
            mentions.append(mention._replace(line=line_number))
        elif line.strip():
            tally.fault("lines that are no mention", path, line_number)
    return tuple(mentions)


def to_span(start: str, end: str) -> Span | None:
    """Read two offsets; None unless both are whole numbers of a plausible size."""
    if all(offset.isascii() and offset.isdigit() and len(offset) < 12 for offset in (start, end)):
        return int(start), int(end)
    return None


def find_said(text: str, mention_text: str, after: int = 0) -> tuple[Span, ...]:
    """Find a mention in a text, ignoring case: first as whole words, then inside words.

    after (int): where to begin. RETURNS (Tuple[Span, ...]): the first place, or ().
    """
    pattern = r"\s+".join(map(re.escape, mention_text.split()))
    for way in (rf"(?<!\w){pattern}(?!\w)", pattern) if pattern else ():
        if match := re.compile(way, re.IGNORECASE).search(text, after):
            return (match.span(),)
    return ()


def unreadable(path: Path, error: MedlinkError) -> MedlinkError:
    """Say with E165 what a reader of terminologies says; its remedies are for `medlink kb build`.

    Other errors than E105 and E165 stay as they are.
    """
    if error.code not in ("E105", "E165"):
        return error
    problem = re.split(r"\. ", error.message)[0]
    for prefix in (f"{path}, ", f"{path} "):
        problem = problem.removeprefix(prefix)
    return Errors.source_unreadable(path=path, reason=problem)


def _decoded(data: bytes, fallback: str) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode(fallback, errors="replace") if fallback else None


def _broken(path: Path, error: Exception, line: int = 0) -> Exception:
    where = f", line {line}" if line else ""
    return Errors.source_unreadable(path=path, reason=f"damaged gzip data{where} ({error})")

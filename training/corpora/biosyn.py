"""The `.concept` files of BioSyn (Sung et al. 2020): a mention a line, a file a document.

`8701013||0|22||SpecificDisease||hereditary hemochromatosis||D006432`. The released files are
preprocessed: mentions in lower case, abbreviations expanded, composites split or joined with "|".
Offsets refer to the original text, which is not included.
"""

from collections.abc import Iterator
from pathlib import Path

from .formats.pubtator import to_span
from .formats.text import read_lines
from .ids import split_ids
from .layout import files_of, split_of
from .records import Document, Mention
from .tally import Tally

_EXPECTED = "a directory of .concept files, such as processed_train"


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents; the split is that of the directory."""
    for path in files_of(source, r".*\.concept", "biosyn", _EXPECTED):
        mentions = tuple(_mentions(path, tally))
        yield Document(path.stem, None, mentions, path, split=split_of(path, source))


def _mentions(path: Path, tally: Tally) -> Iterator[Mention]:
    for line_number, line in read_lines(path, tally):
        cells = [cell.strip() for cell in line.split("||")]
        if len(cells) == 5:
            _, offsets, type, mention_text, ids = cells
            start, _, end = offsets.partition("|")
            span = to_span(start, end)
            link = split_ids(ids)
            parts = (
                tuple(part for part in mention_text.split("|") if part) if link.composite else ()
            )
            whole = mention_text.replace("|", " ") if link.composite else mention_text
            spans = (span,) if span else ()
            kept = parts if len(parts) > 1 else ()
            yield Mention(whole, spans, link, type, kept, line_number)
        elif line.strip():
            tally.fault("lines that are no mention", path, line_number)

"""The `.concept` files of BioSyn (Sung et al. 2020): a mention a line, a file a document.

`8701013||0|22||SpecificDisease||hereditary hemochromatosis||D006432`. The released files are
preprocessed: mentions in lower case, abbreviations expanded, composites split or joined with "|".
Offsets refer to the original text, which is not included.
"""

from collections.abc import Iterator
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Mention
from spacy_medlink.exchange.ids import split_ids
from spacy_medlink.exchange.lines import to_span

from .layout import files_of, read_mentions, split_of
from .tally import Tally

_EXPECTED = "a directory of .concept files, such as processed_train"


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents; the split is that of the directory."""
    for path in files_of(source, r".*\.concept", "biosyn", _EXPECTED):
        mentions = read_mentions(path, tally, _mention)
        yield Document(path.stem, None, mentions, path, split=split_of(path, source))


def _mention(line: str) -> Mention | None:
    cells = [cell.strip() for cell in line.split("||")]
    if len(cells) != 5:
        return None
    _, offsets, type, mention_text, ids = cells
    start, _, end = offsets.partition("|")
    span, link = to_span(start, end), split_ids(ids)
    spans = (span,) if span else ()
    if not link.composite:
        return Mention(mention_text, spans, link, type)
    parts = tuple(part for part in mention_text.split("|") if part)
    whole = mention_text.replace("|", " ")
    return Mention(whole, spans, link, type, parts if len(parts) > 1 else ())

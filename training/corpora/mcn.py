"""MCN, n2c2 2019 track 3 (Luo et al. 2019): 100 discharge summaries, UMLS.

`train_note/0034.txt` and `train_norm/0034.norm` with lines `N001||C0018681||12||20`, further pairs
of offsets for mentions in several pieces, and CUI-less where no concept fits. Texts are private:
they are given after an agreement, and must not be shown.
"""

from collections.abc import Iterator
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Mention, Span
from spacy_medlink.exchange.ids import split_ids
from spacy_medlink.exchange.lines import to_span

from .layout import beside, files_of, pairs, read_mentions, split_of, texts_of
from .tally import Tally

_EXPECTED = "the directory with train_note/ and train_norm/, or test_note/ and test_norm/"


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the notes; splits are those of the directories."""
    texts = texts_of(beside(source))
    for path, text in pairs(files_of(source, r".*\.norm", "mcn", _EXPECTED), texts, tally):
        mentions = read_mentions(path, tally, _mention)
        yield Document(path.stem, text, mentions, path, split=split_of(path, source))


def _mention(line: str) -> Mention | None:
    cells = [cell.strip() for cell in line.split("||")]
    spans = _spans(cells[2:])
    return Mention("", spans, split_ids(cells[1], "|")) if spans else None


def _spans(cells: list[str]) -> tuple[Span, ...]:
    spans = [to_span(start, end) for start, end in zip(cells[::2], cells[1::2], strict=False)]
    whole = len(cells) % 2 == 0 and None not in spans
    return tuple(sorted(span for span in spans if span)) if whole else ()

"""MCN, n2c2 2019 track 3 (Luo et al. 2019): 100 discharge summaries, UMLS.

`train_note/0034.txt` and `train_norm/0034.norm` with lines `N001||C0018681||12||20`, further pairs
of offsets for mentions in several pieces, and CUI-less where no concept fits. Texts are private:
they are given after an agreement, and must not be shown.
"""

from collections.abc import Iterator
from pathlib import Path

from .formats.pubtator import to_span
from .formats.text import read_lines, read_text
from .ids import split_ids
from .layout import beside, files_of, split_of, walk
from .records import Document, Mention, Span
from .tally import Tally

_EXPECTED = "the directory with train_note/ and train_norm/, or test_note/ and test_norm/"


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the notes; splits are those of the directories."""
    notes = {path.stem: path for path in walk(beside(source)) if _is_note(path)}
    for path in files_of(source, r".*\.norm", "mcn", _EXPECTED):
        if path.stem not in notes:
            tally.fault("annotation files without a text", path)
            continue
        text = read_text(notes[path.stem], tally)
        if text is not None:
            mentions = tuple(_mentions(path, tally))
            yield Document(path.stem, text, mentions, path, split=split_of(path, source))


def _is_note(path: Path) -> bool:
    return path.suffix == ".txt" and not path.name.endswith("file_list.txt")


def _mentions(path: Path, tally: Tally) -> Iterator[Mention]:
    for line_number, line in read_lines(path, tally):
        cells = [cell.strip() for cell in line.split("||")]
        spans = _spans(cells[2:])
        if spans:
            yield Mention("", spans, split_ids(cells[1], "|"), line=line_number)
        elif line.strip():
            tally.fault("lines that are no mention", path, line_number)


def _spans(cells: list[str]) -> tuple[Span, ...]:
    spans = [to_span(start, end) for start, end in zip(cells[::2], cells[1::2], strict=False)]
    whole = len(cells) % 2 == 0 and None not in spans
    return tuple(sorted(span for span in spans if span)) if whole else ()

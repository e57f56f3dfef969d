"""AskAPatient (Limsopatham and Collier 2016): 17,324 phrases, SNOMED CT and AMT, ten folds.

`AskAPatient.fold-0.train.txt`: code, name of the concept and phrase, tab-separated; splits are
called "fold-0.train", "fold-0.validation" and "fold-0.test". Files may be Latin-1.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Mention
from spacy_medlink.exchange.ids import split_ids

from .layout import documents_of, files_of
from .tally import Tally

_FILES = "files like AskAPatient.fold-0.train.txt"
_LINES = "lines of code, name and phrase, with tabs between them"
_PATTERN = r"AskAPatient\.(fold-\d+\.(?:train|validation|test))\.txt"


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the phrases; choose a fold with its split, since the folds repeat them."""
    for path in files_of(source, _PATTERN, "askapatient", _FILES):
        named = re.fullmatch(_PATTERN, path.name, re.I)
        split = named[1].lower() if named else ""
        for phrase in documents_of(path, tally, _phrase, "askapatient", _LINES, "latin-1"):
            yield phrase._replace(split=split)


def _phrase(line: str) -> Document | None:
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) < 3 or not cells[2] or not any(map(str.isdigit, cells[0])):
        return None
    return Document("", None, (Mention(cells[2], (), split_ids(cells[0], "|")),), Path())

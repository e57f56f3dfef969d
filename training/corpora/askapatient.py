"""AskAPatient (Limsopatham and Collier 2016): 17,324 phrases, SNOMED CT and AMT, ten folds.

`AskAPatient.fold-0.train.txt`: code, name of the concept and phrase, tab-separated; splits are
called "fold-0.train", "fold-0.validation" and "fold-0.test". Files may be Latin-1.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from .formats.text import read_lines
from .ids import split_ids
from .layout import files_of
from .records import Document, Mention
from .tally import Tally

_EXPECTED = "files like AskAPatient.fold-0.train.txt"
_PATTERN = r"AskAPatient\.(fold-\d+\.(?:train|validation|test))\.txt"


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the phrases; choose a fold with its split, since the folds repeat them."""
    for path in files_of(source, _PATTERN, "askapatient", _EXPECTED):
        named = re.fullmatch(_PATTERN, path.name, re.I)
        split = named[1].lower() if named else ""
        for line_number, line in read_lines(path, tally, fallback="latin-1"):
            cells = [cell.strip() for cell in line.split("\t")]
            if len(cells) >= 3 and cells[2]:
                mention = Mention(cells[2], (), split_ids(cells[0], "|"), line=line_number)
                yield Document("", None, (mention,), path, "en", split, line_number)
            elif line.strip():
                tally.fault("lines without code, name and phrase", path, line_number)

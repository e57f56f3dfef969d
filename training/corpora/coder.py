"""Cadec and PsyTAR as the authors of CODER divided them (Yuan et al. 2022, section 4.1).

Five folders, each with phrases to test on in `test.txt` and the targets in `standard.txt`: a line
has a code of SNOMED CT, a tab, and a phrase, or the one name of the target. Both lie in
`test/cadec/data` of github.com/GanjinZero/CODER, and need neither UMLS nor SNOMED CT.
"""

from collections.abc import Iterator
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Mention
from spacy_medlink.exchange.ids import split_ids
from spacy_medlink.exchange.lines import read_lines
from spacy_medlink.types import Concept, Name

from .layout import no_corpus, walk
from .tally import Tally

NAME, FOLDS = "coder-folds", 5
_EXPECTED = (
    "a folder of test/cadec/data from github.com/GanjinZero/CODER, such as cadec: five folders, "
    "each with standard.txt and test.txt, whose lines are `CODE<tab>phrase`"
)


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the phrases; their splits are "fold-0.test" to "fold-4.test".

    RAISES (MedlinkError): E107 without the source, E160 for other files than these, with the line.
    """
    targets = {concept.id for concept in read_targets(source)}
    tests = _files(source, "test.txt")
    if len(tests) != FOLDS:
        raise no_corpus(source, NAME, f"{len(tests)} of its folders have a test.txt", _EXPECTED)
    for fold, path in enumerate(tests):
        for line, code, phrase in _rows(path, tally):
            if code not in targets:
                problem = f"line {line}: no standard.txt has the target {code!r:.40}"
                raise no_corpus(path, NAME, problem, _EXPECTED)
            mention = Mention(phrase, (), split_ids(code), line=line)
            yield Document("", None, (mention,), path, "en", f"fold-{fold}.test", line)


def read_targets(source: Path) -> list[Concept]:
    """Read the targets, which all folds share, each with its one name. RAISES: as `read`."""
    targets: dict[str, Concept] = {}
    for path in _files(source, "standard.txt"):
        lines: dict[str, int] = {}
        for line, code, name in _rows(path, Tally()):
            if (first := lines.setdefault(code, line)) != line:
                problem = f"line {line}: line {first} has the target {code!r:.40}, too"
                raise no_corpus(path, NAME, problem, _EXPECTED)
            targets.setdefault(code, Concept(code, name, (Name(name, "en"),)))
    if not targets:
        raise no_corpus(source, NAME, "no folder in it has a standard.txt", _EXPECTED)
    return list(targets.values())


def _files(source: Path, name: str) -> list[Path]:
    return [path for path in walk(source) if path.name == name]


def _rows(path: Path, tally: Tally) -> Iterator[tuple[int, str, str]]:
    """Read (line from 1, code, words) of a file. RAISES (MedlinkError): E160, E165."""
    line = 0
    for line, text in read_lines(path, tally):
        code, _, words = (part.strip() for part in text.partition("\t"))
        if text.strip() and not (code.isdigit() and words and "\t" not in words):
            raise no_corpus(path, NAME, f"line {line} is not a code and a phrase", _EXPECTED)
        if text.strip():
            yield line, code, words
    if not line:
        raise no_corpus(path, NAME, "line 1 is missing", _EXPECTED)

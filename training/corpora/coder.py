"""Cadec and PsyTAR as the authors of CODER divided them (Yuan et al. 2022, section 4.1).

Five folders, each with phrases to test on in `test.txt` and the targets in `standard.txt`: a line
has a code of SNOMED CT, a tab, and a phrase, or the one name of the target. Both lie in
`test/cadec/data` of github.com/GanjinZero/CODER, and need neither UMLS nor SNOMED CT.
"""

from collections.abc import Iterator
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Mention
from spacy_medlink.exchange.ids import split_ids
from spacy_medlink.types import Concept, Name

from .layout import documents_of, no_corpus, walk
from .tally import Tally

NAME, FOLDS = "coder-folds", 5
_LINES = "lines of `CODE<tab>phrase`"
_EXPECTED = (
    "a folder of test/cadec/data from github.com/GanjinZero/CODER, such as cadec: five folders, "
    f"each with standard.txt and test.txt, {_LINES}"
)


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the phrases; their splits are "fold-0.test" to "fold-4.test".

    RAISES (MedlinkError): E107 without the source, E160 for other files than these, with the line.
    """
    targets = {concept.id for concept in read_targets(source, tally)}
    tests = _files(source, "test.txt")
    if len(tests) != FOLDS:
        raise no_corpus(source, NAME, f"{len(tests)} of its folders have a test.txt", _EXPECTED)
    for fold, path in enumerate(tests):
        for phrase in documents_of(path, tally, _phrase, NAME, _LINES):
            if not targets.issuperset(phrase.mentions[0].link.ids):
                tally.fault("phrases of a target that no standard.txt has", path, phrase.line)
            yield phrase._replace(split=f"fold-{fold}.test")


def read_targets(source: Path, tally: Tally | None = None) -> list[Concept]:
    """Read the targets, which all folds share, each with its one name. RAISES: as `read`."""
    tally = tally or Tally(strict=True)
    targets: dict[str, Concept] = {}
    for path in _files(source, "standard.txt"):
        for line in documents_of(path, tally, _phrase, NAME, _LINES):
            said, _, link, *_ = line.mentions[0]
            targets.setdefault(link.ids[0], Concept(link.ids[0], said, (Name(said, "en"),)))
    if not targets:
        raise no_corpus(source, NAME, "no folder in it has a standard.txt", _EXPECTED)
    return list(targets.values())


def _files(source: Path, name: str) -> list[Path]:
    return [path for path in walk(source) if path.name == name]


def _phrase(line: str) -> Document | None:
    code, _, words = (part.strip() for part in line.partition("\t"))
    if not (code.isdigit() and words and "\t" not in words):
        return None
    return Document("", None, (Mention(words, (), split_ids(code)),), Path())

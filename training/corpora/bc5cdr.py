"""BC5CDR (Li et al. 2016): 1,500 abstracts, diseases and chemicals, MeSH ids.

The same documents come as PubTator and as BioC; of a directory with both, PubTator is read.
"""

from collections.abc import Iterator
from pathlib import Path

from .formats.bioc import read_bioc
from .formats.pubtator import read_pubtator
from .layout import files_of, split_of
from .records import Document
from .tally import Tally

_EXPECTED = "CDR_TrainingSet.PubTator.txt and its like, or CDR_TrainingSet.BioC.xml"


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents; splits are those of the files' names."""
    pattern = r"CDR_\w+Set\.(PubTator.*\.txt|BioC\.xml)(\.gz)?"
    files = list(files_of(source, pattern, "bc5cdr", _EXPECTED))
    plain = [path for path in files if not _is_xml(path)]
    for path in plain or files:
        for document in (read_bioc if _is_xml(path) else read_pubtator)(path, tally):
            yield document._replace(split=split_of(path, source))


def _is_xml(path: Path) -> bool:
    return ".xml" in path.suffixes

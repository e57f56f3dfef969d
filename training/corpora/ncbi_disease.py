"""NCBI disease corpus (Doğan et al. 2014): 793 abstracts, diseases, MeSH and OMIM ids.

`D003110|D009369` is a composite mention, `D001+D002` a mention that needs both concepts. Both are
written as composite.
"""

from collections.abc import Iterator
from pathlib import Path

from .formats.bioc import read_bioc
from .formats.pubtator import read_pubtator
from .layout import files_of, split_of
from .records import Document
from .tally import Tally

_EXPECTED = "NCBItrainset_corpus.txt, NCBIdevelopset_corpus.txt and NCBItestset_corpus.txt, or BioC"


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents of PubTator or BioC files; splits are those of their names."""
    files = files_of(source, r"NCBI.*set.*\.(txt|xml)(\.gz)?", "ncbi-disease", _EXPECTED)
    for path in files:
        read_file = read_bioc if ".xml" in path.suffixes else read_pubtator
        for document in read_file(path, tally):
            yield document._replace(split=split_of(path, source))

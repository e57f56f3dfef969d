"""Abstracts as PubTator or BioC: the NCBI disease corpus, and BC5CDR.

NCBI disease corpus (Doğan et al. 2014): 793 abstracts, diseases, MeSH and OMIM ids. In it
`D003110|D009369` is a composite mention, `D001+D002` a mention that needs both concepts; both are
written as composite. BC5CDR (Li et al. 2016): 1,500 abstracts, diseases and chemicals, MeSH ids.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from spacy_medlink.exchange.bioc import read_bioc
from spacy_medlink.exchange.documents import Document
from spacy_medlink.exchange.pubtator import read_pubtator

from .layout import files_of, split_of
from .tally import Tally

# By corpus, how its files are called.
_FILES = {
    "ncbi-disease": (
        r"NCBI.*set.*\.(txt|xml)(\.gz)?",
        "NCBItrainset_corpus.txt, NCBIdevelopset_corpus.txt and NCBItestset_corpus.txt, or BioC",
    ),
    "bc5cdr": (
        r"CDR_\w+Set\.(PubTator.*\.txt|BioC\.xml)(\.gz)?",
        "CDR_TrainingSet.PubTator.txt and its like, or CDR_TrainingSet.BioC.xml",
    ),
}


def _read(name: str, source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents; of a directory with both formats, PubTator is read.

    Splits are those of the files' names.
    """
    pattern, expected = _FILES[name]
    files = list(files_of(source, pattern, name, expected))
    plain = [path for path in files if ".xml" not in path.suffixes]
    for path in plain or files:
        for document in (read_pubtator if plain else read_bioc)(path, tally):
            yield document._replace(split=split_of(path, source))


read_ncbi_disease = partial(_read, "ncbi-disease")
read_bc5cdr = partial(_read, "bc5cdr")

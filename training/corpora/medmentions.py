"""MedMentions (Mohan and Li 2019): 4,392 abstracts, UMLS 2017AA; full, and the part ST21pv.

The splits are lists of PubMed ids, `corpus_pubtator_pmids_{trng,dev,test}.txt`; ST21pv uses those
of the full set.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Ids
from spacy_medlink.exchange.ids import split_ids
from spacy_medlink.exchange.lines import read_lines
from spacy_medlink.exchange.pubtator import read_pubtator

from .layout import no_corpus, walk
from .tally import Tally

_EXPECTED = "a checkout of the repository chanzuckerberg/MedMentions, or its corpus_pubtator.txt.gz"
_NAMES = ("corpus_pubtator.txt.gz", "corpus_pubtator.txt")
_LISTS = {"train": "trng", "dev": "dev", "test": "test"}


def _read(name: str, part: str, source: Path, tally: Tally) -> Iterator[Document]:
    splits = _splits(source, tally)
    for document in read_pubtator(_corpus(source, name, part), tally, _ids):
        split = splits.get(document.doc_id, "")
        if splits and not split:
            tally.note("documents that are in no list of a split")
        yield document._replace(split=split)


read_full = partial(_read, "medmentions", "full")
read_st21pv = partial(_read, "medmentions-st21pv", "st21pv")


def _ids(cell: str) -> Ids:
    return split_ids(cell, "|", prefix="UMLS:")


def _corpus(source: Path, name: str, part: str) -> Path:
    if source.is_file():
        return source
    paths = [path for path in walk(source) if path.name in _NAMES]
    of_part = [path for path in paths if part in path.relative_to(source).parts]
    if of_part or len(paths) == 1:
        return (of_part or paths)[0]
    problem = f"{len(paths)} files corpus_pubtator.txt.gz, none of them below {part}/"
    raise no_corpus(source, name, problem, _EXPECTED)


def _splits(source: Path, tally: Tally) -> dict[str, str]:
    """Map PubMed ids to splits; ids of a missing list have no split."""
    splits: dict[str, str] = {}
    # A single file may be on a large disk, so only its own directory is searched.
    near = source.parent.iterdir() if source.is_file() else walk(source)
    files = {path.name: path for path in near}
    for split, word in _LISTS.items():
        path = files.get(f"corpus_pubtator_pmids_{word}.txt")
        if path is None:
            continue
        for line_number, line in read_lines(path, tally):
            pmid = line.strip()
            if pmid and splits.setdefault(pmid, split) != split:
                tally.fault("documents in the lists of two splits", path, line_number)
    return splits

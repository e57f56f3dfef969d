"""Relation triplets: head term, tail term and relation; divided into training and test."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase

from ..corpora.formats.tables import read_table
from ..corpora.tally import Tally

_COLUMNS = {
    "head": ("head", "head_cui", "cui1", "subject"),
    "tail": ("tail", "tail_cui", "cui2", "object"),
    "relation": ("relation", "rel", "label", "predicate"),
}
TEST_PART = 0.2  # CODER, section 4.4: 4 to 1, at random
_FEWEST = 5


class Triplet(NamedTuple):
    """Head and tail as terms, and the kind of relation."""

    head: str
    tail: str
    relation: str


def read_triplets(path: Path, tally: Tally, kb: KnowledgeBase | None = None) -> list[Triplet]:
    """Read a table of triplets whose first line names the columns.

    kb (Optional[KnowledgeBase]): heads and tails are ids of its concepts, retired ones among them,
        and stand for their preferred names; rows with others are left out and counted.
    RAISES (MedlinkError): E702 a column is missing, E530 hardly any triplet came out.
    """
    found = []
    for line, cells in read_table(path, tally, _COLUMNS):
        head, tail = (_term(cells[side], kb) for side in ("head", "tail"))
        if head and tail and cells["relation"]:
            found.append(Triplet(head, tail, cells["relation"]))
        elif kb is not None and all(cells[name] for name in _COLUMNS):
            tally.drop("triplets with an id that the knowledge base lacks")
        else:
            tally.fault("triplets without head, tail and relation", path, line)
    if len(found) < _FEWEST:
        raise Errors.too_few_rows(path=path, found=len(found), wanted=_FEWEST, what="triplets")
    return found


def divide(triplets: list[Triplet], seed: int) -> tuple[list[Triplet], list[Triplet]]:
    """Divide triplets at random into four parts to train on and one to test on."""
    order = np.random.default_rng(seed).permutation(len(triplets))
    cut = max(1, round(TEST_PART * len(triplets)))
    test, train = order[:cut].tolist(), order[cut:].tolist()
    return [triplets[place] for place in train], [triplets[place] for place in test]


def _term(cell: str, kb: KnowledgeBase | None) -> str:
    if kb is None:
        return cell
    id = kb.resolve(cell)
    return "" if id is None else kb[id].name

"""MCSM: do concepts of a semantic type lie beside each other?

Medical Concept Similarity Measure (Choi et al., 2016; CODER, Yuan et al., 2022, section 4.3):

    MCSM(V, T, k) = 1 / |V(T)| * sum over v in V(T), i = 1..k of 1[v(i) is of T] / log2(i + 1)

with v(i) the i-th nearest concept to v by cosine, v itself left out. With k = 40 it is at most
11.09. As in the authors' code, V has the concepts of the types asked for alone. A concept has one
type, the last of its own, and the vector of one name, here the preferred one.
"""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.retrieval.dense import DenseIndex
from spacy_medlink.types import Floats1d, Floats2d, Ints2d

NEIGHBOURS = 40  # k of the papers
_CHUNK = 8192


def encode_terms(encoder: BiEncoder, terms: Sequence[str]) -> Floats2d:
    """Encode terms: (n, dim), rows of length 1; equal ones once."""
    places = {term: row for row, term in enumerate(dict.fromkeys(terms))}
    return encoder.encode(list(places))[[places[term] for term in terms]]


def read_typed(kb: KnowledgeBase, wanted: Collection[str]) -> tuple[list[str], list[str]]:
    """Read the concepts whose last type is one of those wanted.

    RETURNS (Tuple[List[str], List[str]]): their preferred names and types, n of each.
    RAISES (MedlinkError): E407 when no concept has one.
    """
    lasts = {row: types[-1] for row, types in enumerate(kb.iter_types()) if types}
    found = {row: type for row, type in lasts.items() if type in wanted}
    if not found:
        raise Errors.nothing_there(
            path=kb.path,
            what=f"concept of the types {', '.join(wanted)}",
            remedy="Build it from a source with types, such as a release of the UMLS.",
        )
    return [kb.concept_at(row).name for row in found], list(found.values())


def mcsm(vectors: Floats2d, types: Sequence[str], k: int = NEIGHBOURS) -> dict[str, Floats1d]:
    """Compute the measure for each type.

    vectors (Floats2d): (n, dim), rows of length 1. types: of each concept.
    RETURNS (Dict[str, Floats1d]): by type, the sum of each of its concepts; their mean is MCSM.
    """
    neighbours = nearest(vectors, min(k, len(vectors) - 1))
    gains = 1 / np.log2(np.arange(neighbours.shape[1]) + 2)
    of_types = {name: np.array(types) == name for name in sorted(set(types))}
    return {name: is_of[neighbours[is_of]] @ gains for name, is_of in of_types.items()}


def nearest(vectors: Floats2d, k: int) -> Ints2d:
    """Find the k nearest others of each: (n, k)."""
    index = DenseIndex.build(_chunks(vectors), len(vectors), vectors.shape[1], "Flat")
    rows: Ints2d = np.concatenate([index.search(chunk, k + 1).rows for chunk in _chunks(vectors)])
    itself = rows == np.arange(len(rows))[:, None]
    # Of equal vectors, others may fill all places before the term itself: then the last one goes.
    itself[~itself.any(axis=1), -1] = True
    others: Ints2d = rows[~itself].reshape(len(rows), k)
    return others


def _chunks(vectors: Floats2d) -> Iterable[Floats2d]:
    return (vectors[start : start + _CHUNK] for start in range(0, len(vectors), _CHUNK))

"""MCSM: do concepts of a semantic type lie beside each other?

Medical Concept Similarity Measure (Choi et al., 2016; CODER, Yuan et al., 2022, section 4.3):

    MCSM(V, T, k) = 1 / |V(T)| * sum over v in V(T), i = 1..k of 1[v(i) is of T] / log2(i + 1)

with v(i) the i-th nearest concept to v by cosine, v itself left out. A concept's vector is that of
its preferred name. With k = 40 it is at most 11.09.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.retrieval.dense import DenseIndex
from spacy_medlink.types import Floats1d, Floats2d, Ints2d

NEIGHBOURS = 40  # k of the papers
_CHUNK = 8192


class TypedTerms(NamedTuple):
    """Preferred names of concepts with their types, n of each."""

    terms: list[str]
    types: list[tuple[str, ...]]


def encode_terms(encoder: BiEncoder, terms: Sequence[str]) -> Floats2d:
    """Encode terms: (n, dim), rows of length 1; equal ones once."""
    places = {term: row for row, term in enumerate(dict.fromkeys(terms))}
    return encoder.encode(list(places))[[places[term] for term in terms]]


def read_typed(kb: KnowledgeBase) -> TypedTerms:
    """Read the concepts that have a type.

    RAISES (MedlinkError): E407 when no concept has one.
    """
    rows = [row for row, types in enumerate(kb.iter_types()) if types]
    if not rows:
        raise Errors.nothing_there(
            path=kb.path,
            what="two types, which the recipe trains on",
            remedy="Build it from a source with types, or set weight = 0 in [types].",
        )
    concepts = [kb.concept_at(row) for row in rows]
    return TypedTerms(
        [concept.name for concept in concepts], [concept.types for concept in concepts]
    )


def mcsm(
    vectors: Floats2d,
    types: Sequence[tuple[str, ...]],
    wanted: Sequence[str] = (),
    k: int = NEIGHBOURS,
) -> dict[str, Floats1d]:
    """Compute the measure for some types.

    vectors (Floats2d): (n, dim), rows of length 1. types: of each concept.
    wanted (Sequence[str]): the types to measure; () for all.
    RETURNS (Dict[str, Floats1d]): by type, the sum of each of its concepts; their mean is MCSM.
    """
    neighbours = _nearest(vectors, min(k, len(vectors) - 1))
    gains = 1 / np.log2(np.arange(neighbours.shape[1]) + 2)
    by_type = {}
    for name in wanted or sorted({type for types_of in types for type in types_of}):
        of_type = np.array([name in types_of for types_of in types])
        if of_type.any():
            by_type[name] = of_type[neighbours[of_type]] @ gains
    return by_type


def _nearest(vectors: Floats2d, k: int) -> Ints2d:
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

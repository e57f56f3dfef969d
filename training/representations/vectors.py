"""The vectors of terms, each encoded once."""

from collections.abc import Iterable, Sequence

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.types import Floats2d

_CHUNK = 8192


def encode_terms(encoder: BiEncoder, terms: Sequence[str]) -> Floats2d:
    """Encode terms: (n, dim), rows of length 1; equal ones once."""
    places = {term: place for place, term in enumerate(dict.fromkeys(terms))}
    return encoder.encode(list(places))[[places[term] for term in terms]]


def in_chunks(vectors: Floats2d) -> Iterable[Floats2d]:
    """Divide vectors into blocks of rows."""
    return (vectors[start : start + _CHUNK] for start in range(0, len(vectors), _CHUNK))

"""The vectors of all names, in the order of rows: taken from assets built before, or encoded."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ..kb import KnowledgeBase
from ..types import Floats2d, Progress
from .kept import KeptVectors
from .update import KnownVectors

if TYPE_CHECKING:  # torch and transformers are not needed to build the starter's tiers
    from ..encoders.bi_encoder import BiEncoder

_CHUNK = 4096
_CHUNK_OF_KNOWN = 32_768  # larger, so that the few new names of a chunk make a batch


def name_vectors(
    encoder: "BiEncoder",
    kb: KnowledgeBase,
    known: KnownVectors | None,
    progress: Progress,
    kept: KeptVectors | None = None,
) -> Iterator[Floats2d]:
    """Stream the vectors of the names chunk by chunk.

    known (Optional[KnownVectors]): vectors that need not be made again.
    kept (Optional[KeptVectors]): keeps those that are made, and has those of an interrupted build.
    """

    def encode(texts: Sequence[str]) -> Floats2d:
        if kept is None:
            return _encoded(encoder, texts)
        return kept.encode(texts, lambda: _encoded(encoder, texts))

    size = _CHUNK if known is None else _CHUNK_OF_KNOWN
    texts = kb.iter_texts()
    counted = iter(progress(range(kb.n_names), kb.n_names, "encoding names"))
    while chunk := list(islice(texts, size)):
        yield encode(chunk) if known is None else _completed(encoder.dim, encode, known, chunk)
        for _ in islice(counted, len(chunk)):
            pass
    next(counted, None)  # it is done, so that a bar goes


def _encoded(encoder: "BiEncoder", texts: Sequence[str]) -> Floats2d:
    """Encode equal strings once."""
    distinct = {text: position for position, text in enumerate(dict.fromkeys(texts))}
    vectors = encoder.encode(list(distinct))
    return vectors[[distinct[text] for text in texts]]


def _completed(
    dim: int,
    encode: Callable[[Sequence[str]], Floats2d],
    known: KnownVectors,
    texts: Sequence[str],
) -> Floats2d:
    """Encode only what is not known."""
    is_known, found = known.take(texts)
    vectors = np.empty((len(texts), dim), dtype=np.float32)
    vectors[is_known] = found
    missing = np.flatnonzero(~is_known)
    vectors[missing] = encode([texts[place] for place in missing.tolist()])
    return vectors

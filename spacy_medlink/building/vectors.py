"""The vectors of all names, in the order of rows: taken from assets built before, or encoded."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ..kb import KnowledgeBase
from ..types import Floats2d, Progress
from .update import KnownVectors

if TYPE_CHECKING:  # torch and transformers are not needed to build the starter's tiers
    from ..encoders.bi_encoder import BiEncoder

_CHUNK = 4096
_CHUNK_OF_KNOWN = 32_768  # larger, so that the few new names of a chunk make a batch


def name_vectors(
    encoder: "BiEncoder", kb: KnowledgeBase, known: KnownVectors | None, progress: Progress
) -> Iterator[Floats2d]:
    """Stream the vectors of the names chunk by chunk.

    known (Optional[KnownVectors]): vectors that need not be made again.
    """
    size = _CHUNK if known is None else _CHUNK_OF_KNOWN
    starts = range(0, kb.n_names, size)
    texts = kb.iter_texts()
    for _ in progress(starts, len(starts), "encoding names"):
        chunk = list(islice(texts, size))
        yield _encoded(encoder, chunk) if known is None else _completed(encoder, known, chunk)


def _encoded(encoder: "BiEncoder", texts: Sequence[str]) -> Floats2d:
    """Encode equal strings once."""
    distinct = {text: position for position, text in enumerate(dict.fromkeys(texts))}
    vectors = encoder.encode(list(distinct))
    return vectors[[distinct[text] for text in texts]]


def _completed(encoder: "BiEncoder", known: KnownVectors, texts: Sequence[str]) -> Floats2d:
    """Encode only what is not known."""
    is_known, found = known.take(texts)
    vectors = np.empty((len(texts), encoder.dim), dtype=np.float32)
    vectors[is_known] = found
    missing = np.flatnonzero(~is_known)
    vectors[missing] = _encoded(encoder, [texts[place] for place in missing.tolist()])
    return vectors

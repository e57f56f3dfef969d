"""The vectors of all names, in the order of rows: taken from assets built before, or encoded."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..kb import KnowledgeBase
from ..types import Floats2d, Ints1d, Progress
from .kept import KeptVectors
from .update import KnownVectors

if TYPE_CHECKING:  # torch and transformers are not needed to build the starter's tiers
    import torch

    from ..encoders.bi_encoder import BiEncoder
    from ..encoders.stored import StoredVectors

Made = TypeVar("Made")
_CHUNK = 4096
_CHUNK_ON_GPU = 65_536  # large, since a GPU is idle while the last batch of a chunk is fetched
_CHUNK_OF_KNOWN = 32_768  # larger, so that the few new names of a chunk make a batch
_AHEAD = 2  # chunks under way on a GPU: it computes one while the next is cut into word pieces


def name_vectors(
    encoder: "BiEncoder",
    kb: KnowledgeBase,
    reusable: "KnownVectors | StoredVectors | None",
    progress: Progress,
    kept: KeptVectors | None = None,
) -> Iterator[Floats2d]:
    """Stream the vectors of the names chunk by chunk.

    known: vectors made before, of older assets or stored beside an encoder.
    kept (Optional[KeptVectors]): keeps new vectors, and has the vectors of an interrupted build.
    """
    if reusable is None:
        made = kept_or_encoded(encoder, kept, name_chunks(kb, encoder.device))
    else:
        chunks = _chunks(kb.iter_texts(), _CHUNK_OF_KNOWN)
        made = (_completed(encoder, kept, reusable, chunk) for chunk in chunks)
    return _counted(((len(vectors), vectors) for vectors in made), kb, progress)


def carried_rows(
    encoder: "BiEncoder",
    kb: KnowledgeBase,
    reusable: KnownVectors,
    progress: Progress,
    kept: KeptVectors | None = None,
) -> Iterator[tuple[Ints1d, Floats2d]]:
    """Stream the rows that the names have in an older index, and the vectors of the others.

    RETURNS (Iterator[Tuple[Ints1d, Floats2d]]): rows (n,), none twice, -1 for another name;
        vectors of the others, (n_others, dim).
    """

    def carried(texts: Sequence[str]) -> tuple[int, tuple[Ints1d, Floats2d]]:
        rows = reusable.claim(texts)
        others = [texts[at] for at in np.flatnonzero(rows < 0).tolist()]
        return len(texts), (rows, _completed(encoder, kept, reusable, others))

    return _counted(map(carried, _chunks(kb.iter_texts(), _CHUNK_OF_KNOWN)), kb, progress)


def _counted(
    counted_parts: Iterable[tuple[int, Made]], kb: KnowledgeBase, progress: Progress
) -> Iterator[Made]:
    """Pass on what was made for so many names, and show how many are done."""
    counted = iter(progress(range(kb.n_names), kb.n_names, "encoding names"))
    for names, made in counted_parts:
        yield made
        for _ in islice(counted, names):
            pass
    next(counted, None)  # ends the iterator, so that the progress bar disappears


def name_chunks(kb: KnowledgeBase, device: "torch.device") -> Iterator[list[str]]:
    """Divide all names, in the order of rows, into chunks of a size for the device."""
    return _chunks(kb.iter_texts(), _CHUNK if device.type == "cpu" else _CHUNK_ON_GPU)


def kept_or_encoded(
    encoder: "BiEncoder", kept: KeptVectors | None, chunks: Iterable[Sequence[str]]
) -> Iterator[Floats2d]:
    """Find or make the vectors of each chunk, in order; on a GPU several chunks at a time."""

    def make(texts: Sequence[str]) -> Floats2d:
        return _made(encoder, kept, texts)

    return map(make, chunks) if encoder.device.type == "cpu" else _ahead(make, chunks)


def _chunks(texts: Iterator[str], size: int) -> Iterator[list[str]]:
    while chunk := list(islice(texts, size)):
        yield chunk


def _ahead(
    make: Callable[[Sequence[str]], Floats2d], chunks: Iterable[Sequence[str]]
) -> Iterator[Floats2d]:
    """Make vectors in order, with the next chunks already in work."""
    waiting: deque[Future[Floats2d]] = deque()
    with ThreadPoolExecutor(_AHEAD) as pool:
        try:
            for chunk in chunks:
                waiting.append(pool.submit(make, chunk))
                if len(waiting) > _AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _made(encoder: "BiEncoder", kept: KeptVectors | None, texts: Sequence[str]) -> Floats2d:
    if kept is None:
        return _encoded(encoder, texts)
    return kept.encode(texts, lambda: _encoded(encoder, texts))


def _encoded(encoder: "BiEncoder", texts: Sequence[str]) -> Floats2d:
    """Encode texts, equal strings only once."""
    distinct = {text: position for position, text in enumerate(dict.fromkeys(texts))}
    vectors = encoder.encode(list(distinct))
    if len(distinct) == len(texts):
        return vectors
    return vectors[[distinct[text] for text in texts]]


def _completed(
    encoder: "BiEncoder",
    kept: KeptVectors | None,
    reusable: "KnownVectors | StoredVectors",
    texts: Sequence[str],
) -> Floats2d:
    """Encode only the unknown texts."""
    is_known, known_vectors = reusable.take(texts)
    vectors = np.empty((len(texts), encoder.dim), dtype=np.float32)
    vectors[is_known] = known_vectors
    missing = np.flatnonzero(~is_known)
    vectors[missing] = _made(encoder, kept, [texts[at] for at in missing.tolist()])
    return vectors

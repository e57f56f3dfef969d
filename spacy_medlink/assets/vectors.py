"""The vectors of all names, in the order of rows: taken from where they are known, or encoded."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import MedlinkError, Warnings
from ..kb import KnowledgeBase
from ..types import Floats2d, Progress
from ..util.telling import tell
from .vector_store import KnownVectors, VectorStore, take_known

if TYPE_CHECKING:  # torch and transformers are not needed to build the starter's tiers
    from ..encoders.bi_encoder import BiEncoder

WORTH_KEEPING = 2048  # names; fewer are encoded again in a second or two
# Names from which on vectors are rounded to 16 bits, also those that are used at once, so that an
# interrupted build gives the same assets. It halves 23 GB of 15 million names; the index of so many
# rounds them to 8 bits.
HALVED = 1_000_000
_CHUNK = 4096
_CHUNK_ON_GPU = 65_536  # large, since a GPU is idle while the last batch of a chunk is fetched
_CHUNK_OF_KNOWN = 32_768  # larger, so that the few new names of a chunk make a batch
_AHEAD = 2  # chunks under way on a GPU: it computes one while the next is cut into word pieces


class NameVectors:
    """Makes the vectors of the names of a knowledge base; none that is known is made again.

    known (Sequence[KnownVectors]): vectors of this encoder, asked in this order.
    store (Optional[VectorStore]): asked too, and keeps what is encoded; see `keeping`.
    """

    def __init__(
        self, encoder: "BiEncoder", kb: KnowledgeBase, known: Sequence[KnownVectors] = ()
    ) -> None:
        self.encoder, self.kb, self.known = encoder, kb, known
        self.store: VectorStore | None = None
        self.encoded = 0
        self.problem = ""  # why nothing more is kept

    def stream(self, progress: Progress) -> Iterator[Floats2d]:
        """Stream the vectors chunk by chunk."""
        n_names = self.kb.n_names
        counted = iter(progress(range(n_names), n_names, "encoding names"))
        for vectors in self.made(self.chunks()):
            yield vectors
            for _ in islice(counted, len(vectors)):
                pass
        next(counted, None)  # ends the iterator, so that the progress bar disappears

    def chunks(self) -> Iterator[list[str]]:
        """Divide all names, in the order of rows, into chunks of a size for the device."""
        on_cpu = self.encoder.device.type == "cpu"
        size = _CHUNK_ON_GPU if not on_cpu else _CHUNK_OF_KNOWN if self.known else _CHUNK
        texts = self.kb.iter_texts()
        while chunk := list(islice(texts, size)):
            yield chunk

    def made(self, chunks: Iterable[Sequence[str]]) -> Iterator[Floats2d]:
        """Find or make the vectors of each chunk, in order; on a GPU several chunks at a time."""
        on_cpu = self.encoder.device.type == "cpu"
        return map(self._of, chunks) if on_cpu else _ahead(self._of, chunks)

    def _of(self, texts: Sequence[str]) -> Floats2d:
        kept = [self.store.known] if self.store is not None else []
        vectors, missing = take_known([*self.known, *kept], texts, self.encoder.dim)
        if len(missing):
            vectors[missing] = self._encode([texts[at] for at in missing.tolist()])
        return vectors

    def _encode(self, texts: Sequence[str]) -> Floats2d:
        """Encode texts, equal strings only once, and keep the vectors."""
        place = {text: position for position, text in enumerate(dict.fromkeys(texts))}
        vectors = _encoded(self.encoder, list(place))
        self.encoded += len(texts)
        if self.store is not None:
            kept: NDArray[np.floating] = vectors.astype(
                np.float16 if self.kb.n_names >= HALVED else np.float32, copy=False
            )
            self._keep(self.store, list(place), kept)
            vectors = kept.astype(np.float32, copy=False)
        return vectors if len(place) == len(texts) else vectors[[place[text] for text in texts]]

    def _keep(
        self, store: VectorStore, texts: Sequence[str], vectors: NDArray[np.floating]
    ) -> None:
        if not self.problem:
            try:
                store.add(texts, vectors)
            except MedlinkError as error:  # the build itself may have enough room
                self.problem = str(error)


@contextmanager
def keeping(vectors: NameVectors | None, out: Path) -> Iterator[None]:
    """Keep the vectors of a build beside its output until it ends well; if it fails, say so.

    Does nothing where there are no vectors, or encoding again is fast.
    """
    if vectors is None or vectors.kb.n_names < WORTH_KEEPING:
        yield
        return
    store = vectors.store = store_beside(out, vectors.encoder)
    if count := store.count():
        tell(Warnings.vectors_found.format(out=out, count=count, place=store.place))
    try:
        yield
    except BaseException:
        _say_kept(out, store, vectors)
        raise
    store.remove()


def store_beside(out: Path, encoder: "BiEncoder") -> VectorStore:
    """Open the store beside assets that are to be built."""
    return VectorStore(out.with_name(f".{out.name}.vectors"), encoder.fingerprint(), encoder.dim)


def _say_kept(out: Path, store: VectorStore, vectors: NameVectors) -> None:
    """Report the vectors kept of an interrupted build, and how to continue."""
    fields = {"out": out, "place": store.place, "count": store.count()}
    message = Warnings.vectors_kept.format(**fields, names=vectors.kb.n_names)
    if vectors.problem:
        message = Warnings.vectors_not_kept.format(out=out, reason=vectors.problem)
    if vectors.problem or fields["count"]:
        with suppress(Warning):  # raise the error that stopped the build
            tell(message)


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


def _encoded(encoder: "BiEncoder", texts: Sequence[str]) -> Floats2d:
    return encoder.encode(texts)

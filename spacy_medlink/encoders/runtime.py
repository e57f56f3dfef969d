"""RuntimeEncoder: an encoder without torch: exported to ONNX Runtime, or without layers."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..types import Array, Floats2d, Ints1d
from ..util.held import Held
from ..util.locks import ForkSafeLock
from ..util.threads import side_by_side, threads
from .preparation import CLS, MEAN, POOLER, Preparation
from .static import StaticNetwork
from .tokens import batches_of, cut, read_json, read_tokenizer, rectangle, special_ids

ONNX = "onnx"
FILE = "model.onnx"
_PIECES = 512  # word pieces in a batch, padding included; batches run side by side

Session = Callable[[Mapping[str, Array]], Floats2d]
"""A network: `ids`, `mask` (int64) and `weights` (float32) of pieces, (n, length), to (n, dim)."""


class RuntimeEncoder:
    """Encodes with the same vectors as the `BiEncoder`; see `assets.export`.

    Safe to call from threads. Forked children open sessions of their own.

    export (Optional[Held]): its directory; None for a static encoder, which needs none.
    encoder (Held): what `BiEncoder.save` wrote: tokenizer and settings are read there.
    RAISES (MedlinkError): E206 an encoder or export that cannot be read. (ImportError): ONNX
        Runtime is not installed.
    """

    def __init__(self, export: Held | None, encoder: Held) -> None:
        self._export, self._encoder = export, encoder
        self._lock = ForkSafeLock()
        self._sessions: dict[int, Session] = {}  # by process; a parent's is never closed in a child
        try:
            settings = read_json(encoder.source, "medlink_encoder.json")
            self.tokenizer = read_tokenizer(encoder.source)
        except Exception as error:  # of tokenizers too
            raise Errors.encoder_damaged(path=encoder.path, reason=error) from error
        self.pooling, self.max_length = settings["pooling"], settings["max_length"]
        self.preparation = Preparation.of(settings)
        self._special: Ints1d = np.array(special_ids(self.tokenizer), dtype=np.int64)
        self.dim = self._run([[0, 0]]).shape[1]

    def encode(self, texts: Sequence[str]) -> Floats2d:
        """Encode strings: (n_texts, dim), float32, rows of length 1.

        RAISES (MedlinkError): E222 when ONNX Runtime fails.
        """
        pieces = cut(self.tokenizer, self.preparation, texts, self.max_length)
        vectors = np.empty((len(pieces), self.dim), dtype=np.float32)
        batches = batches_of(pieces, _PIECES)

        def run(rows: list[int]) -> None:
            vectors[rows] = self._run([pieces[row] for row in rows])

        side_by_side(run, batches, threads())
        return vectors

    def _run(self, pieces: Sequence[Sequence[int]]) -> Floats2d:
        width = max(map(len, pieces))
        table = rectangle(pieces, width, self.tokenizer.pad_token_id or 0)
        ids = np.ascontiguousarray(table[:, 1:])
        mask = np.arange(width) < table[:, :1]
        inputs: dict[str, Array] = {
            "ids": ids,
            "mask": mask.astype(np.int64),
            "weights": self._weights(ids, mask),
        }
        session = self._session()
        try:
            return session(inputs)
        except Exception as error:  # ONNX Runtime has no base class of its errors
            raise Errors.encoder_unfit(reason=str(error).partition("\n")[0]) from error

    def _weights(self, ids: NDArray[np.int64], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Compute the weights of pieces in the mean, as `pooling.pool` does: (n, length)."""
        words = mask
        if self.pooling in (CLS, POOLER):
            words = np.arange(ids.shape[1])[None] == np.zeros((len(ids), 1))
        elif self.pooling == MEAN:
            ordinary = mask & ~np.isin(ids, self._special)
            words = np.where(ordinary.any(axis=1, keepdims=True), ordinary, mask)
        return np.asarray(words, dtype=np.float32)

    def _session(self) -> Session:
        process = os.getpid()
        session = self._sessions.get(process)
        if session is None:
            with self._lock:
                session = self._sessions.get(process) or self._opened()
                self._sessions[process] = session
        return session

    def _opened(self) -> Session:
        try:
            if self._export is None:
                return StaticNetwork(self._encoder.source)
            return _open(self._export.source)
        except ImportError:
            raise
        except Exception as error:  # ONNX Runtime has no base class of its errors
            reason = str(error).strip().partition("\n")[0]
            path = (self._export or self._encoder).path
            raise Errors.encoder_damaged(path=path, reason=reason) from error


def _open(directory: Path) -> Session:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Batches run side by side in threads of ours: a pool of its own would not survive a fork.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    options.enable_cpu_mem_arena = False  # which would keep the room of the largest batch
    session = onnxruntime.InferenceSession(directory / FILE, options, ["CPUExecutionProvider"])
    return lambda inputs: session.run(None, dict(inputs))[0]

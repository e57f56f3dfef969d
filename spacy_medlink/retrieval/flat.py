"""FlatVectors: compares every query with all vectors on a device; exact, like a Flat index.

A score and its row become one number, so that the order of answers is complete: the higher score
first, then the lower row. The processor finds the same rows.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import torch

from ..types import Floats2d, Hits
from ..util.devices import fetched, gathered, is_out_of_memory, sent
from .mask import Mask

# Vectors of a block, a multiple of 8. The last block is padded, because equal vectors get equal
# scores only in products of one shape.
_BLOCK = 65_536
_QUERIES = 512  # compared at once; fewer where the memory is too small
_NOTHING = torch.iinfo(torch.int64).min
_LOW = 0xFFFFFFFF
_SIGN = 0x7FFFFFFF


class FlatVectors:
    """The vectors of all names on a device.

    blocks (Iterable[Floats2d]): vectors in the order of rows. n_names, dim (int): of all blocks.
    block (int): vectors to compare at once.
    RAISES (RuntimeError): when the device has no memory for them.
    """

    def __init__(
        self,
        blocks: Iterable[Floats2d],
        n_names: int,
        dim: int,
        device: torch.device,
        block: int = _BLOCK,
    ) -> None:
        self._block, self._names = min(block, max(8, -(-n_names // 8) * 8)), n_names
        rows = -(-n_names // self._block) * self._block
        self._vectors = gathered(blocks, rows, dim, device)

    @property
    def device(self) -> torch.device:
        """The device of the vectors."""
        return self._vectors.device

    def search(self, queries: Floats2d, k: int, mask: Mask | None = None) -> Hits:
        """Find the k names nearest to each query.

        queries (Floats2d): (n, dim). mask (Optional[Mask]): the names that may be answers.
        RETURNS (Hits): (n, k), inner product, best first, ties by row; padded with -1 and -inf.
        """
        with torch.inference_mode():
            allowed = None if mask is None else sent(mask.bits.copy(), self.device)
            parts = list(self._parts(sent(queries, self.device), k, allowed))
            keys = torch.cat(parts) if parts else self._vectors.new_empty((0, k), dtype=torch.int64)
            return _hits(fetched(keys))

    def _parts(
        self, queries: torch.Tensor, k: int, allowed: torch.Tensor | None
    ) -> Iterator[torch.Tensor]:
        """Search for a part of the queries at a time; halve the part if memory runs out."""
        start, size = 0, _QUERIES
        while start < len(queries):
            try:
                best = self._search(queries[start : start + size], k, allowed)
            except RuntimeError as error:
                if size == 1 or not is_out_of_memory(error):
                    raise
                size //= 2
                continue
            yield best
            start += size

    def _search(self, queries: torch.Tensor, k: int, allowed: torch.Tensor | None) -> torch.Tensor:
        """Find the keys of the k best, (n, k)."""
        best = torch.full((len(queries), k), _NOTHING, dtype=torch.int64, device=queries.device)
        for start in range(0, len(self._vectors), self._block):
            block = self._vectors[start : start + self._block]
            keys = _keys(queries @ block.T, start)
            keys.masked_fill_(~self._permitted(start, allowed), _NOTHING)
            best_of_block = keys.topk(min(k, self._block), dim=1, sorted=False).values
            best = torch.cat([best, best_of_block], dim=1).topk(k, dim=1).values
        return best

    def _permitted(self, start: int, allowed: torch.Tensor | None) -> torch.Tensor:
        """Tell which rows of a block may be answers: names that pass the mask."""
        rows = torch.arange(self._block, device=self._vectors.device)
        is_name = rows + start < self._names
        if allowed is None:
            return is_name
        block = allowed[start // 8 : (start + self._block) // 8]
        block = torch.nn.functional.pad(block, (0, self._block // 8 - len(block)))
        bits = block[:, None] >> torch.arange(8, dtype=torch.uint8, device=block.device)
        return is_name & (bits & 1).bool().flatten()


def _keys(scores: torch.Tensor, start: int) -> torch.Tensor:
    """Make one number of each score and row; it rises with the score and falls with the row."""
    bits = (scores + 0.0).contiguous().view(torch.int32)  # -0.0 + 0.0 is 0.0
    # Bits of positive floats are ordered like integers; those of negative ones in reverse.
    ordered = bits ^ ((bits >> 31) & _SIGN)
    rows = torch.arange(start, start + scores.shape[1], device=scores.device)
    return (ordered.long() << 32) + (_LOW - rows)


def _hits(keys: np.ndarray) -> Hits:
    """Read rows and scores from keys."""
    ordered = (keys >> 32).astype(np.int32)
    bits = ordered ^ ((ordered >> 31) & np.int32(_SIGN))
    missing = keys == _NOTHING
    rows = np.where(missing, -1, _LOW - (keys & _LOW))
    return Hits(rows, np.where(missing, np.float32(-np.inf), bits.view(np.float32)))

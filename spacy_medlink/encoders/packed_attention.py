"""Attention of packed texts: of a word piece to its own text, and to its mention.

The two are computed separately, each without padding, and joined by the sums of their weights. This
is exact (Milakov & Gimelshein 2018, "Online normalizer calculation for softmax", section 3.1). A
mention is then the same matrix for all pieces of all its candidates.
"""

from collections.abc import Iterable, Sequence
from math import e, log, log2
from typing import Any, NamedTuple

import torch

# Fewer rows than this are multiplied in another way, which rounds differently: beside others a
# piece would not be what it is alone.
_LEAST = 8


class Run(NamedTuple):
    """Consecutive texts of the same length: the number of texts, and of word pieces of each."""

    texts: int
    length: int


class Readers(NamedTuple):
    """A mention, and the candidates that attend to it.

    start, stop (int): its packed pieces. begin, end (int): the pieces of its candidates, in the
        order of mentions.
    """

    start: int
    stop: int
    begin: int
    end: int


class Read(NamedTuple):
    """The attention of n word pieces to one text.

    values (Tensor): (n, heads, width). level (Tensor): binary logarithm of the sum of the weights,
        float32, (n, heads).
    """

    values: torch.Tensor
    level: torch.Tensor


def project(attention: Any, hidden: torch.Tensor) -> torch.Tensor:
    """Compute queries, keys and values by one product: (n, 3, heads, width).

    Queries are scaled so that weights are powers of 2, which are computed three times as fast as
    those of e.
    """
    width = int(attention.attention_head_size)
    scale = width**-0.5 * log2(e)
    query, key, value = attention.query, attention.key, attention.value
    weight = torch.cat([query.weight * scale, key.weight, value.weight])
    bias = torch.cat([query.bias * scale, key.bias, value.bias])
    whole: torch.Tensor = torch.nn.functional.linear(hidden, weight, bias)
    return whole.view(len(hidden), 3, -1, width)


def read_own(projected: torch.Tensor, runs: Iterable[Run]) -> Read:
    """Let texts, which lie end to end, read themselves."""
    _, _, heads, width = projected.shape
    found, start = [], 0
    for texts, length in runs:
        end = start + texts * length
        own = projected[start:end].view(texts, length, 3, heads, width).permute(2, 0, 3, 1, 4)
        whole = _as(torch.float32, own).reshape(3, texts * heads, length, width)
        values, level = _read(whole[0], whole[1], whole[2])
        turned = values.view(texts, heads, length, width).transpose(1, 2)
        levels = level.view(texts, heads, length).transpose(1, 2)
        found.append((
            _as(projected.dtype, turned).reshape(-1, heads, width), levels.reshape(-1, heads)
        ))  # fmt: skip
        start = end
    return Read(*map(torch.cat, zip(*found, strict=True)))


def read_mentions(projected: torch.Tensor, readers: Sequence[Readers], order: torch.Tensor) -> Read:
    """Let the pieces of candidates, which lie first, read their mentions.

    order (Tensor): these pieces, by mention, (n,).
    """
    queries = projected[:, 0].index_select(0, order).float()
    queries = torch.nn.functional.pad(queries, (0, 0, 0, 0, 0, _LEAST))
    found = []
    for start, stop, begin, end in readers:
        _, keys, values = projected[start:stop].float().permute(1, 2, 0, 3)
        asked = queries[begin : max(end, begin + _LEAST)].transpose(0, 1)
        mixed, level = (part.transpose(0, 1) for part in _read(asked, keys, values))
        found.append((_as(projected.dtype, mixed[: end - begin]), level[: end - begin]))
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order), device=order.device)
    return Read(*(torch.cat(parts).index_select(0, back) for parts in zip(*found, strict=True)))


def together(one: Read, other: Read) -> torch.Tensor:
    """Join the attention of pieces to two texts, as if to one text: (n, heads, width)."""
    # The share of one in the sum of the weights: 2^a / (2^a + 2^b).
    share = torch.sigmoid((one.level - other.level) * log(2)).type(one.values.dtype)
    return torch.lerp(other.values, one.values, share[..., None])


def _read(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Read m texts' keys and values, (m, n_keys, width) each, by queries, (m, n, width).

    RETURNS (Tuple[Tensor, Tensor]): weighted mean, (m, n, width), and level, (m, n).
    """
    scores = torch.bmm(queries, keys.transpose(1, 2))
    # The subtracted maximum cancels out, so it needs no gradient.
    most = scores.detach().amax(-1)
    weights = scores.sub_(most[..., None]).exp2_()
    total = weights.sum(-1)
    return torch.bmm(weights, values) / total[..., None], most + total.log2()


def _as(dtype: torch.dtype, turned: torch.Tensor) -> torch.Tensor:
    """Lay out and convert at once."""
    return torch.empty_like(turned, dtype=dtype, memory_format=torch.contiguous_format).copy_(
        turned
    )

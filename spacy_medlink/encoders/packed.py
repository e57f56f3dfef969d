"""Packed reading: the pieces of many texts laid end to end, none of them padding.

Everything in a transformer's layer but attention works on each word piece by itself, so that texts
need no rectangle there. Attention is computed for texts of the same length, rounded up, together.

Here candidates read the mention, and the mention does not read them: it is then the same for all of
its candidates, and runs once. In re-ranking, "query tokens do not need to attend to the passage"
(Schlatt et al. 2024, "Investigating the Effects of Sparse Attention on Cross-Encoders", section 5).
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .pairs import Pieces

# Lengths are rounded up to these: a text is computed with as much padding in any company.
_STEP, _STEP_BEFORE = 8, 16

Positions = NDArray[np.int64]


class Group(NamedTuple):
    """Texts whose attention is computed together.

    queries (Tensor): their packed pieces, (n, longest). keys (Tensor): the pieces that these read,
        (n, most). bias (Tensor): 0, or -inf where a key is padding, (n, 1, 1, most).
    """

    queries: torch.Tensor
    keys: torch.Tensor
    bias: torch.Tensor


class Plan(NamedTuple):
    """Who reads what in a layer.

    first (int): the first packed piece that reads. groups (List[Group]): of all that read; queries
        count from `first`. order (Tensor): where in the groups, laid end to end, each piece is.
    """

    first: int
    groups: list[Group]
    order: torch.Tensor


class Packing(NamedTuple):
    """Mentions, each once, then candidates, laid end to end.

    ids, types, positions (Tensor): of the word pieces, (n_pieces,).
    every, last (Plan): for all layers but the last; there the candidates alone go on.
    text (Tensor): number of the candidate of each of its pieces, (n_pieces - last.first,).
    """

    ids: torch.Tensor
    types: torch.Tensor
    positions: torch.Tensor
    every: Plan
    last: Plan
    text: torch.Tensor


def can_pack(transformer: Any) -> bool:
    """Tell whether a transformer has the layers that BERT has."""
    layers = getattr(getattr(transformer, "encoder", None), "layer", ())
    kind = getattr(transformer.config, "position_embedding_type", "absolute")
    return (
        len(layers) > 0
        and kind == "absolute"
        and not hasattr(transformer, "embeddings_project")
        and all(
            hasattr(layer, "intermediate") and hasattr(getattr(layer.attention, "self", None), name)
            for layer in layers for name in ("query", "key", "value")
        )
    )  # fmt: skip


def shared(pieces: Sequence[Pieces], batch_pieces: int) -> Iterator[list[int]]:
    """Group pairs so that those of a mention are together.

    RETURNS (Iterator[List[int]]): places of the pairs of a batch of about `batch_pieces`.
    """
    of_head: dict[tuple[int, ...], list[int]] = {}
    for place, one in enumerate(pieces):
        of_head.setdefault(tuple(one.ids[: one.second]), []).append(place)
    batch: list[int] = []
    size = 0
    for head, places in of_head.items():
        size += len(head)
        for place in places:
            length = len(pieces[place].ids) - len(head)
            if batch and size + length > batch_pieces:
                yield batch
                batch, size = [], len(head)
            batch.append(place)
            size += length
    if batch:
        yield batch


def pack(pieces: Sequence[Pieces], device: torch.device) -> Packing:
    """Lay pairs end to end; mentions that are the same in every piece are laid once."""
    heads: dict[tuple[int, ...], int] = {}
    owners = [heads.setdefault(tuple(one.ids[: one.second]), len(heads)) for one in pieces]
    texts: list[Sequence[int]] = [*heads, *(one.ids[one.second :] for one in pieces)]
    lengths = np.fromiter(map(len, texts), dtype=np.int64)
    starts = np.fromiter(accumulate(lengths.tolist(), initial=0), dtype=np.int64)
    n_heads = len(heads)
    before = np.concatenate([np.full(n_heads, -1), np.asarray(owners, dtype=np.int64)])
    own = np.repeat(np.arange(len(texts)), lengths)
    offsets = np.where(before >= 0, lengths[before], 0)
    positions = np.arange(starts[-1]) - starts[own] + offsets[own]
    first = int(starts[n_heads])

    def tensor(values: Any) -> torch.Tensor:
        return torch.from_numpy(np.asarray(values)).to(device)

    return Packing(
        tensor(np.fromiter((piece for text in texts for piece in text), dtype=np.int64)),
        tensor((own >= n_heads).astype(np.int64)),
        tensor(positions),
        _plan(starts, lengths, before, 0, device),
        _plan(starts, lengths, before, n_heads, device),
        tensor(own[first:] - n_heads),
    )


def read(
    transformer: Any, packing: Packing, special: torch.Tensor, has_types: bool
) -> torch.Tensor:
    """Run packed pairs through a transformer, and average each candidate's pieces.

    special (Tensor): ids of special tokens, which stay out of the mean.
    RETURNS (Tensor): (n_pairs, dim), float32, rows of length 1.
    """
    hidden = _embed(transformer, packing, has_types)
    layers = transformer.encoder.layer
    for number, layer in enumerate(layers, 1):
        hidden = _run(layer, hidden, packing.last if number == len(layers) else packing.every)
    return _mean(hidden.float(), packing, special)


def _plan(
    starts: Positions, lengths: Positions, before: Positions, first: int, device: torch.device
) -> Plan:
    """Plan the attention of the texts from number `first` on."""
    begin = int(starts[first])
    rounded = -(-lengths // _STEP) * _STEP
    rounded_before = np.where(before >= 0, -(-lengths[before] // _STEP_BEFORE) * _STEP_BEFORE, 0)
    kinds: dict[tuple[int, int], list[int]] = {}
    for text in range(first, len(lengths)):
        kinds.setdefault((int(rounded[text]), int(rounded_before[text])), []).append(text)
    groups, order, laid = [], np.zeros(int(starts[-1]) - begin, dtype=np.int64), 0
    for (width, width_before), members in sorted(kinds.items()):
        texts = np.asarray(members)
        queries, padding = _rectangle(starts[texts], lengths[texts], width)
        keys, keys_padding = queries, padding
        if width_before:
            heads = before[texts]
            more, more_padding = _rectangle(starts[heads], lengths[heads], width_before)
            keys, keys_padding = np.hstack([more, keys]), np.hstack([more_padding, keys_padding])
        bias = np.where(keys_padding, -np.inf, 0).astype(np.float32)[:, None, None, :]
        order[(queries - begin)[~padding]] = laid + np.flatnonzero(~padding.ravel())
        laid += queries.size
        own = np.where(padding, 0, queries - begin)
        arrays = (torch.from_numpy(array).to(device) for array in (own, keys, bias))
        groups.append(Group(*arrays))
    return Plan(begin, groups, torch.from_numpy(order).to(device))


def _rectangle(
    starts: Positions, lengths: Positions, width: int
) -> tuple[Positions, NDArray[np.bool_]]:
    """List the pieces of texts: (n, width), and which places are padding, with piece 0 in them."""
    place = np.arange(width)
    padding = place >= lengths[:, None]
    return np.where(padding, 0, starts[:, None] + place), padding


def _embed(transformer: Any, packing: Packing, has_types: bool) -> torch.Tensor:
    embeddings = transformer.embeddings
    # RoBERTa counts positions from behind the padding piece.
    is_roberta = hasattr(embeddings, "create_position_ids_from_inputs_embeds")
    positions = packing.positions + (int(embeddings.padding_idx) + 1 if is_roberta else 0)
    types = packing.types if has_types else torch.zeros_like(packing.types)
    embedded: torch.Tensor = embeddings(
        input_ids=packing.ids[None], token_type_ids=types[None], position_ids=positions[None]
    )[0]
    return embedded


def _run(layer: Any, hidden: torch.Tensor, plan: Plan) -> torch.Tensor:
    """Run a layer; what does not read in the plan ends here."""
    own = layer.attention.self
    reading = hidden[plan.first :]
    width = int(own.attention_head_size)
    queries = own.query(reading) * width**-0.5
    keys, values = own.key(hidden), own.value(hidden)
    parts = [_attend(queries, keys, values, group, width) for group in plan.groups]
    attended = layer.attention.output(torch.cat(parts).index_select(0, plan.order), reading)
    done: torch.Tensor = layer.output(layer.intermediate(attended), attended)
    return done


def _attend(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, group: Group, width: int
) -> torch.Tensor:
    """Compute what the pieces of a group read: (n x longest, dim)."""
    texts = len(group.queries)
    q, k, v = (
        whole.index_select(0, places.reshape(-1)).view(texts, places.shape[1], -1, width)
        for whole, places in (
            (queries, group.queries), (keys, group.keys), (values, group.keys),
        )
    )  # fmt: skip
    scores = q.transpose(1, 2) @ k.permute(0, 2, 3, 1) + group.bias.to(q.dtype)
    read_: torch.Tensor = (scores.softmax(-1).to(v.dtype) @ v.transpose(1, 2)).transpose(1, 2)
    return read_.reshape(group.queries.numel(), -1)


def _mean(hidden: torch.Tensor, packing: Packing, special: torch.Tensor) -> torch.Tensor:
    text, pairs = packing.text, int(packing.text[-1]) + 1
    words = ~torch.isin(packing.ids[packing.last.first :], special)
    empty = torch.zeros(pairs, device=text.device).index_add(0, text, words.float()) == 0
    weights = (words | empty[text]).float()
    sums = hidden.new_zeros(pairs, hidden.shape[1]).index_add(0, text, hidden * weights[:, None])
    return torch.nn.functional.normalize(sums, dim=1)

"""Packed reading: the word pieces of many texts end to end, without padding.

All parts of a transformer's layer but attention work on single word pieces, so texts need no
padding to equal length there.

Here candidates attend to the mention, but the mention does not attend to them. The mention is then
the same for all its candidates, and runs once. In re-ranking, "query tokens do not need to attend
to the passage" (Schlatt et al. 2024, "Investigating the Effects of Sparse Attention on
Cross-Encoders", section 5).
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ..util.devices import sent
from .packed_attention import Readers, Run, project, read_mentions, read_own, together
from .pairs import Pieces

# Rows that a processor computes together, and what their number is rounded up to: what is computed
# between two layers stays in its cache, and a product of a shape that was seen before needs no
# preparation, which takes half a millisecond where numbers are bf16.
_ROWS, _STEP = 512, 32
_RUN = 1024  # pieces of texts of the same length that read themselves together

Integers = NDArray[np.int64]


class Packing(NamedTuple):
    """Candidates, then mentions, each once, laid end to end; the shortest of either first.

    ids, types, positions (Tensor): of different word pieces, (n_different,): in the first layer
        pieces that are the same at the same place are computed once.
    pieces (Tensor): which of these each piece is, (n_pieces,), and whatever behind that.
    reading (int): pieces of candidates. candidates, mentions (List[Run]): how long they are.
    readers (List[Readers]): of each mention. order (Tensor): candidates' pieces by mention,
        (reading,).
    pairs (Tensor): place of the pair of each candidate's piece, (reading,). n_pairs (int): all.
    """

    ids: torch.Tensor
    types: torch.Tensor
    positions: torch.Tensor
    pieces: torch.Tensor
    reading: int
    candidates: list[Run]
    mentions: list[Run]
    readers: list[Readers]
    order: torch.Tensor
    pairs: torch.Tensor
    n_pairs: int


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
    """Lay pairs end to end; mentions with the same word pieces are laid once."""
    heads: dict[tuple[int, ...], int] = {}
    mention_of = _integers(
        heads.setdefault(tuple(one.ids[: one.second]), len(heads)) for one in pieces
    )
    tails = [one.ids[one.second :] for one in pieces]
    by_length, pairs = (
        np.argsort(_integers(map(len, texts)), kind="stable") for texts in (list(heads), tails)
    )
    place = np.argsort(by_length)  # of each mention among the mentions
    own = list(heads)
    texts = [*(tails[pair] for pair in pairs), *(own[head] for head in by_length)]
    return _lay(texts, place[mention_of[pairs]], pairs, device)


def _lay(
    texts: Sequence[Sequence[int]], mention_of: Integers, pairs: Integers, device: torch.device
) -> Packing:
    """Lay texts as they come: a candidate for each of `mention_of`, then the mentions."""
    count, lengths = len(mention_of), _integers(map(len, texts))
    starts, of = np.cumsum([0, *lengths]), np.repeat(np.arange(len(texts)), lengths)
    reading, before = int(starts[count]), np.zeros(len(texts), dtype=np.int64)
    before[:count] = lengths[count:][mention_of]
    ids = _integers(piece for text in texts for piece in text)
    positions, types = np.arange(len(ids)) - (starts[:-1] - before)[of], of < count
    code = (ids * (int(positions.max()) + 1) + positions) * 2 + types
    _, different, which = np.unique(code, return_index=True, return_inverse=True)
    asked = mention_of[of[:reading]]
    ends = np.cumsum([0, *np.bincount(asked, minlength=len(texts) - count)])
    bounds = zip(starts[count:].tolist(), ends.tolist(), strict=True)

    def tensor(values: NDArray[Any]) -> torch.Tensor:
        return sent(values.astype(np.int64), device)

    different = np.pad(different, (0, -len(different) % _STEP))
    return Packing(
        tensor(ids[different]), tensor(types[different]), tensor(positions[different]),
        tensor(np.pad(which, (0, -len(which) % _STEP))),
        reading, _runs(lengths[:count]), _runs(lengths[count:]),
        [Readers(a[0], b[0], a[1], b[1]) for a, b in pairwise(bounds)],
        tensor(np.argsort(asked, kind="stable")), tensor(pairs[of[:reading]]), count,
    )  # fmt: skip


def _runs(lengths: Integers) -> list[Run]:
    """Divide texts, the shortest first, into those of the same length."""
    found = []
    for length, texts in zip(*np.unique(lengths[lengths > 0], return_counts=True), strict=True):
        most = max(1, _RUN // int(length))
        found += [
            Run(min(most, int(texts) - start), int(length))
            for start in range(0, int(texts), most)
        ]  # fmt: skip
    return found


def _integers(values: Any) -> Integers:
    return np.fromiter(values, dtype=np.int64)


def read(
    transformer: Any, packing: Packing, special: torch.Tensor, has_types: bool, last: bool = False
) -> torch.Tensor:
    """Run packed pairs through a transformer, and average each candidate's pieces, or take one.

    special (Tensor): ids of special tokens, which stay out of the mean. last (bool): take the piece
        that closes the candidate instead; the last layer then runs for that one alone.
    RETURNS (Tensor): (n_pairs, dim), float32, rows of length 1.
    """
    hidden = _embed(transformer, packing, has_types)
    layers = transformer.encoder.layer
    for number, layer in enumerate(layers):
        projected = project(layer.attention.self, hidden)
        if number == 0:
            hidden, projected = (x.index_select(0, packing.pieces) for x in (hidden, projected))
        is_last = number == len(layers) - 1
        attended = _attend(projected, packing, is_last)
        if is_last:  # what counts goes on alone
            counted = _closing(packing) if last else _counted(packing, special)
            rows = torch.nn.functional.pad(counted, (0, -len(counted) % _STEP))
            attended, hidden = (x.index_select(0, rows) for x in (attended, hidden))
        hidden = _finish(layer, attended, hidden)
    sums = hidden.new_zeros(packing.n_pairs, hidden.shape[1], dtype=torch.float32)
    done = hidden[: len(counted)].float()
    return torch.nn.functional.normalize(sums.index_add(0, packing.pairs[counted], done), dim=1)


def _attend(projected: torch.Tensor, packing: Packing, is_last: bool) -> torch.Tensor:
    """Compute what pieces read: (n, dim), padded."""
    candidates = projected[: packing.reading]
    found = [
        together(
            read_own(candidates, packing.candidates),
            read_mentions(projected, packing.readers, packing.order),
        )
    ]
    if not is_last:
        found.append(read_own(projected[packing.reading :], packing.mentions).values)
    padding = -sum(map(len, found)) % _STEP
    return torch.cat([*found, found[0].new_zeros(padding, *found[0].shape[1:])]).flatten(1)


def _finish(layer: Any, attended: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
    """Compute what of a layer comes after attention; on a processor some rows at a time."""
    rows = _ROWS if hidden.device.type == "cpu" else len(hidden)
    done = []
    for start in range(0, len(hidden), rows):
        part = slice(start, start + rows)
        mixed = layer.attention.output(attended[part], hidden[part])
        done.append(layer.output(layer.intermediate(mixed), mixed))
    return torch.cat(done)


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


def _closing(packing: Packing) -> torch.Tensor:
    """List the last piece of each candidate."""
    ends = packing.pairs[1:] != packing.pairs[:-1]
    return torch.nonzero(torch.nn.functional.pad(ends, (0, 1), value=True)).squeeze(1)


def _counted(packing: Packing, special: torch.Tensor) -> torch.Tensor:
    """List the candidates' pieces that are averaged: the words, or all where there is none."""
    words = ~torch.isin(packing.ids, special)[packing.pieces[: packing.reading]]
    empty = torch.zeros(packing.n_pairs, device=words.device)
    empty = empty.index_add(0, packing.pairs, words.float()) == 0
    return torch.nonzero(words | empty[packing.pairs]).squeeze(1)

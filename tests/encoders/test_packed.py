"""Packed reading is what a transformer computes whose mentions do not read the candidates."""

from itertools import pairwise

import pytest
import torch
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel, XLMRobertaConfig
from transformers import XLMRobertaModel as XlmRoberta

from spacy_medlink.encoders.packed import can_pack, pack, read, shared
from spacy_medlink.encoders.pairs import Pieces

SIZES = {
    "vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 32,
}  # fmt: skip
SPECIAL = torch.tensor([0, 2, 3])
# Two mentions of three and of eighteen pieces, candidates of one to nine.
HEADS = ([2, 7, 3], [2, *range(4, 20), 3])
PIECES = [
    Pieces([*head, *range(20, 20 + length), 3], len(head))
    for head in HEADS for length in (1, 3, 8, 0, 2)
]  # fmt: skip


def transformer(kind):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if kind == "bert":
            config = BertConfig(**SIZES, attn_implementation="eager")
            return BertModel(config, add_pooling_layer=False).eval()
        config = XLMRobertaConfig(
            **SIZES, type_vocab_size=1, pad_token_id=1, attn_implementation="eager"
        )
        return XlmRoberta(config, add_pooling_layer=False).eval()


def by_mask(model, one, has_types, last=False):
    """The same with the whole pair in a rectangle, and what may not be read masked out."""
    length = len(one.ids)
    mask = torch.ones(1, length, length)
    mask[0, : one.second, one.second :] = 0
    types = torch.zeros(1, length, dtype=torch.long)
    types[0, one.second :] = int(has_types)
    hidden = model(
        input_ids=torch.tensor([one.ids]), attention_mask=mask, token_type_ids=types
    ).last_hidden_state[0, one.second :]
    if last:
        return torch.nn.functional.normalize(hidden[-1], dim=0)
    words = ~torch.isin(torch.tensor(one.ids[one.second :]), SPECIAL)
    return torch.nn.functional.normalize(hidden[words if words.any() else ~words].sum(0), dim=0)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("kind", "has_types"), [("bert", True), ("roberta", False)])
def test_it_is_attention_with_a_mask(kind, has_types, last):
    model = transformer(kind)
    with torch.inference_mode():
        found = read(model, pack(PIECES, torch.device("cpu")), SPECIAL, has_types, last)
        want = torch.stack([by_mask(model, one, has_types, last) for one in PIECES])
    torch.testing.assert_close(found, want, atol=1e-6, rtol=0)
    assert (found[:5] - found[5:]).abs().max() > 0.01, "the mention was not read"


def test_many_texts_of_a_length_and_many_rows_are_what_each_is_alone():
    heads = ([2, 4, 5, 3], [2, 6, 7, 8, 9, 3], [2, 9, 3])
    numbers = torch.Generator().manual_seed(0)
    many = [
        Pieces([*heads[place % 2], *torch.randint(20, 40, (4 + place % 3,), generator=numbers), 3],
               len(heads[place % 2]))
        for place in range(720)
    ]  # fmt: skip
    many.append(Pieces([*heads[2], 21, 3], 3))  # a mention that few pieces read
    model, cpu = transformer("bert"), torch.device("cpu")
    packing = pack(many, cpu)
    assert any(one.length == two.length for one, two in pairwise(packing.candidates))
    with torch.inference_mode():
        found = read(model, packing, SPECIAL, True)
        for place in (0, 1, 2, 357, 719, 720):
            one = many[place]
            torch.testing.assert_close(found[place], by_mask(model, one, True), atol=1e-6, rtol=0)
            alone = read(model, pack([one], cpu), SPECIAL, True)[0]
            torch.testing.assert_close(found[place], alone, atol=1e-6, rtol=0)


def test_pieces_that_are_the_same_are_embedded_once():
    one, four = (pack(PIECES * count, torch.device("cpu")) for count in (1, 4))
    assert torch.equal(one.ids, four.ids) and four.reading == 4 * one.reading
    laid = four.pieces[: four.reading + 3 + 18]
    assert four.types[laid].sum() == four.reading
    # The mentions come last, the shorter one first, and count from 0.
    assert four.ids[laid][-21:].tolist() == [*HEADS[0], *HEADS[1]]
    assert four.positions[laid][-21:].tolist() == [*range(3), *range(18)]


def test_gradients_are_those_of_attention_with_a_mask():
    packed, masked = transformer("bert"), transformer("bert")
    read(packed, pack(PIECES, torch.device("cpu")), SPECIAL, True)[:, 0].sum().backward()
    torch.stack([by_mask(masked, one, True) for one in PIECES])[:, 0].sum().backward()
    pairs = zip(packed.named_parameters(), masked.named_parameters(), strict=True)
    for (name, own), (_, other) in pairs:
        torch.testing.assert_close(own.grad, other.grad, atol=1e-6, rtol=1e-4, msg=name)


def test_a_mention_is_laid_once():
    packing = pack(PIECES, torch.device("cpu"))
    assert packing.reading == 2 * (2 + 4 + 9 + 1 + 3)
    assert sum(run.texts * run.length for run in packing.mentions) == 3 + 18


@pytest.mark.parametrize("batch_pieces", [1, 10, 25, 1000])
def test_batches_hold_every_pair_once_and_mentions_together(batch_pieces):
    mixed = [*PIECES[::2], *PIECES[1::2]]
    batches = list(shared(mixed, batch_pieces))
    assert sorted(place for batch in batches for place in batch) == list(range(len(mixed)))
    heads = [mixed[place].ids[: mixed[place].second] for batch in batches for place in batch]
    assert sum(a != b for a, b in pairwise(heads)) == 1
    assert len(batches) == {1: 10, 1000: 1}.get(batch_pieces, len(batches))


def test_what_has_other_layers_is_not_packed():
    assert can_pack(transformer("bert"))
    config = DistilBertConfig(vocab_size=40, dim=16, n_layers=1, n_heads=2, hidden_dim=32)
    assert not can_pack(DistilBertModel(config))
    relative = BertConfig(**SIZES, position_embedding_type="relative_key")
    assert not can_pack(BertModel(relative))

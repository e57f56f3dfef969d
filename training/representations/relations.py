"""Classification of the relation between two terms, by a linear layer over both vectors.

The protocol of CODER (Yuan et al., 2022, section 4.4, the Diseases Database):
softmax(W [e_head, e_tail] + b), with the encoder frozen ("feature-based") or tuned along. Vectors
have any length. What the paper leaves open is as in the authors' code: batches, rates, the warm-up
of a tenth, and no weight decay.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import get_linear_schedule_with_warmup

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.directory import config_of
from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Floats2d, Ints1d
from spacy_medlink.util.devices import fetched, moved, sent

from ..corpora.tables import read_table
from ..corpora.tally import Tally

_COLUMNS = {
    "head": ("head", "head_cui", "cui1", "subject"),
    "tail": ("tail", "tail_cui", "cui2", "object"),
    "relation": ("relation", "rel", "label", "predicate"),
}
TEST_PART = 0.2  # CODER, section 4.4: 4 to 1, at random
_FEWEST = 5


class Triplet(NamedTuple):
    """Head and tail as terms, and the kind of relation."""

    head: str
    tail: str
    relation: str


def read_triplets(
    path: Path, tally: Tally, kb: KnowledgeBase | None = None, seed: int = 0
) -> list[Triplet]:
    """Read a table of triplets whose first line names the columns.

    kb (Optional[KnowledgeBase]): heads and tails are ids of its concepts, retired ones among them,
        and stand for one of their names, drawn at random once for all triplets; rows with others
        are left out and counted. seed (int): of the draw.
    RAISES (MedlinkError): E165 a column is missing, E530 hardly any triplet came out.
    """
    triplets, term = [], cache(lambda cell: _term(cell, kb, seed))
    for line, cells in read_table(path, tally, _COLUMNS):
        head, tail = term(cells["head"]), term(cells["tail"])
        if head and tail and cells["relation"]:
            triplets.append(Triplet(head, tail, cells["relation"]))
        elif kb is not None and all(cells[name] for name in _COLUMNS):
            tally.drop("triplets with an id that the knowledge base lacks")
        else:
            tally.fault("triplets without head, tail and relation", path, line)
    if len(triplets) < _FEWEST:
        raise Errors.too_few_rows(path=path, found=len(triplets), wanted=_FEWEST, what="triplets")
    return triplets


def divide(triplets: list[Triplet], seed: int) -> tuple[list[Triplet], list[Triplet]]:
    """Divide triplets at random into four parts to train on and one to test on."""
    order = np.random.default_rng(seed).permutation(len(triplets))
    cut = max(1, round(TEST_PART * len(triplets)))
    test, train = order[:cut].tolist(), order[cut:].tolist()
    return [triplets[row] for row in train], [triplets[row] for row in test]


def _term(cell: str, kb: KnowledgeBase | None, seed: int) -> str:
    if kb is None:
        return cell
    id = kb.resolve(cell)
    if id is None:
        return ""
    concept = kb[id]
    drawn = np.random.default_rng((seed, concept.first_name)).integers(len(concept.names))
    return concept.names[int(drawn)].text


@dataclass(frozen=True)
class HeadSettings:
    """How the linear layer is trained.

    tune (bool): the encoder learns along. epochs (int): over triplets. batch, learning_rate: with
        a frozen encoder, tuned_batch, tuned_rate: where both learn. warmup (float): the part of
        the steps in which the rate rises; then it falls to 0. seed (int): of the order, and of the
        layer's first weights.
    """

    tune: bool = False
    epochs: int = 50
    batch: int = 512
    learning_rate: float = 1e-3
    tuned_batch: int = 96
    tuned_rate: float = 2e-5
    warmup: float = 0.1
    seed: int = 0


def classify(
    encoder: BiEncoder, train: Sequence[Triplet], test: Sequence[Triplet], settings: HeadSettings
) -> NDArray[np.bool_]:
    """Train on some triplets and test on others.

    encoder (BiEncoder): changed where it is tuned.
    RETURNS (NDArray[bool]): whether each of test is right, (n_test,).
    """
    relations = sorted({triplet.relation for triplet in (*train, *test)})
    size = config_of(encoder.module).hidden_size  # vectors are taken before a projection
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)  # of the layer's first weights, and of dropout
        head = moved(torch.nn.Linear(2 * size, len(relations)), encoder.device)
        _learn(encoder, head, train, _labels(train, relations), settings)
    with torch.inference_mode():
        features = sent(_features(encoder, test, settings.batch), encoder.device)
        given = head(features).argmax(dim=1).cpu().numpy()
    return np.asarray(given == _labels(test, relations))


def _labels(triplets: Sequence[Triplet], relations: list[str]) -> Ints1d:
    return np.array([relations.index(triplet.relation) for triplet in triplets], dtype=np.int64)


def _learn(
    encoder: BiEncoder, head: torch.nn.Linear, triplets: Sequence[Triplet], labels: Ints1d,
    settings: HeadSettings,
) -> None:  # fmt: skip
    """Train the layer, and the encoder where it is tuned."""
    module, device = encoder.module, encoder.device
    weights, rate, size = list(head.parameters()), settings.learning_rate, settings.batch
    if settings.tune:
        weights += [weight for weight in module.parameters() if weight.requires_grad]
        rate, size = settings.tuned_rate, settings.tuned_batch
    optimizer = torch.optim.AdamW(weights, rate, weight_decay=0.0)
    steps = settings.epochs * -(-len(triplets) // size)
    schedule = get_linear_schedule_with_warmup(optimizer, int(settings.warmup * steps), steps)
    frozen = None if settings.tune else _features(encoder, triplets, settings.batch)
    module.train(settings.tune)
    for epoch in range(settings.epochs):
        order = np.random.default_rng((settings.seed, epoch)).permutation(len(triplets))
        for start in range(0, len(order), size):
            part = order[start : start + size]
            if frozen is None:
                features = _forward(encoder, [triplets[row] for row in part.tolist()])
            else:
                features = sent(frozen[part], device)
            loss = torch.nn.functional.cross_entropy(head(features), sent(labels[part], device))
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            schedule.step()
    module.eval()
    encoder.refresh()


def _features(encoder: BiEncoder, triplets: Sequence[Triplet], size: int) -> Floats2d:
    starts = range(0, len(triplets), size)
    with torch.inference_mode():
        parts = [fetched(_forward(encoder, triplets[at : at + size])) for at in starts]
    features: Floats2d = np.concatenate(parts)
    return features


def _forward(encoder: BiEncoder, triplets: Sequence[Triplet]) -> torch.Tensor:
    """Get the vectors of heads and tails, side by side: (n, 2 dim)."""
    terms = [term for triplet in triplets for term in (triplet.head, triplet.tail)]
    vectors = encoder.pooled_freely(encoder.module, encoder.tokenize(terms))
    return vectors.reshape(len(triplets), -1)

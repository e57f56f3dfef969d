"""Losses over relations: both bring heads, along their relation, to their tails."""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from spacy_medlink.encoders.objectives.protocol import Batch
from tests.training.objectives.test_memory import CPU, _unit
from training.data.relations import Triples
from training.objectives.coder import TermRelationTerm, TransE

# Four concepts, two names each; concepts 0 and 1 are related to 2, not to 3.
LABELS = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3])
TRIPLES = Triples(*map(np.array, ([0, 1, 2, 3], [4, 5, 4, 5], [6, 7, 6, 7], [0, 0, 1, 1])))
BATCH = Batch(torch.arange(8), LABELS, torch.arange(8))


@pytest.mark.parametrize("name", ["transe", "distmult"])
def test_heads_come_to_their_tails(name):
    def draw(number: int) -> Triples:
        return TRIPLES

    loss: TransE | TermRelationTerm = TransE(draw, 2, 4, 1.0, 0, CPU)
    if name == "distmult":
        loss = TermRelationTerm(draw, 2, 4, CPU)
    vectors = _unit(8, seed=1).clone().requires_grad_()
    (relations,) = loss.parameters()
    optimizer = torch.optim.SGD([vectors, relations], lr=0.1)
    first = loss(normalize(vectors, dim=1), BATCH).item()
    for _ in range(60):
        value = loss(normalize(vectors, dim=1), BATCH)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    assert value.item() < 0.8 * first
    unit, own = normalize(vectors.detach(), dim=1), relations.detach()[TRIPLES.kinds]
    heads, tails, wrong = (unit[part] for part in TRIPLES[:3])
    moved = normalize(heads + own if name == "transe" else heads * own, dim=1)
    assert bool(((moved * tails).sum(1) > (moved * wrong).sum(1)).all())


def test_a_relation_of_ones_compares_terms_as_they_are():
    loss = TermRelationTerm(lambda number: TRIPLES, 2, 4, CPU)
    apart = torch.eye(4)[LABELS]
    together = apart.clone()
    together[:4] = apart[4]
    assert loss(together, BATCH).item() < loss(apart, BATCH).item()

"""Triples of names: relations of all kinds, several names at either end."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Relation
from tests.tiny import TINY_RECORDS, kb_of
from training.data.names import read_names
from training.data.relations import RelationSampler


def _kb(place: Path) -> KnowledgeBase:
    records = list(TINY_RECORDS)
    records[0] = replace(
        records[0], relations=(Relation("may_cause", "HP:0000822", "TEST", False),)
    )
    return kb_of(place, records)


def test_concepts_come_through_relations_of_all_kinds(tmp_path, tiny_encoder):
    kb = _kb(tmp_path / "kb.kb")
    names = read_names(kb)
    relations = RelationSampler(kb, names, batch_names=24, each=8, seed=0)
    assert sorted(relations.kinds) == ["isa", "may_cause"]
    known = {(a, said, b) for a, said, b, _ in kb.iter_relations()}
    seen, several = set(), 0
    for step in range(60):
        triples = relations.draw(step)
        ends = names.concepts[np.stack(triples[:3])].T.tolist()
        for (head, tail, wrong), kind in zip(ends, triples.kinds.tolist(), strict=True):
            subject, object = (tail, head) if kind % 2 else (head, tail)
            assert (subject, relations.kinds[kind // 2], object) in known
            assert wrong not in (head, tail)
            seen.add(kind)
        several += len(set(triples.heads.tolist())) > len({head for head, *_ in ends})
        batch = relations.batch(step)
        assert set(batch.tolist()) == {int(n) for part in triples[:3] for n in part}
    assert seen == {0, 1, 2, 3} and several > 30
    assert relations.steps_per_epoch >= 1

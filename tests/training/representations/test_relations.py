import pytest
import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import MedlinkError
from training.corpora.tally import Tally
from training.representations.relations import (
    HeadSettings,
    Triplet,
    classify,
    divide,
    read_triplets,
)

DISEASES = ["asthma", "pneumonia", "fever", "headache", "diabetes", "hypertension"]
# What the second term is to the first can be told from the vectors of both, not from one alone.
TRIPLETS = [
    Triplet(head, tail, "same" if head == tail else "after" if head > tail else "before")
    for head in DISEASES
    for tail in DISEASES
]


@pytest.mark.parametrize("tune", [False, True])
def test_relations_are_learned(tiny_encoder, tune):
    encoder = BiEncoder.load(tiny_encoder)
    with torch.no_grad():  # at first, [CLS] is nearly the same for all texts
        for weight in encoder.module.parameters():
            if weight.dim() > 1:
                weight.mul_(10)
    before = {name: value.clone() for name, value in encoder.module.state_dict().items()}
    settings = HeadSettings(
        tune, epochs=150, batch=12, learning_rate=3e-2, tuned_batch=12, tuned_rate=3e-3
    )
    right = classify(encoder, TRIPLETS, TRIPLETS, settings)
    assert right.mean() > (0.9 if tune else 0.6) and not encoder.module.training
    after = encoder.module.state_dict()
    is_changed = any(not torch.equal(before[name], after[name]) for name in before)
    assert is_changed == tune


def test_a_relation_that_training_lacks_is_wrong(tiny_encoder):
    train = [one for one in TRIPLETS if one.relation != "same"]
    test = [Triplet("asthma", "asthma", "same"), Triplet("asthma", "fever", "before")]
    settings = HeadSettings(epochs=3, learning_rate=1e-2)
    assert classify(BiEncoder.load(tiny_encoder), train, test, settings).mean() <= 0.5


@pytest.mark.parametrize("tune", [False, True])
def test_the_same_again(tiny_encoder, tune):
    settings = HeadSettings(tune, epochs=2, seed=4)
    encoders = [BiEncoder.load(tiny_encoder, "pooler") for _ in range(2)]
    one, other = (classify(encoder, TRIPLETS, TRIPLETS, settings) for encoder in encoders)
    assert (one == other).all()
    assert encoders[0].fingerprint() == encoders[1].fingerprint()


def test_division_is_four_to_one_and_loses_nothing():
    train, test = divide(TRIPLETS, 3)
    assert (len(train), len(test)) == (29, 7)
    assert sorted(train + test) == sorted(TRIPLETS)
    assert divide(TRIPLETS, 3)[1] == test != divide(TRIPLETS, 4)[1]


def test_ids_stand_for_names_drawn_at_random(tmp_path, tiny_kb):
    file = tmp_path / "triplets.tsv"
    rows = [f"HP:0002099\tHP:0001945\tcause {number}" for number in range(4)]
    rows += ["HP:0005965\tHP:0001945\tretired", "HP:9999999\tHP:0001945\tunknown", "HP:1\t\t"]
    file.write_text("\n".join(["head_cui\ttail_cui\trel", *rows]), encoding="utf-8")
    tally = Tally()
    found = read_triplets(file, tally, tiny_kb)
    names = {id: {name.text for name in tiny_kb[id].names} for id in ("HP:0002099", "HP:0001945")}
    assert all(one.head in names["HP:0002099"] for one in found[:4])
    assert all(one.tail in names["HP:0001945"] for one in found)
    assert found[4].relation == "retired"
    assert len({(one.head, one.tail) for one in found[:4]}) == 1, "a concept has one name"
    others = [read_triplets(file, Tally(), tiny_kb, seed) for seed in range(4)]
    assert others[0] == found and any(one != found for one in others)
    assert len(found) == 5
    assert sum(tally.dropped.values()) == 1 and sum(tally.faults.values()) == 1
    with pytest.raises(MedlinkError, match="E403"):
        read_triplets(file, Tally(strict=True), tiny_kb)


def test_hardly_any_triplet(tmp_path):
    file = tmp_path / "triplets.csv"
    file.write_text("head,tail,relation\na,b,c\n", encoding="utf-8")
    with pytest.raises(MedlinkError, match="E530"):
        read_triplets(file, Tally())

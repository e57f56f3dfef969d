"""Calibrating assets: what is stored, what the linker makes of it, and what is refused."""

import json
from itertools import pairwise

import numpy as np
import pytest
import spacy
from spacy.vocab import Vocab

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.manifest import CALIBRATOR
from spacy_medlink.components.linker import MedicalLinker
from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation import load_gold
from spacy_medlink.fitting.examples import examples_of, parts_of, rank_examples, without
from spacy_medlink.kb import build_kb
from spacy_medlink.linking.decision import BELOW_THRESHOLD
from spacy_medlink.retrieval.filters import Filter
from spacy_medlink.retrieval.fusion import WeightedFusion
from spacy_medlink.retrieval.slips import without_slips
from spacy_medlink.types import Mention
from tests.fits import calibrated_on, calibrated_on_names
from tests.fitting.samples import PAIRS, SITES, document
from tests.lines import write_lines
from tests.tiny import concept

CONCEPTS = [
    concept(f"X:{n}", f"{kind} of {site}", f"{site} {kind}", f"{site} {kind}, unspecified",
            types=("T047",))
    for n, (site, kind) in enumerate(PAIRS)
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("calibrate")
    build_kb(path / "kb", CONCEPTS)
    build_assets(path / "assets", path / "kb")
    lines = []
    for own in CONCEPTS:
        site, kind = own.names[1].text.split()
        for text in (f"{site} {kind}", f"the {kind} of her {site}", f"{site[:-1]} {kind}s"):
            lines.append({"mention": text, "ids": [own.id]})
    lines += [{"mention": f"{site} thing number {n}", "ids": []} for n, site in enumerate(SITES)]
    write_lines(path / "gold.jsonl", *lines)
    return path


@pytest.fixture(scope="module")
def calibrated(place):
    assets = Assets(place / "assets")
    return calibrated_on(assets, place / "calibrated", place / "gold.jsonl", target_precision=0.8)


def linker(assets, **settings):
    return MedicalLinker(Vocab(), assets=assets.path, **settings)


def test_what_is_stored(place, calibrated):
    facts = Assets(place / "calibrated", verify=True).manifest["calibrator"]
    assert facts["threshold"] == calibrated.threshold > 0
    assert facts["expected"]["precision"] >= facts["target_precision"] == 0.8
    assert facts["fitted_on"]["file"] == "gold.jsonl"
    assert (facts["mentions"], facts["concepts"]) == (len(CONCEPTS) * 3 + len(SITES), len(CONCEPTS))
    assert 0 < facts["log_loss"] < 0.5 and facts["right_at_most"]["name"] > 0.9
    assert CALIBRATOR in calibrated.assets.files
    # A build has one, too, which knows names alone.
    built = Assets(place / "assets").manifest["calibrator"]
    for links in (facts["links"], built["links"]):
        totals = {when: sum(counts.values()) for when, counts in links.items()}
        assert totals["before"] == pytest.approx(totals["after"], abs=2)
    assert sum(facts["links"]["after"].values()) == pytest.approx(facts["mentions"], abs=1)
    assert facts["links"]["before"]["nil"] > 0, "the build's threshold was used before"
    assert built["links"]["before"]["nil"] < built["links"]["after"]["nil"]
    made = facts["links"]["after"]
    precision = made["right"] / (made["right"] + made["wrong"])
    assert precision == pytest.approx(facts["expected"]["precision"], abs=0.01)
    assert built["fitted_on"] == {"names": "of the knowledge base"}


def test_the_linker_takes_the_probability_and_the_threshold(calibrated):
    own = linker(calibrated.assets)
    good, bad = own.link_texts(["heart carcinoma", "heart thing number 3"])
    assert good.id == "X:0"
    assert [one.prob is None for one in good.candidates] == [False, True, True, True, True]
    assert good.candidates[0].prob >= calibrated.threshold
    assert (bad.id, bad.reason) == ("NIL", BELOW_THRESHOLD)
    assert bad.candidates[0].prob < calibrated.threshold
    own.threshold = 0.0
    (linked,) = own.link_texts(["heart thing number 3"])
    assert linked.id != "NIL"
    assert str(own.explain("heart thing number 3"))


def test_probabilities_do_not_depend_on_the_batch_or_on_how_many_candidates_are_kept(calibrated):
    texts = [name.text[:-2] for concept in CONCEPTS[:20] for name in concept.names]

    def probs(sizes, **settings):
        own = linker(calibrated.assets, **settings)
        bounds = np.cumsum([0, *sizes])
        return [
            link.candidates[0].prob
            for start, end in pairwise(bounds)
            for link in own.link_texts(texts[start:end])
        ]

    whole = probs([len(texts)])
    assert probs([1] * len(texts)) == whole
    assert probs([7, 20, len(texts) - 27], top_k=1) == whole
    assert probs([len(texts)], top_k=50, batch_size=3) == whole


def test_parts_of_a_composite_mention_must_be_probable_too(calibrated):
    text = "carcinoma of heart and carcinoma of lung"
    (linked,) = linker(calibrated.assets, composite=True).link_texts([text])
    assert [part["id"] for part in linked.parts] == ["X:0", "X:8"]
    (none,) = linker(calibrated.assets, composite=True, threshold=1.0).link_texts([text])
    assert none.parts == []


def test_a_calibrator_of_other_tiers_is_refused_or_left_out(calibrated):
    assets = calibrated.assets
    fused = dict.fromkeys(assets.tiers, 1.0)
    for settings in ({"tiers": ["exact"]}, {"fusion": WeightedFusion(fused)}):
        with pytest.raises(MedlinkError, match="E214"):
            linker(assets, calibrator=True, **settings).link_texts(["heart"])
        (linked,) = linker(assets, calibrator=False, **settings).link_texts(["heart carcinoma"])
        assert (linked.id, linked.candidates[0].prob) == ("X:0", None)
        assert assets.engine(**settings).parts.calibrator is None
    assert assets.engine(calibrator=False).parts.calibrator is None
    assert assets.engine(exact_first=True, calibrator=True).parts.calibrator is not None


def test_a_threshold_outside_0_and_1_in_the_manifest_is_refused(place, calibrated, tmp_path):
    calibrated.assets.copy_to(tmp_path / "copy")
    manifest = json.loads((tmp_path / "copy" / "manifest.json").read_text())
    manifest["calibrator"]["threshold"] = 1.5
    (tmp_path / "copy" / "manifest.json").unlink()  # a hard link to the other
    (tmp_path / "copy" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(MedlinkError, match="E302"):
        Assets(tmp_path / "copy").engine()


def test_a_saved_pipeline_keeps_its_calibrator(calibrated, tmp_path):
    nlp = spacy.blank("en")
    own = nlp.add_pipe("medical_linker", config={"assets": str(calibrated.assets.path)})
    text = "the carcinoma of her heart"
    (before,) = own.link_texts([text])
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp").get_pipe("medical_linker")
    assert again.link_texts([text]) == [before]
    assert before.candidates[0].prob is not None


def test_calibrating_again_in_place_replaces_the_calibrator(calibrated, tmp_path):
    calibrated.assets.copy_to(tmp_path / "own")
    made = calibrated_on_names(Assets(tmp_path / "own"), tmp_path / "own")
    facts = Assets(tmp_path / "own", verify=True).manifest["calibrator"]
    assert facts["fitted_on"] == {"names": "of the knowledge base"}
    assert made.assets.engine().parts.calibrator is not None


def test_calibrating_twice_gives_the_same_bytes(place, calibrated, tmp_path):
    calibrated_on(
        Assets(place / "assets"), tmp_path / "own", place / "gold.jsonl", target_precision=0.8
    )
    for file in (CALIBRATOR, "manifest.json"):
        own, other = tmp_path / "own" / file, place / "calibrated" / file
        assert own.read_bytes() == other.read_bytes()


def documents(path, place):
    """Write the gold mentions of `place` as documents of four."""
    lines = [json.loads(line) for line in (place / "gold.jsonl").read_text().splitlines()]
    # "pancreas" without its last letter is remembered as if it were its plural, and a slip of the
    # pen as the name that it means.
    exact = Assets(place / "assets").exact
    lines = [line for line in lines if "pancrea" not in line["mention"]]
    lines = [line for line in lines if not without_slips(exact, line["mention"], "en")]
    made = [document(f"d{at}", lines[at : at + 4], " and ") for at in range(0, len(lines), 4)]
    return write_lines(path, *made)


@pytest.fixture(scope="module")
def remembering(place):
    gold = documents(place / "documents.jsonl", place)
    return build_assets(place / "remembering", place / "kb", memory=[gold]), gold


def test_what_is_remembered_can_be_calibrated_on_as_if_it_were_not(place, remembering, tmp_path):
    """All mentions of these documents differ, so that without its own a memory knows none."""
    assets, gold = remembering
    plain = calibrated_on(Assets(place / "assets"), tmp_path / "plain", gold, target_precision=0.8)
    honest = calibrated_on(
        assets, tmp_path / "honest", gold, as_if_unannotated=True, target_precision=0.8
    )
    assert honest.facts["as_if_unannotated"] and not plain.facts["as_if_unannotated"]
    assert honest.facts["fitted_on"]["file"] == gold.name
    for name in ("mentions", "concepts"):
        assert honest.facts[name] == plain.facts[name]

    def described(calibrated):
        return sorted(map(tuple, calibrated.fit.fitted.examples.features.round(5).tolist()))

    assert described(honest) == described(plain)
    assert honest.assets.engine(calibrator=True).parts.calibrator is not None
    deceived = calibrated_on(assets, tmp_path / "deceived", gold, target_precision=0.8)
    assert described(deceived) != described(plain)


def test_too_few_mentions_are_refused(place, tmp_path):
    assets = Assets(place / "assets")
    few = write_lines(tmp_path / "few.jsonl", {"mention": "heart carcinoma", "ids": ["X:0"]})
    with pytest.raises(MedlinkError, match="E530"):
        calibrated_on(assets, tmp_path / "out", few)
    assert not (tmp_path / "out").exists()


def test_too_high_a_precision_makes_no_name_nil(place, tmp_path):
    made = calibrated_on(
        Assets(place / "assets"), tmp_path / "out", place / "gold.jsonl", target_precision=1.0
    )
    assert made.facts["target_precision"] == 1.0
    names = [(concept.id, name.text) for concept in CONCEPTS for name in concept.names]
    links = linker(made.assets).link_texts([text for _, text in names])
    assert [link.id for link in links] == [id for id, _ in names]


def test_every_mention_is_ranked_with_and_without_its_concept(place):
    assets = Assets(place / "assets")
    examples = examples_of(load_gold(place / "gold.jsonl", assets.kb).cases())
    ranked = rank_examples(assets.engine(), assets.kb, examples)
    named = [one for one in examples if one.right]
    assert ranked.not_found == (0.0, 0.0)
    assert len(ranked.right) == 2 * len(named) + len(SITES)
    assert ranked.weights.sum() == pytest.approx(len(examples))
    assert ranked.weights[ranked.in_kb].sum() == pytest.approx(0.8 * len(named))
    assert not ranked.right[~ranked.in_kb].any()
    assert ranked.right[ranked.in_kb].mean() > 0.9


def test_parts_are_of_like_size():
    sizes = np.bincount(parts_of((f"id {n}" for n in range(5000)), 5))
    assert sizes.min() > 900


def test_filters_hold_while_concepts_are_removed(place):
    assets = Assets(place / "assets")
    engine = assets.engine(only=Filter.of(deny=["X:0"]))
    removed = np.zeros(len(assets.kb), dtype=np.bool_)
    removed[1] = True
    (ranking,) = engine.rank([Mention("heart carcinoma")], 200, without(engine, removed))
    rows = {one.row for one in ranking}
    assert rows.isdisjoint({0, 1})
    assert 2 in rows

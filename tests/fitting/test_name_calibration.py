"""What every build fits to names: probabilities for all, NIL for what is nothing."""

import json

import numpy as np
import pytest
from spacy.vocab import Vocab

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.manifest import CALIBRATOR
from spacy_medlink.components.linker import MedicalLinker
from spacy_medlink.fitting.calibrate import SHARES, fit_on_names
from spacy_medlink.fitting.calibrator import PROBABLE
from spacy_medlink.fitting.mutations import with_slip
from spacy_medlink.fitting.retrieved import RetrievedExamples
from spacy_medlink.kb import build_kb
from spacy_medlink.linking.calibrator import MODELS
from spacy_medlink.linking.decision import BELOW_THRESHOLD
from spacy_medlink.types import Concept
from tests.fits import calibrated_on_names, ranked_on
from tests.fitting.samples import PAIRS
from tests.lines import write_lines
from tests.tiny import concept

CONCEPTS = [
    concept(f"X:{n}", f"{kind} of {site}", f"{site} {kind} disease", f"{kind} in {site}")
    for n, (site, kind) in enumerate(PAIRS)
]
TWO_MEANINGS = [
    concept("Y:1", "cold of the nose", "grievous cold"),
    concept("Y:2", "low temperature", "grievous cold"),
]
NOTHING = ("xyzzy plugh", "HTN", "CABG", "water pill", "lead free", "the patient was seen", "new")


RECORDS = [*CONCEPTS, *TWO_MEANINGS]


def linker(assets, **settings):
    return MedicalLinker(Vocab(), assets=assets.path, **settings)


def test_nothing_is_linked_to_nothing_by_default(assets):
    for link in linker(assets).link_texts(NOTHING):
        assert link.id == "NIL"
        # Where a tier finds something at all, how improbable it is is said.
        assert not link.candidates or link.candidates[0].prob < PROBABLE
        assert not link.candidates or link.reason == BELOW_THRESHOLD


def test_threshold_0_links_always(assets):
    links = linker(assets, threshold=0.0).link_texts(["the patient has a cold lung"])
    assert links[0].id != "NIL" and links[0].candidates[0].prob is not None


def test_every_name_that_only_one_concept_has_is_linked(assets):
    names = [(concept.id, name.text.upper()) for concept in CONCEPTS for name in concept.names]
    links = linker(assets).link_texts([text for _, text in names])
    assert [link.id for link in links] == [id for id, _ in names]
    probs = [link.candidates[0].prob for link in links]
    assert min(probs) >= assets.manifest["calibrator"]["threshold"]
    for preferred, *synonyms in zip(probs[::3], probs[1::3], probs[2::3], strict=True):
        assert preferred > max(synonyms)
    assert len(set(probs)) > 10


def test_slips_of_the_pen_are_linked(assets):
    generator = np.random.default_rng(3)
    slips = [(concept.id, with_slip(concept.name, generator)) for concept in CONCEPTS]
    links = linker(assets).link_texts([text for _, text in slips])
    right = sum(link.id == id for link, (id, _) in zip(links, slips, strict=True))
    wrong = sum(link.id not in ("NIL", id) for link, (id, _) in zip(links, slips, strict=True))
    assert right >= 0.85 * len(slips) and wrong <= 0.015 * len(slips), (right, wrong)
    of_names = linker(assets).link_texts([concept.name for concept in CONCEPTS])
    for link, other in zip(links, of_names, strict=True):
        assert link.candidates[0].prob <= other.candidates[0].prob


def test_slips_are_as_sure_where_other_names_are_shared(tmp_path):
    twins = [Concept(f"T:{it.id}", it.name, it.names[:1]) for it in CONCEPTS[::2]]
    build_kb(tmp_path / "kb", [*CONCEPTS, *twins])
    generator, apart = np.random.default_rng(5), CONCEPTS[1::2]
    built = build_assets(tmp_path / "out", tmp_path / "kb")
    links = linker(built).link_texts([with_slip(it.name, generator) for it in apart])
    right = sum(link.id == it.id for link, it in zip(links, apart, strict=True))
    assert right >= 0.85 * len(links)


@pytest.mark.parametrize("change", [str.lower, str.title, str.upper])
def test_letter_case_changes_no_link_and_no_probability(assets, change):
    texts = [name.text for concept in [*CONCEPTS, *TWO_MEANINGS] for name in concept.names]
    plain, other = (linker(assets).link_texts([*map(make, texts)]) for make in (str, change))
    assert [(one.id, one.candidates[0].prob) for one in plain] == [
        (one.id, one.candidates[0].prob) for one in other
    ]


def test_a_name_of_two_concepts_is_less_sure(assets):
    shared, own = linker(assets).link_texts(["grievous cold", "cold of the nose"])
    assert shared.candidates[0].prob < own.candidates[0].prob


def test_what_is_probably_meant_is_linked_and_says_how_probably(assets):
    links = linker(assets).link_texts(["heart carcinoma", "abcess of liver", "liver of carcinoma"])
    assert [link.candidates[0].name for link in links] == [
        "carcinoma of heart", "abscess of liver", "carcinoma of liver"
    ]  # fmt: skip
    assert sum(link.id != "NIL" for link in links) >= 2


def test_the_manifest_says_what_it_was_fitted_to(assets):
    facts = assets.manifest["calibrator"]
    assert facts["threshold"] == PROBABLE
    assert facts["fitted_on"] == {"names": "of the knowledge base"}
    assert set(facts["examples"]) <= set(SHARES) and facts["examples"]["verbatim"] == 98
    assert CALIBRATOR in assets.files
    assert assets.engine(calibrator=True).parts.calibrator is not None


def test_two_builds_fit_the_same(assets, tmp_path):
    again = build_assets(tmp_path / "again", assets.kb.path)
    assert (again.path / CALIBRATOR).read_bytes() == (assets.path / CALIBRATOR).read_bytes()


def test_a_build_fits_what_its_linker_would(assets, tmp_path):
    """In the build the tiers are at hand; opened again they must rank the same."""
    again = calibrated_on_names(assets, tmp_path / "again").assets
    one, other = (json.loads((own.path / CALIBRATOR).read_text()) for own in (assets, again))
    assert one.keys() == other.keys()
    assert one["fitted_for"] == other["fitted_for"]
    for model in MODELS:
        for name in ("mean", "scale", "weights"):
            assert one[model][name] == pytest.approx(other[model][name], abs=1e-4)


def test_examples_weigh_as_their_kinds_should(assets):
    retrieved = RetrievedExamples.of(assets.engine(calibrator=False), assets.kb)
    found = fit_on_names(retrieved, assets.kb)
    ranked = found.fitted.examples
    total = ranked.weights.sum() + ranked.not_found[0]
    assert total == pytest.approx(sum(found.entry["examples"].values()))
    known = ranked.weights[ranked.in_kb].sum() + ranked.not_found[1]
    shares = {kind: share for kind, share in SHARES.items() if kind in found.entry["examples"]}
    right = sum(shares[kind] for kind in {*shares} - {"unknown", "nothing", "broader"})
    assert known / total == pytest.approx(right / sum(shares.values()))


def test_a_dozen_concepts_have_a_sane_calibrator(tiny_kb, tiny_encoder, tmp_path):
    tiny = build_assets(tmp_path / "tiny", tiny_kb.path, tiny_encoder)
    links = linker(tiny).link_texts(["Heart attack", "xyzzy plugh", "CABG"])
    assert [link.id for link in links] == ["HP:0001658", "NIL", "NIL"]
    assert links[0].candidates[0].prob > PROBABLE


def test_other_tiers_leave_the_calibrator_of_a_build_out_and_say_so(assets):
    own = linker(assets, tiers=["exact"])
    with pytest.warns(UserWarning, match="W241.*tiers"):
        (link,) = own.link_texts(["carcinoma of heart"])
    assert (link.id, link.candidates[0].prob) == ("X:0", None)
    linker(assets, tiers=["exact"], calibrator=False).link_texts(["carcinoma of heart"])


def test_a_new_ranker_is_calibrated_anew(assets, tmp_path):
    lines = [
        {"mention": f"{site} {kind[:-1]}", "ids": [f"X:{number}"]}
        for number, (site, kind) in enumerate(PAIRS)
    ]
    gold = write_lines(tmp_path / "gold.jsonl", *lines)
    fitted = ranked_on(assets, tmp_path / "ranked", gold)
    assert fitted.assets.engine(calibrator=True).parts.calibrator is not None


def test_gold_mentions_that_a_build_is_given_calibrate_it(assets, tmp_path):
    lines = [{"mention": concept.names[1].text[:-8], "ids": [concept.id]} for concept in CONCEPTS]
    gold = write_lines(tmp_path / "dev.jsonl", *lines)
    made = build_assets(tmp_path / "made", assets.kb.path, dev=gold)
    assert made.manifest["calibrator"]["fitted_on"]["file"] == "dev.jsonl"
    few = write_lines(tmp_path / "few.jsonl", lines[0])
    made = build_assets(tmp_path / "few", assets.kb.path, dev=few)
    assert made.manifest["calibrator"]["fitted_on"] == {"names": "of the knowledge base"}
    assert Assets(made.path, verify=True).calibrator.threshold > 0

"""A linker whose overlay changes while it links."""

import gc
import os
import pickle
import random

import pytest
import spacy

from spacy_medlink.components.linker.overlay_file import Overlay
from spacy_medlink.components.linker.settings import LinkerSettings
from spacy_medlink.errors import MedlinkError
from spacy_medlink.types import Concept, Name
from tests.children import kill_at_work
from tests.growth import exponent, seconds
from tests.pipelines import doc_with, finder, texts_and_ids
from tests.tiny import TINY_RECORDS, assets_of

RECORDS = TINY_RECORDS
NAME, ID = "sweet blood", "HP:0000819"
ADD, RETIRE = f"add\t{NAME}\t{ID}\n", f"retire\t\t{ID}\n"


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "overlay.tsv"
    path.write_text("", encoding="utf-8")
    return path


def pipeline(assets, rules, **config):
    nlp = spacy.blank("en")
    overlay = None if rules is None else str(rules)
    config = {
        "assets": str(assets.path), "overlay": overlay, "calibrator": False, "threshold": 0.9,
        **config,
    }  # fmt: skip
    nlp.add_pipe("medical_linker", config=config)
    return nlp


def linked(nlp, text=NAME):
    (link,) = nlp.get_pipe("medical_linker").link_texts([text])
    return None if link.id == "NIL" else link.id


def replace(path, text):
    """Write a file as editors do: whole, in place of the old one."""
    path.with_suffix(".new").write_text(text, encoding="utf-8")
    os.replace(path.with_suffix(".new"), path)


def test_it_holds_from_the_next_call_on(assets, rules):
    nlp = pipeline(assets, rules)
    assert linked(nlp) is None
    replace(rules, ADD)
    assert linked(nlp) == ID
    doc = nlp(doc_with(nlp, f"She has {NAME}.", NAME))
    assert doc.ents[0]._.cui == ID and doc.ents[0]._.candidates[0]["matched"] == NAME
    assert NAME in str(nlp.get_pipe("medical_linker").explain(NAME))
    assert nlp.get_pipe("medical_linker").kb[ID].names[-1].text == NAME
    replace(rules, RETIRE)
    assert linked(nlp) is None and linked(nlp, "diabetes mellitus") != ID
    replace(rules, "")
    assert linked(nlp) is None and linked(nlp, "diabetes mellitus") == ID


def test_a_file_that_cannot_be_read(assets, rules):
    replace(rules, ADD)
    nlp = pipeline(assets, rules)
    assert linked(nlp) == ID
    for spoil in (lambda: replace(rules, f"{ADD}add\tx\n"), rules.unlink):
        spoil()
        with pytest.warns(UserWarning, match="W130"):
            assert linked(nlp) == ID
        assert linked(nlp) == ID  # which is said once
    replace(rules, "")
    assert linked(nlp) is None


def test_what_is_wrong_at_first_is_an_error(assets, rules):
    replace(rules, "add\tx\n")
    with pytest.raises(MedlinkError, match="E105"):
        linked(pipeline(assets, rules))
    with pytest.raises(MedlinkError, match="E107"):
        linked(pipeline(assets, rules.with_name("none")))


def test_rules_that_change_nothing_are_told(assets, rules):
    replace(rules, ADD + "add\tx\tHP:9\n")
    with pytest.warns(UserWarning, match="W130.*line 2: unknown id"):
        assert linked(pipeline(assets, rules)) == ID


def test_the_setting_may_change(assets, rules):
    replace(rules, ADD)
    nlp = pipeline(assets, None)
    assert linked(nlp) is None
    linker = nlp.get_pipe("medical_linker")
    linker.overlay = str(rules)
    assert linked(nlp) == ID
    linker.overlay = None
    assert linked(nlp) is None


def test_a_saved_one_is_followed_and_the_file_of_the_config_goes_first(assets, rules, tmp_path):
    replace(rules, ADD)
    pipeline(assets, rules).to_disk(tmp_path / "nlp")
    rules.unlink()
    loaded = spacy.load(tmp_path / "nlp")
    assert linked(loaded) == ID
    replace(tmp_path / "nlp" / "medical_linker" / "overlay.jsonl", "")
    assert linked(loaded) is None
    replace(rules, RETIRE)
    assert linked(loaded, "diabetes mellitus") != ID


def save_again_and_again(linker, rules, place, saved):
    for number in range(1000):
        replace(rules, (ADD, RETIRE)[number % 2])
        linker.to_disk(place)
        saved.send(number)


@pytest.mark.parametrize("kills", [4, pytest.param(30, marks=pytest.mark.slow)])
def test_a_saved_one_is_whole_after_any_kill(assets, rules, tmp_path, kills):
    # spaCy writes other parts of a pipeline in place, so the linker is saved by itself.
    linker, place = pipeline(assets, rules).get_pipe("medical_linker"), tmp_path / "linker"
    generator, seen = random.Random(6), set()
    for _ in range(kills):
        kill_at_work(save_again_and_again, linker, rules, place, after=generator.uniform(0, 0.1))
        loaded = pipeline(assets, None)
        loaded.get_pipe("medical_linker").from_disk(place)
        seen.add((linked(loaded), linked(loaded, "diabetes mellitus")))
    assert seen <= {(ID, ID), (None, None)}
    del loaded
    gc.collect()  # the last reader of what was replaced
    linker.to_disk(place)
    left = {path.name for path in tmp_path.iterdir()} | {path.name for path in place.iterdir()}
    assert not [name for name in left if name.startswith(".")], "what was killed left files behind"


def test_someone_elses_file_is_not_replaced(assets, rules, tmp_path):
    place = tmp_path / "nlp" / "medical_linker" / "overlay.jsonl"
    place.parent.mkdir(parents=True)
    place.write_text("mine\n")
    with pytest.raises(MedlinkError, match="E12"):
        pipeline(assets, rules).to_disk(tmp_path / "nlp")
    assert place.read_text() == "mine\n"


def test_reloaded_assets_keep_it(assets, rules):
    replace(rules, ADD)
    nlp = pipeline(assets, rules)
    assert linked(nlp) == ID
    nlp.get_pipe("medical_linker").reload()
    assert linked(nlp) == ID


def finding(assets, rules, **config):
    config = {"overlay": str(rules), "calibrator": False, "threshold": 0.9, **config}
    return finder(assets, linking=config)


@pytest.mark.parametrize("config", [{}, {"types": ["T047"]}], ids=["all", "filtered"])
def test_the_finder_knows_it(assets, rules, config):
    text = f"She has {NAME}, and high blood pressure."
    pressure = ("high blood pressure", "HP:0000822")
    nlp = finding(assets, rules, **config)
    assert texts_and_ids(nlp, text) == [pressure]
    replace(rules, f"{ADD}retire\t\tHP:0000822\n")
    assert texts_and_ids(nlp, text) == [(NAME, ID)]
    docs = nlp.pipe([text] * 4, n_process=2, batch_size=1)
    assert [[ent.text for ent in doc.ents] for doc in docs] == [[NAME]] * 4
    replace(rules, "deny\thigh blood pressure\n")
    assert texts_and_ids(nlp, text) == []
    replace(rules, "")
    assert texts_and_ids(nlp, text) == [pressure]


def test_a_finder_of_other_assets_does_not_follow_it(assets, rules, tmp_path, tiny_encoder):
    replace(rules, ADD)
    other = assets_of(tmp_path / "other", TINY_RECORDS[3:])
    nlp = finding(assets, rules)
    nlp.remove_pipe("medical_mentions")
    nlp.add_pipe("medical_mentions", config={"assets": str(other.path)}, first=True)
    assert texts_and_ids(nlp, f"She has {NAME}.") == []


def test_short_forms_of_its_names_are_found(assets, rules):
    replace(rules, ADD)
    nlp = finding(assets, rules)
    text = f"She has {NAME} (SB). The SB is severe."
    assert texts_and_ids(nlp, text) == [(NAME, ID), ("SB", ID), ("SB", ID)]
    replace(rules, "retire\t\tHP:0000822\n")
    assert texts_and_ids(nlp, "He has HTN.") == []  # which the lexicon knows, too


def test_names_that_the_filters_leave_out_are_not_found(assets, rules):
    replace(rules, ADD)
    nlp = finding(assets, rules, types=["T184"])
    assert texts_and_ids(nlp, f"She has {NAME}.") == []


def test_a_concept_gets_another_name(tmp_path, rules):
    other = assets_of(tmp_path / "fever", [Concept("1", "Fever", (Name("Fever"),))])
    replace(rules, "deny\tfever\t1\nadd\tburning\t1\n")
    assert texts_and_ids(finding(other, rules), "No fever, but burning.") == [("burning", "1")]


BARE = f'{{"mention": "diabetes", "ids": ["{ID}"]}}\n'
CORRECTION = (
    '{"text": "Sweet blood syndrome (SBS). SBS again.", "lang": "en", "correction": {"by": "x"}, '
    '"mentions": [{"start": 28, "end": 31, "mention": "SBS", "ids": ["%s"]}]}\n'
)


def test_a_gold_file_is_an_overlay(assets, rules):
    nlp = pipeline(assets, rules)
    name = "sweet blood syndrome"
    assert linked(nlp, name) is None
    replace(rules, CORRECTION % ID)
    assert linked(nlp, name) == ID, "the long form is what is remembered"
    assert linked(nlp, "sweet blood syndromes") == ID
    replace(rules, CORRECTION % ID + '{"mention": "Sweet-blood syndrome", "ids": []}\n')
    (link,) = nlp.get_pipe("medical_linker").link_texts([name])
    assert link.id == "NIL" and "corrections" in link.reason, "what was said last holds"
    replace(rules, CORRECTION % "NONE")
    with pytest.warns(UserWarning, match="W130.*line 1: unknown id"):
        assert linked(nlp, name) is None
    replace(rules, "")
    assert linked(nlp, name) is None and linked(nlp, "diabetes mellitus") == ID


@pytest.mark.parametrize(
    "line", ['{"action": "add", "name": "%s", "id": "%s"}', '{"mention": "%s", "ids": ["%s"]}']
)
def test_each_line_costs_the_same(assets, rules, line):
    """All lines are of one concept, which has more names with each of them."""

    def read(count):
        names = (f"sweet blood of kind {chr(97 + i % 26)}{i}" for i in range(count))
        rules.write_text("".join(f"{line % (name, ID)}\n" for name in names), encoding="utf-8")
        overlaid = Overlay(LinkerSettings.of({"overlay": str(rules)})).over(assets)
        assert len(overlaid.kb[ID].names) > count

    took = {count: seconds(read, count, repeats=1) for count in (500, 1000, 2000, 4000)}
    assert exponent(took) <= 1.5, took


def test_corrections_go_before_what_assets_remember(assets, rules, tmp_path):
    from spacy_medlink.assets import build_assets

    (tmp_path / "gold.jsonl").write_text(
        '{"mention": "diabetes", "ids": []}\n' + BARE.replace("diabetes", "sugar")
    )
    made = build_assets(tmp_path / "own", assets.kb.path, memory=[tmp_path / "gold.jsonl"])
    nlp = pipeline(made, rules)
    assert (linked(nlp, "diabetes"), linked(nlp, "sugar")) == (None, ID)
    replace(rules, BARE)
    assert (linked(nlp, "diabetes"), linked(nlp, "sugar")) == (ID, ID)


def test_what_is_saved_holds_no_text_of_notes(assets, rules, tmp_path):
    replace(rules, CORRECTION % ID)
    nlp = pipeline(assets, rules)
    for _ in range(2):  # also over what it wrote itself
        nlp.to_disk(tmp_path / "saved")
    pickled = pickle.dumps(nlp)
    rules.unlink()
    saved = (tmp_path / "saved" / "medical_linker" / "overlay.jsonl").read_text("utf-8")
    assert "again" not in saved and "SBS" not in saved
    for one in (spacy.load(tmp_path / "saved"), pickle.loads(pickled)):
        assert linked(one, "sweet blood syndrome") == ID

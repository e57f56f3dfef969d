"""Learning from annotated text in one go: what it comes to, what is left out, what is refused."""

import gc
import json
from inspect import signature

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.learn import learn
from spacy_medlink.assets.manifest import CALIBRATOR
from spacy_medlink.assets.variant import write_variant
from spacy_medlink.cli.app import app
from spacy_medlink.cli.learn import command as learn_command
from spacy_medlink.errors import MedlinkError
from spacy_medlink.fitting.calibrate import TARGET_PRECISION
from spacy_medlink.fitting.links import Links
from spacy_medlink.kb import build_kb
from spacy_medlink.linking.ranker import TOP
from spacy_medlink.types import Concept, Name
from tests.fitting.samples import PAIRS, document
from tests.fitting.test_ranker import CONCEPTS, links, write_gold
from tests.lines import write_lines


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("learn")
    build_kb(path / "kb", CONCEPTS)
    write_gold(path / "gold.jsonl", lambda place: "D")
    build_assets(path / "plain", path / "kb")
    return path


@pytest.fixture(scope="module")
def learned(place):
    return learn(
        Assets(place / "plain"), place / "learned", place / "gold.jsonl", target_precision=0.5
    )


def test_everything_is_learned(place, learned):
    manifest = Assets(place / "learned", verify=True).manifest
    assert learned.names == len(PAIRS) and not learned.left_out
    before, after = learned.before, learned.after
    assert (after.in_kb.sum(), before.first.sum()) == (96, 0)
    assert after.first.sum() > 48, "the vocabulary is learned from the others"
    assert manifest["links"] == {"before": before.facts(), "after": after.facts()}
    assert before.right == 0 < after.right and after.right + after.wrong + after.nil == 96
    assert not learned.kept
    assert manifest["memory"]["sources"][0]["name"] == "gold.jsonl"
    assert manifest["ranker"]["fitted_on"]["file"] == "gold.jsonl"
    assert manifest["calibrator"]["as_if_unannotated"]
    assert learned.assets.kb.manifest["mention_names"]["names"] == len(PAIRS)
    engine = learned.assets.engine()
    assert engine.parts.memory is not None and engine.parts.rescorer is not None
    assert engine.parts.calibrator is not None
    texts = [f"{site} {kind}" for site, kind in PAIRS[:9]]
    assert links(Assets(place / "plain"), texts) == [f"C{n}" for n in range(9)]
    assert links(learned.assets, texts) == [f"D{n}" for n in range(9)]
    # Of what was never said it has learned which vocabulary is meant.
    assert links(learned.assets, ["a stenosis, of the lung"])[0].startswith("D")


def test_an_update_has_no_ranker_so_it_fits_a_calibrator_to_names(learned, tmp_path):
    names = learned.assets.kb.path
    made = build_assets(tmp_path / "new", names, update=learned.assets.path)
    assert made.manifest.get("ranker") is None
    assert made.manifest["calibrator"]["fitted_on"] == {"names": "of the knowledge base"}
    assert made.engine(calibrator=True).parts.calibrator is not None


def test_in_place_again_and_nothing_is_left_behind(place, learned, tmp_path):
    own = tmp_path / "own"
    Assets(place / "plain").copy_to(own)
    for _ in range(2):
        done = learn(Assets(own), own, place / "gold.jsonl", target_precision=0.5)
        assert done.manifest["ranker"] == learned.manifest["ranker"]
    gc.collect()  # the last reader of the first result removes it
    assert [path.name for path in tmp_path.iterdir()] == ["own"]


def test_what_there_is_too_little_text_for_is_left_out(place, tmp_path):
    few = tmp_path / "few.jsonl"
    lines = (place / "gold.jsonl").read_text("utf-8").splitlines(keepends=True)
    few.write_text("".join(lines[:3]), encoding="utf-8")
    done = learn(Assets(place / "plain"), tmp_path / "few", few)
    assert done.left_out.keys() == {"ranker"} and done.manifest["left_out"]["ranker"]
    assert done.manifest["memory"]["mentions"] == done.names == 9
    assert done.manifest["calibrator"]["fitted_on"] == {"names": "of the knowledge base"}
    assert done.assets.engine(calibrator=True).parts.calibrator is not None
    assert links(done.assets, ["heart carcinoma"]) == ["D0"]


def test_what_had_probabilities_keeps_some(tmp_path):
    few = tmp_path / "few.jsonl"
    names = [
        Concept(f"X{n}", f"{site} {kind}", (Name(f"{site} {kind}"), Name(f"{kind} of the {site}")))
        for n, (site, kind) in enumerate(PAIRS)
    ]
    build_kb(tmp_path / "kb", names)
    write_lines(few, document("1", [{"mention": "odd", "ids": ["X1"]}], ""))
    own = build_assets(tmp_path / "own", tmp_path / "kb")
    done = learn(own, tmp_path / "own", few, target_precision=0.5)
    assert done.left_out.keys() == {"ranker"}
    assert done.manifest["calibrator"]["fitted_on"] == {"names": "of the knowledge base"}
    assert links(done.assets, ["odd"]) == ["X1"]


def test_what_is_remembered_is_not_forgotten_in_silence(place, learned, tmp_path):
    lines = (place / "gold.jsonl").read_text("utf-8").splitlines(keepends=True)
    other = tmp_path / "other.jsonl"
    other.write_text("".join(lines[3:]), encoding="utf-8")
    with pytest.raises(MedlinkError, match=r"E220.* 9 mentions.*other\.jsonl.*heart abscess"):
        learn(learned.assets, tmp_path / "out", other)
    line = json.dumps(document("more", [{"mention": "odd heart", "ids": ["D0"]}], ""))
    other.write_text("".join([*reversed(lines), line]), encoding="utf-8")
    done = learn(learned.assets, tmp_path / "more", other, target_precision=0.5)
    assert done.names == 1 and links(done.assets, ["odd heart", "heart carcinoma"]) == ["D0"] * 2


def test_bad_input(place, learned, tmp_path):
    plain, gold = Assets(place / "plain"), place / "gold.jsonl"
    for assets in (plain, learned.assets):
        with pytest.raises(MedlinkError, match="E107"):
            learn(assets, tmp_path / "out", tmp_path / "none.jsonl")
    with pytest.raises(MedlinkError, match="E302"):
        learn(plain, tmp_path / "out", gold, top=1)
    (tmp_path / "file").write_text("")
    with pytest.raises(MedlinkError, match="E109"):
        learn(plain, tmp_path / "file" / "out", gold)
    (tmp_path / "bad.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(MedlinkError, match="E40"):
        learn(Assets(place / "plain"), tmp_path / "out", tmp_path / "bad.jsonl")
    assert not (tmp_path / "out").exists()


def test_mentions_of_white_space_teach_nothing(place, tmp_path):
    blank = document("1", [{"mention": " ", "ids": ["D0"]}], "")
    gold = write_lines(tmp_path / "blank.jsonl", blank)
    done = learn(Assets(place / "plain"), tmp_path / "blank", gold)
    assert done.left_out.keys() == {"ranker"} and not done.names


def test_a_reranker_that_no_longer_fits_is_named(place, tmp_path):
    plain = Assets(place / "plain")
    write_variant(plain, tmp_path / "own", {"reranker": {"fingerprint": "f", "weight": 0.1}})
    done = learn(
        Assets(tmp_path / "own"), tmp_path / "own", place / "gold.jsonl", target_precision=0.5
    )
    assert done.left_out.keys() == {"reranker"} == done.manifest["left_out"].keys() & {"reranker"}
    assert done.manifest.get("reranker") is None


def test_defaults_are_written_once_in_effect():
    assert signature(learn_command).parameters["top"].default == TOP
    assert signature(learn_command).parameters["target_precision"].default == TARGET_PRECISION


def test_ids_that_the_terminology_lacks_become_concepts(place, tmp_path):
    text = "quorbid fever"
    line = json.dumps(document("z", [{"mention": text, "ids": ["Z9"]}], ""))
    gold = tmp_path / "gold.jsonl"
    gold.write_text(f"{(place / 'gold.jsonl').read_text('utf-8')}{line}\n")
    done = learn(
        Assets(place / "plain"), tmp_path / "out", gold, new_concepts=True, target_precision=0.5
    )
    assert links(done.assets, [text]) == ["Z9"]


def test_the_command_says_which_assets_it_may_replace(place, learned, tmp_path):
    Assets(place / "plain").copy_to(tmp_path / "own")
    before = (tmp_path / "own" / "manifest.json").read_bytes()
    arguments = ["learn", str(tmp_path / "own"), str(place / "gold.jsonl")]
    for more in ([], ["--in-place", "--output", str(tmp_path / "out")]):
        result = CliRunner().invoke(app, [*arguments, *more])
        assert result.exit_code == 2 and "--in-place" in result.output
        assert (tmp_path / "own" / "manifest.json").read_bytes() == before
        assert not (tmp_path / "out").exists()
    result = CliRunner().invoke(app, [*arguments, "--in-place", "--target-precision", "0.5"])
    assert result.exit_code == 0, result.output
    said = {line.partition(":")[0] for line in result.output.splitlines()}
    assert {"gain", "links", "memory", "ranker", "threshold"} <= said
    assert str(tmp_path / "own") in said
    assert Assets(tmp_path / "own").manifest["calibrator"] == learned.manifest["calibrator"]


def test_the_earlier_models_stay_where_they_are_better(place, tmp_path, monkeypatch):
    """What the text says is remembered all the same."""
    monkeypatch.setattr(Links, "is_better_than", lambda self, other: False)
    plain = Assets(place / "plain")
    done = learn(plain, tmp_path / "out", place / "gold.jsonl", target_precision=0.5)
    assert done.kept and "fewer right links" in done.left_out["models"]
    made = Assets(tmp_path / "out", verify=True)
    assert (made.path / CALIBRATOR).read_bytes() == (plain.path / CALIBRATOR).read_bytes()
    assert made.manifest["calibrator"] == plain.manifest["calibrator"]
    assert made.manifest["fusion"] == plain.manifest["fusion"]
    assert made.engine(calibrator=True).parts.calibrator is not None
    texts = [f"{site} {kind}" for site, kind in PAIRS[:9]]
    assert links(made, texts) == [f"D{n}" for n in range(9)]


def links_like(pairs):
    """Make links of (score, whether the first candidate is right); those from 0.5 on are made."""
    scores, first = (np.asarray(column) for column in zip(*pairs, strict=True))
    return Links(first.astype(bool), scores >= 0.5, scores.astype(float), np.ones(len(first), bool))


def test_models_are_better_that_give_as_many_right_links_at_the_same_precision():
    before = links_like([(0.9, 1), (0.8, 1), (0.7, 0), (0.4, 1)])
    assert (before.right, before.wrong, before.nil) == (2, 1, 1)
    assert before.is_better_than(before)
    surer = links_like([(0.9, 1), (0.3, 1), (0.2, 0), (0.1, 1)])
    assert surer.right < before.right and surer.is_better_than(before), "a lower threshold does it"
    assert not links_like([(0.9, 0), (0.9, 1), (0.9, 0), (0.4, 1)]).is_better_than(before)
    assert links_like([(0.9, 1), (0.9, 1), (0.9, 0), (0.4, 0)]).is_better_than(before)
    assert before.is_better_than(links_like([(0.1, 1), (0.2, 0)])), "nothing was linked"


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.4, 0.6, 0.9]), st.booleans()), min_size=1),
       st.floats(0, 1))  # fmt: skip
def test_the_most_right_links_at_a_precision(pairs, precision):
    counts = []
    for threshold in (0.1, 0.4, 0.6, 0.9, 1.0):
        made = [right for score, right in pairs if score >= threshold]
        if sum(made) >= precision * len(made):
            counts.append(sum(made))
    assert links_like(pairs).right_at(precision) == max(counts)


WORDS = [f"{a}{b}{c}" for a in "bcdfghjklm" for b in "aeiou" for c in ("nosis", "ritis", "loma")]


@pytest.fixture(scope="module")
def everyday(tmp_path_factory):
    """A terminology of single words, and text in which one name in six means something else."""
    path = tmp_path_factory.mktemp("everyday")
    concepts = [
        Concept(f"E{n}", word, (Name(word), Name(f"{word} disease of the {word[::-1]}")))
        for n, word in enumerate(WORDS)
    ]
    build_kb(path / "kb", concepts)
    docs = []
    for doc in range(60):
        means = {n: n + 40 if n % 6 == 0 else n for n in (doc, doc + 60)}
        mentions = [{"mention": WORDS[n], "ids": [f"E{id}"]} for n, id in means.items()]
        whole = f"{WORDS[doc]} disease of {WORDS[doc][::-1]}"
        mentions.append({"mention": whole, "ids": [f"E{doc}"]})
        docs.append(document(str(doc), mentions, " and "))
    gold = write_lines(path / "gold.jsonl", *docs)
    return build_assets(path / "assets", path / "kb"), gold


@pytest.mark.parametrize("target", [0.5, 0.95, 1.0])
def test_everyday_names_stay_links_whatever_precision_is_asked(everyday, target, tmp_path):
    assets, gold = everyday
    done = learn(assets, tmp_path / "out", gold, target_precision=target)
    unsaid = WORDS[120:]
    assert links(assets, unsaid) == [f"E{n}" for n in range(120, len(WORDS))]
    for change in (str, str.title, str.upper):
        assert links(done.assets, map(change, unsaid)) == links(assets, unsaid)
    assert done.after.right >= done.before.right or done.kept

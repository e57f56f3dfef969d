"""Weak labels, and an NER that is trained on them from the command line."""

import json
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_medlink.assets import Assets
from spacy_medlink.errors import MedlinkError
from tests.training.conftest import Call
from training import weak_ner
from training.weak_labels import SPANS_KEY, Labeller, OtherNames
from training.weak_ner import CONFIGS, PIPELINE, gold_docs, read_texts, train_ner

TEXTS = [
    "He had asthma and a pulmonary embolism.",
    "She came with fever and a headache.",
    "No pneumonia was seen.",
    "Hypertension was known, and atrial fibrillation.",
]
FEW = {"training.max_steps": 4, "training.eval_frequency": 2}


@pytest.fixture(scope="module")
def labeller(tiny_assets: Assets) -> Labeller:
    return Labeller(tiny_assets.path, "SIGN")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "notes"
    place.mkdir()
    for number, text in enumerate(TEXTS):
        (place / f"{number}.txt").write_text(text, "utf-8")
    return place


def test_names_are_mentions(labeller: Labeller) -> None:
    doc, *_ = labeller.pipe(TEXTS)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("asthma", "SIGN"),
        ("pulmonary embolism", "SIGN"),
    ]
    assert {span.text for span in doc.spans[SPANS_KEY]} >= {"asthma", "pulmonary embolism"}


def test_what_is_unsure_has_no_label(labeller: Labeller, monkeypatch: pytest.MonkeyPatch) -> None:
    probabilities = {"asthmatic": 0.9, "infarction": 0.9, "fibrillation": 0.75, "walked": 0.3}
    monkeypatch.setattr(labeller, "_ask", lambda words: None)
    monkeypatch.setattr(labeller, "_threshold", None)
    monkeypatch.setattr(labeller, "_probabilities", probabilities)
    (doc,) = labeller.pipe([" ".join([*probabilities, "asthma"])])
    # Names end with the second and third, which is less sure; the fourth is no mention for sure.
    assert [token.ent_iob_ for token in doc] == ["", "B", "", "O", "B"]
    (copy,) = DocBin(docs=[doc]).get_docs(doc.vocab)
    assert [token.ent_iob_ for token in copy] == ["", "B", "", "O", "B"]


def test_proposals_have_no_label(labeller: Labeller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labeller, "_ask", lambda words: None)
    monkeypatch.setattr(labeller, "_threshold", 0.01)  # all runs of words of names that end as they
    monkeypatch.setattr(labeller, "_probabilities", {"pulmonary": 0.0, "diabetes": 0.0})
    (doc,) = labeller.pipe(["pulmonary diabetes"])
    assert not doc.ents and [token.ent_iob for token in doc] == [0, 0]


@pytest.mark.parametrize(("unsure", "sure"), [(0.0, 0.5), (0.9, 0.8), (0.5, 1.5)])
def test_bad_probabilities(tiny_assets: Assets, unsure: float, sure: float) -> None:
    with pytest.raises(MedlinkError, match="E302"):
        Labeller(tiny_assets.path, "SIGN", sure=sure, unsure=unsure)


def test_names_are_of_the_language(labeller: Labeller, tiny_assets: Assets) -> None:
    assert "Asthma" in labeller.names() and "Lungenentzündung" not in labeller.names()
    assert "asma" in Labeller(tiny_assets.path, "SIGN", lang="es").names()


def test_other_names() -> None:
    nlp = spacy.blank("en")
    doc = Doc(
        nlp.vocab,
        words=["Asthma", ",", "asthma", "or", "MI", "again", "."],
        spaces=[False, True, True, True, True, False, False],
        ents=["B-X", "O", "B-X", "", "B-X", "O", "O"],
    )
    new = OtherNames(["Fever, Yellow", "MS"])(doc, nlp)
    # A mention has one name, which is read from its index; short forms stay.
    assert new.text == "Yellow Fever, yellow fever or MI again."
    assert [token.ent_iob_ for token in new] == [*"BIOBI", "", *"BOO"]
    assert OtherNames([])(doc, nlp).text == doc.text


def test_texts_alone(
    folder: Path,
    tmp_path: Path,
    tiny_assets: Assets,
    call: Call,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From the command line to a pipeline that spaCy loads."""
    output = tmp_path / "ner"
    changes = [f"--set={key}={json.dumps(value)}" for key, value in FEW.items()]
    code, out, err = call(
        weak_ner.main, folder, "--assets", tiny_assets.path, "--output", output, *changes
    )
    assert code == 0, err
    assert f"{output / PIPELINE}: a spaCy pipeline" in out
    nlp = spacy.load(output / PIPELINE)
    assert nlp.pipe_names == ["names", "ner"] and nlp.get_pipe("ner").labels == ("CONCEPT",)
    docs = list(DocBin().from_disk(output / "weak" / "train.spacy").get_docs(nlp.vocab))
    assert len(docs) == 9  # three, and two copies of each


def test_gold_comes_last(folder: Path, tmp_path: Path, tiny_assets: Assets) -> None:
    """The second training goes on from the first, which half of the dictionary was hidden from."""
    gold = tmp_path / "gold.jsonl"
    mention = {"start": 0, "end": 6, "mention": "Asthma", "ids": ["HP:0002099"]}
    line = {"text": "Asthma was known.", "mentions": [mention]}
    gold.write_text((json.dumps(line) + "\n") * 4, "utf-8")
    train_ner(tiny_assets.path, tmp_path / "ner", [folder], gold=gold, dev=gold, values=FEW)
    config = spacy.util.load_config(tmp_path / "ner" / "gold" / "config.cfg")
    assert config["components"]["ner"]["source"].endswith("model-best")
    config = spacy.util.load_config(tmp_path / "ner" / "weak" / "config.cfg")
    assert config["components"]["ner"]["model"]["tok2vec"]["embed"]["hidden"] == 0.5
    nlp = spacy.load(tmp_path / "ner" / PIPELINE)
    doc = nlp("It is asthma.")
    assert [span.text for span in doc.spans["names"]] == ["asthma"]


def test_spans(folder: Path, tmp_path: Path, tiny_assets: Assets) -> None:
    train_ner(
        tiny_assets.path, tmp_path / "ner", [folder], config=CONFIGS / "spancat.cfg", values=FEW
    )
    assert spacy.load(tmp_path / "ner" / PIPELINE).pipe_names == ["tok2vec", "spancat"]


def test_transformer(folder: Path, tmp_path: Path, tiny_assets: Assets, tiny_encoder: Path) -> None:
    pytest.importorskip("spacy_transformers")
    train_ner(tiny_assets.path, tmp_path / "ner", [folder], transformer=tiny_encoder, values=FEW)
    nlp = spacy.load(tmp_path / "ner" / PIPELINE)
    assert nlp.pipe_names == ["names", "transformer", "ner"]
    doc = nlp("It is asthma.")  # held, since its spans do not hold it
    assert [span.text for span in doc.spans["names"]] == ["asthma"]


def test_types_that_the_terminology_lacks_are_left_out(tmp_path: Path, tiny_assets: Assets) -> None:
    gold = tmp_path / "gold.jsonl"
    mentions = [
        {"start": 0, "end": 6, "mention": "Asthma", "ids": ["HP:0002099"], "type": "Disease"},
        {"start": 10, "end": 17, "mention": "aspirin", "ids": ["D001241"], "type": "Chemical"},
        {"start": 18, "end": 23, "mention": "fever", "ids": ["HP:0001945"], "type": "Disease"},
    ]
    gold.write_text(json.dumps({"text": "Asthma of aspirin fever", "mentions": mentions}), "utf-8")
    (doc,) = gold_docs(spacy.blank("en"), gold, tiny_assets.kb, "SIGN")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Asthma", "SIGN"), ("fever", "SIGN")]


def test_texts_are_read_once_and_without_annotations(folder: Path, tmp_path: Path) -> None:
    lines = tmp_path / "more.jsonl"
    lines.write_text(
        json.dumps({"text": "New.", "mentions": 3}) + "\n\n" + '{"text": ""}\n', "utf-8"
    )
    assert read_texts([folder, lines, folder]) == [*TEXTS, "New."]


def test_bad_input(folder: Path, tmp_path: Path, tiny_assets: Assets, call: Call) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"text": " "}\n', "utf-8")
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_text('{"text": "Nothing of note."}\n', "utf-8")
    for arguments, message in [
        ([empty], "E532"),
        ([foreign], "E533"),
        ([folder, "--lang", "zz"], "E604"),
        ([tmp_path / "none"], "E107"),
        ([folder, "--gold", empty], "E401"),
        ([folder, "--branch", "HP:9"], "E106"),
    ]:
        code, _, err = call(
            weak_ner.main, *arguments, "--assets", tiny_assets.path, "--output", tmp_path / "ner"
        )
        assert code == 1 and f"[{message}]" in err, (arguments, err)
    assert call(weak_ner.main, "--assets", tiny_assets.path)[0] == 2
    assert not (tmp_path / "ner").exists()

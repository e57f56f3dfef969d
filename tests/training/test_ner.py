"""An NER that is trained on annotated text, from the command line."""

import json

import pytest
import spacy
from spacy.tokens import DocBin

from tests.lines import note, write_lines
from training import ner
from training.ner import CONFIGS, PIPELINE, gold_docs, main, names_in

FEW = {"training.max_steps": 4, "training.eval_frequency": 2}


@pytest.fixture
def gold(tmp_path):
    line = note("Asthma was known.", ("Asthma", "HP:0002099"))
    return write_lines(tmp_path / "gold.jsonl", *[line] * 12)


def test_from_the_command_line_to_a_pipeline(gold, tmp_path, tiny_assets, call):
    output = tmp_path / "ner"
    changes = [f"--set={key}={json.dumps(value)}" for key, value in FEW.items()]
    code, out, err = call(
        ner.main, gold, "--assets", tiny_assets.path, "--output", output, *changes
    )
    assert code == 0, err
    assert f"{output / PIPELINE}: a spaCy pipeline" in out
    nlp = spacy.load(output / PIPELINE)
    assert nlp.pipe_names == ["names", "ner"] and nlp.get_pipe("ner").labels == ("CONCEPT",)
    doc = nlp("It is asthma.")  # held, since its spans do not hold it
    assert [span.text for span in doc.spans["names"]] == ["asthma"]
    for part, count in (("train", 10), ("dev", 2)):
        docs = list(DocBin().from_disk(output / f"{part}.spacy").get_docs(nlp.vocab))
        assert [len(doc.ents) for doc in docs] == [1] * count


def test_names_are_of_the_language(tiny_assets):
    assert "Asthma" in names_in(tiny_assets, "en")
    assert "Lungenentzündung" not in names_in(tiny_assets, "en")
    assert "asma" in names_in(tiny_assets, "es")


def test_transformer(gold, tmp_path, tiny_assets, tiny_encoder):
    pytest.importorskip("spacy_transformers")
    config = CONFIGS / "ner_transformer.cfg"
    values = [f"{key}={value}" for key, value in FEW.items()]
    values.append(f"paths.transformer={tiny_encoder}")
    main(gold, tiny_assets.path, tmp_path / "ner", config=config, set_=values, device="cpu")
    nlp = spacy.load(tmp_path / "ner" / PIPELINE)
    assert nlp.pipe_names == ["names", "transformer", "ner"]
    doc = nlp("It is asthma.")  # held, since its spans do not hold it
    assert [span.text for span in doc.spans["names"]] == ["asthma"]


def test_types_that_the_terminology_lacks_are_left_out(tmp_path, tiny_assets):
    gold = tmp_path / "gold.jsonl"
    mentions = [
        {"start": 0, "end": 6, "mention": "Asthma", "ids": ["HP:0002099"], "type": "Disease"},
        {"start": 10, "end": 17, "mention": "aspirin", "ids": ["D001241"], "type": "Chemical"},
        {"start": 18, "end": 23, "mention": "fever", "ids": ["HP:0001945"], "type": "Disease"},
    ]
    gold.write_text(json.dumps({"text": "Asthma of aspirin fever", "mentions": mentions}), "utf-8")
    (doc,) = gold_docs(spacy.blank("en"), gold, tiny_assets.kb)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("Asthma", "CONCEPT"), ("fever", "CONCEPT"),
    ]  # fmt: skip


def test_bad_input(gold, tmp_path, tiny_assets, call):
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"text": " "}\n', "utf-8")
    for arguments, code in [
        ([gold, "--lang", "zz"], "E604"),
        ([tmp_path / "none"], "E107"),
        ([empty], "E401"),
    ]:
        status, _, err = call(
            ner.main, *arguments, "--assets", tiny_assets.path, "--output", tmp_path / "ner"
        )
        assert status == 1 and f"[{code}]" in err, (arguments, err)
    assert call(ner.main, "--assets", tiny_assets.path)[0] == 2
    assert not (tmp_path / "ner").exists()

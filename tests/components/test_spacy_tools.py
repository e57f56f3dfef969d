"""What spaCy's own tools make of the linker: its commands, displaCy, the scorer, memory zones."""

import json
import pickle
import re

import pytest
import spacy
from spacy import displacy
from spacy.cli import app
from spacy.cli.find_threshold import find_threshold
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from typer.testing import CliRunner

from spacy_medlink.components.extensions import SPAN_ATTRIBUTES
from tests.pipelines import doc_with, pipeline, values

GOLD = [
    ("an old heart attack", "heart attack", "HP:0001658"),
    ("raised pyrexia there", "pyrexia", "HP:0001945"),
    ("some asthmatic state", "asthmatic state", "HP:0002315"),  # which is wrong
    ("the high blood pressures", "high blood pressures", "HP:0000822"),
]
P, R, F = "75.00", "75.00", "75.00"  # of the mentions that are found; "asthmatic" is one, too


@pytest.fixture(scope="module")
def saved(tiny_assets, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "pipeline"
    pipeline(tiny_assets).to_disk(path)
    return path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Gold mentions in spaCy's format, as `spacy evaluate` and the others take them."""
    nlp = spacy.blank("en")
    docs = []
    for text, mention, id in GOLD:
        doc = doc_with(nlp, text, mention)
        (ent,) = doc.ents
        doc.set_ents([Span(doc, ent.start, ent.end, label="CONCEPT", kb_id=id)])
        docs.append(doc)
    path = tmp_path_factory.mktemp("corpus") / "dev.spacy"
    DocBin(docs=docs).to_disk(path)
    return path


def spacy_command(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def test_evaluate(saved, corpus, tmp_path):
    """What spaCy prints of an NER; the links and the places alone in the file."""
    metrics = tmp_path / "metrics.json"
    shown = spacy_command("evaluate", saved, corpus, "--output", metrics)
    assert dict(re.findall(r"NER ([PRF]) +([\d.]+)", shown)) == {"P": P, "R": R, "F": F}
    assert re.search(rf"^CONCEPT +{P} +{R} +{F}", shown, re.MULTILINE)
    scores = json.loads(metrics.read_text())
    assert [f"{100 * scores[f'mentions_{part}']:.2f}" for part in "prf"] == [P, R, F]
    assert [scores[f"nel_micro_{part}"] for part in "prf"] == [0.75] * 3
    assert scores["acc@1"] == 0.75 <= scores["acc@5"] <= 1
    spacy_command("evaluate", saved, corpus, "--per-component", "--output", metrics)
    assert json.loads(metrics.read_text())["medical_linker"]["acc@1"] == 0.75


def test_evaluate_says_when_no_label_can_fit(saved, tmp_path):
    nlp = spacy.load(saved)
    docs = [doc_with(nlp, text, mention, label="Disease") for text, mention, _ in GOLD]
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    with pytest.warns(UserWarning, match=r"W331.*\(CONCEPT\).*theirs: Disease"):
        scores = nlp.evaluate(examples)
    assert scores["ents_f"] == 0
    assert f"{100 * scores['mentions_f']:.2f}" == F


def test_evaluate_a_group_of_spans(tiny_assets, tmp_path):
    config = {"assets": str(tiny_assets.path), "spans_key": "sc", "label": "X"}
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions", config=config)
    nlp.to_disk(tmp_path / "saved")
    docs = []
    for text, mention, _ in GOLD:
        doc = doc_with(nlp, text, mention, label="X")
        doc.spans["sc"] = doc.ents
        docs.append(doc)
    DocBin(docs=docs).to_disk(tmp_path / "dev.spacy")
    shown = spacy_command("evaluate", tmp_path / "saved", tmp_path / "dev.spacy")
    assert dict(re.findall(r"SPAN ([PRF]) +([\d.]+)", shown)) == {"P": P, "R": R, "F": F}
    without = [Example(nlp.make_doc("a fever"), nlp.make_doc("a fever"))]
    assert nlp.evaluate(without)["mentions_f"] is nlp.evaluate(without)["spans_sc_f"] is None


def test_the_keys_of_the_scorer(saved, corpus):
    nlp = spacy.load(saved)
    examples = [
        Example(nlp.make_doc(doc.text), doc)
        for doc in DocBin().from_disk(corpus).get_docs(nlp.vocab)
    ]
    keys = {"acc@1", "acc@5", "nel_micro_p", "nel_micro_r", "nel_micro_f"}
    keys |= {"mentions_p", "mentions_r", "mentions_f"}
    scores = nlp.evaluate(examples)
    assert keys <= scores.keys()
    assert all(0 <= scores[key] <= 1 for key in keys)
    weights = nlp.config["training"]["score_weights"]
    assert set(weights) <= keys, "what training is chosen by is what is measured"
    assert weights["acc@1"] == 1, "training is chosen by what it trains"
    assert nlp.evaluate([])["acc@1"] is None


def test_find_threshold(saved, corpus):
    best, score, scores = find_threshold(
        saved, corpus, "medical_linker", "threshold", "nel_micro_f", n_trials=5
    )
    assert len(scores) == 5
    assert score == max(scores.values()) == scores[best] >= 0.75
    assert len(set(scores.values())) > 1, "the threshold changes what is linked"


CONFIG = """
[paths]
train = null
dev = null

[nlp]
lang = "en"
pipeline = ["medical_mentions", "medical_linker"]

[components]

[components.medical_mentions]
factory = "medical_mentions"
assets = "{assets}"

[components.medical_linker]
factory = "medical_linker"
assets = "{assets}"
threshold = 0.5

[components.medical_linker.fusion]
@misc = "spacy-medlink.ReciprocalRankFusion.v1"
"""


def test_fill_config_then_debug_config(tiny_assets, corpus, tmp_path):
    base, full = tmp_path / "base.cfg", tmp_path / "config.cfg"
    base.write_text(CONFIG.format(assets=tiny_assets.path.as_posix()), encoding="utf8")
    spacy_command("init", "fill-config", base, full)
    filled = spacy.util.load_config(full)["components"]["medical_linker"]
    assert (filled["threshold"], filled["top_k"], filled["merge"]) == (0.5, 5, None)
    assert filled["fusion"]["@misc"] == "spacy-medlink.ReciprocalRankFusion.v1"
    paths = ["--paths.train", str(corpus), "--paths.dev", str(corpus)]
    assert "Config is valid" in spacy_command("debug", "config", full, *paths)
    full.write_text(full.read_text().replace("top_k = 5", 'top_k = "many"'), encoding="utf8")
    result = CliRunner().invoke(app, ["debug", "config", str(full), *paths])
    assert result.exit_code != 0
    assert "top_k" in result.output


def test_benchmark_speed(saved, corpus):
    shown = spacy_command(
        "benchmark", "speed", saved, corpus, "--batches", 30, "--warmup", 1, "--batch-size", 2
    )
    assert "Mean:" in shown and "words/s" in shown


def test_displacy_links_concepts_to_their_pages(saved):
    """Of each id the page of its vocabulary, where there is one; NIL has none."""
    nlp = spacy.load(saved)
    linker = nlp.get_pipe("medical_linker")
    doc = nlp("A heart attack and fever.")
    options = pickle.loads(pickle.dumps(linker.displacy_options))  # as another process gets them
    html = displacy.render(doc, style="ent", options=options, jupyter=False)
    for id in ("HP:0001658", "HP:0001945"):
        assert re.search(rf'href="https://hpo.jax.org/browse/term/{id}">{id}</a>', html)
    linker.threshold = 1
    nil = doc_with(nlp, "some strange plasma", "strange plasma")
    for name, pipe in nlp.components:
        nil = pipe(nil) if name == "medical_linker" else nil
    assert nil.ents[0].kb_id_ == "NIL"
    html = displacy.render(nil, style="ent", options=linker.displacy_options, jupyter=False)
    assert 'href="#">NIL</a>' in html


def test_displacy_links_the_groups_of_the_linker(tiny_assets):
    nlp = pipeline(tiny_assets, mentions=False, spans_key="mine")
    doc = nlp.make_doc("an old heart attack")
    doc.spans["mine"] = [Span(doc, 2, 4, label="DISO")]
    options = nlp.get_pipe("medical_linker").displacy_options
    html = displacy.render(nlp(doc), style="span", options=options, jupyter=False)
    assert 'href="https://hpo.jax.org/browse/term/HP:0001658"' in html


def test_analyze_pipes(tiny_assets):
    nlp = pipeline(tiny_assets)
    nlp.add_pipe(
        "medical_linker", name="second", config={"assets": str(tiny_assets.path), "prefix": "b_"}
    )
    analysis = nlp.analyze_pipes()
    assert not any(analysis["problems"].values())
    linker = analysis["summary"]["medical_linker"]
    assert linker["requires"] == ["doc.ents"]
    assert {"doc.ents", "token.ent_kb_id", "span._.cui"} <= set(linker["assigns"])
    assert set(linker["scores"]) == {"acc@1", "acc@5", "nel_micro_p", "nel_micro_r", "nel_micro_f"}
    assert linker["retokenizes"] is False
    first = analysis["attrs"]["doc.ents"]
    assert first["assigns"][0] == "medical_mentions"
    nlp.remove_pipe("medical_mentions")
    assert nlp.analyze_pipes()["problems"]["medical_linker"] == ["doc.ents"]


def test_memory_zones(saved):
    """Strings that are first met in a zone are forgotten at its end: links must not be."""
    nlp = spacy.load(saved)
    text = "A heart attack, asthma and Fieber."
    want = values(spacy.load(saved)(text).ents)
    for _ in range(3):
        with nlp.memory_zone():
            docs = list(nlp.pipe([text, "pneumonia", text]))
            assert values(docs[0].ents) == values(docs[2].ents) == want
            data = docs[0].to_bytes()
        assert "HP:0001658" not in nlp.vocab.strings
        again = Doc(spacy.blank("en").vocab).from_bytes(data)
        assert [ent.kb_id_ for ent in again.ents] == [one["kb_id"] for one in want]
    assert values(nlp(text).ents) == want
    with nlp.memory_zone():
        assert values(nlp(text).ents) == want
    assert values(nlp(text).ents) == want


def test_attributes_are_those_of_the_analysis():
    """The decorator's list cannot be made at run time: it must not be forgotten."""
    meta = spacy.blank("en").get_factory_meta("medical_linker")
    listed = {name.removeprefix("span._.") for name in meta.assigns if name.startswith("span._.")}
    assert listed == set(SPAN_ATTRIBUTES)

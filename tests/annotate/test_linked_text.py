"""Linking in one line: what comes back, in a notebook, as a table, as another format."""

import json

import pytest

import spacy_medlink
from spacy_medlink.assets import Assets
from spacy_medlink.errors import MedlinkError

TEXT = "No fever, but <script>alert(1)</script> asthma 😀."


def test_one_line(tiny_assets: Assets) -> None:
    found = spacy_medlink.link(TEXT, str(tiny_assets.path))
    assert repr(found) == "<LinkedText {'fever': HP:0001945, 'asthma': HP:0002099}>"
    fever, asthma = found
    assert (fever["cui"], fever["negated"], asthma["negated"]) == ("C0015967", True, False)
    assert TEXT[asthma["start"] : asthma["end"]] == asthma["mention"]
    assert list(found) == [fever, asthma] == found[:]
    bundle = json.loads(found.to_format("fhir", "note 1"))
    assert bundle["entry"][0]["resource"]["parameter"][0]["valueString"] == "note 1"
    with pytest.raises(MedlinkError, match="E108"):
        found.to_format("word")


def test_a_linker_is_opened_once(tiny_assets: Assets) -> None:
    linker = spacy_medlink.TextLinker.open(tiny_assets.path, threshold=1.0, top_k=1)
    texts = ["heart attacks", "", "fever"]
    assert [len(one) for one in linker.pipe(texts)] == [1, 0, 1]
    (nil,) = linker("heart attacks")
    assert (nil["ids"], len(nil["candidates"])) == ([], 1)
    assert repr(linker("heart attacks")) == "<LinkedText {'heart attacks': NIL}>"
    linker.nlp.max_length = 5
    assert len(linker("fever and asthma")) == 2, "a text may have any length"


def test_a_notebook_shows_it_and_runs_nothing(tiny_assets: Assets) -> None:
    html = spacy_medlink.link(TEXT, str(tiny_assets.path))._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert 'href="https://hpo.jax.org/browse/term/HP:0001945"' in html
    assert "<style" not in html, "it leaves the notebook as it is"
    other = {"codes": {}, "name": "X"}  # a concept without a page, and one within its mention
    links = [{**other, "start": 0, "end": end, "ids": [f"<{end}>"]} for end in (2, 5)]
    shown = spacy_medlink.LinkedText("a b c", links)._repr_html_()
    assert "&lt;5&gt;" in shown and "&lt;2&gt;" not in shown and "href" not in shown
    empty = spacy_medlink.LinkedText("<b>", [])
    assert "&lt;b&gt;" in empty._repr_html_()
    assert repr(empty) == "<LinkedText {}>"

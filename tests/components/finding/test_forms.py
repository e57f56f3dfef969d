"""Names by words that say the same, in a pipeline with a linker."""

from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language

from spacy_medlink.assets import Assets
from spacy_medlink.types import Concept, Name
from tests.mutants import refused
from tests.pipelines import finder, texts_and_ids
from tests.tables import table
from tests.tiny import assets_of, concepts_of

PLACES = [f"at{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
RECORDS = concepts_of({
    **{place: [f"renal {place}", f"kidney {place}"] for place in PLACES},
    "STONE": "renal stone", "CYST": "kidney cyst",
})  # fmt: skip

TEXT = "A stone of the kidney, renal cysts, left renal stone; renal left cyst."
FOUND = [("stone of the kidney", "STONE"), ("renal cysts", "CYST")]


def pipeline(assets: Assets, **config: Any) -> Language:
    return finder(assets, linking={"threshold": 0.0}, **config)


def links(nlp: Language) -> list[tuple[str, str]]:
    return texts_and_ids(nlp, TEXT)


def test_words_that_say_the_same(assets):
    nlp = pipeline(assets)
    assert links(nlp) == [*FOUND, ("renal stone", "STONE")]
    doc = nlp(TEXT)
    assert [ent._.reading for ent in doc.ents] == ["renal stone", "kidney cyst", ""]


@table(__file__, "words_of_a_cluster_say_the_same")
def test_words_of_a_cluster_say_the_same(tmp_path, text, found):
    name = "renal anomaly"
    nlp = pipeline(assets_of(tmp_path, [Concept("RENAL", name, (Name(name),))]))
    doc = nlp(text)
    assert [ent.text for ent in doc.ents] == found
    assert {ent._.cui for ent in doc.ents} <= {"RENAL"}
    exact = nlp(name).ents[0]
    assert all(ent._.candidates[0]["prob"] < exact._.candidates[0]["prob"] for ent in doc.ents)


def test_stop_texts_are_those_that_stand_there_and_those_that_are_read(assets):
    for stop in ("renal cyst", "kidney cysts"):
        assert ("renal cysts", "CYST") not in links(pipeline(assets, stop=[stop]))


def test_coordinations_read_them_too(assets):
    nlp = pipeline(assets)
    doc = nlp("renal abscesses and cysts, stones or cysts of kidney")
    assert {ent.kb_id_ for ent in doc.ents} >= {"CYST"}


@pytest.mark.parametrize("forms", [b"3", b'["renal"]', b'{"renal": 3}', b"[" * 100_000, b"{"])
def test_damaged_forms(assets, tmp_path, forms):
    pipeline(assets).to_disk(tmp_path)
    path = tmp_path / "medical_mentions" / "exact" / "forms.npy"
    refused(path, np.frombuffer(forms, dtype=np.uint8), lambda: spacy.load(tmp_path)(TEXT))

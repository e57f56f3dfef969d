"""`_.cui` where a concept has several codes in `cui_scheme`."""

import json

import pytest
from typer.testing import CliRunner

from spacy_medlink import link
from spacy_medlink.annotate.documents import Document
from spacy_medlink.annotate.records import Where, record_of
from spacy_medlink.assets.starter import keys_of_code
from spacy_medlink.cli.app import app
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.resolve import CodeChooser
from tests import tiny
from tests.pipelines import doc_with, pipeline
from tests.tiny import kb_of


def concept(id, *names, **codes):
    found = {vocabulary: tuple(own.split()) for vocabulary, own in codes.items()}
    return tiny.concept(id, *names, source="TEST", codes=found)


RECORDS = [
    # Two codes that the starter terminology knows: that of a name is chosen by the name.
    concept("T:1", "Seizure", "Seizures", "Epilepsy", UMLS="C0014544 C0036572"),
    # The first code is shared with another concept, whose only code it is.
    concept("T:2", "Shaking palsy", "Trembling disease", UMLS="C9000001 C9000002"),
    concept("T:3", "Trembling, any", UMLS="C9000001"),
    # Nothing tells them apart.
    concept("T:4", "Odd walk", UMLS="C9000005 C9000004", LOCAL="x"),
    # Another concept has the code as its id, and its name is one of this concept's.
    concept("T:5", "Broken arm", "Fracture of humerus", UMLS="C9000006 C9000007"),
    concept("C9000007", "Fracture of humerus", "Humerus break"),
    # Its own id is among its codes.
    concept("C9000009", "Long toe", UMLS="C9000008 C9000009"),
    concept("T:6", "Short toe", UMLS="C9000010"),
]


CHOICES = [
    ("seizures", "C0036572", []),
    ("Epilepsy", "C0014544", []),
    ("shaking palsy", "C9000002", ["C9000002", "C9000001"]),
    ("odd walk", "C9000005", ["C9000005", "C9000004"]),
    ("broken arm", "C9000006", ["C9000006", "C9000007"]),
    ("long toe", "C9000009", []),
    ("short toe", "C9000010", []),
]


@pytest.mark.parametrize(("text", "cui", "among"), CHOICES)
def test_the_code_that_is_meant(assets, text, cui, among):
    nlp = pipeline(assets, mentions=False, cui_scheme="UMLS", prefix="c_")
    (ent,) = nlp(doc_with(nlp, f"the {text}.", text)).ents
    assert (ent._.c_cui, ent._.c_ambiguous_codes) == (cui, among)
    assert set(among) <= set(ent._.c_codes["UMLS"])


def test_a_name_of_a_concept_that_is_the_code(tmp_path):
    kb = kb_of(tmp_path / "kb", iter(RECORDS))
    chooser, row = CodeChooser(kb), kb.row_of("T:5")
    codes = kb.codes_at(row)
    assert chooser.choose(row, codes, "UMLS", "humerus breaks") == ("C9000007", ())
    assert chooser.choose(row, codes, "UMLS", "Broken arm").code == "C9000006"
    assert chooser.choose(row, codes, "ICD10", "Broken arm") == (None, ())
    seizure = kb.row_of("T:1")
    codes = kb.codes_at(seizure)
    assert CodeChooser(kb).choose(seizure, codes, "UMLS", "seizures").among  # nobody told
    assert CodeChooser(kb, keys_of_code).choose(seizure, codes, "UMLS", "seizures").among == ()


def test_without_a_scheme_there_is_no_choice(assets):
    nlp = pipeline(assets, mentions=False)
    (ent,) = nlp(doc_with(nlp, "odd walk", "odd walk")).ents
    assert (ent._.cui, ent._.ambiguous_codes) == ("T:4", [])


def test_what_was_chosen_from_is_in_the_records(assets):
    (doc,) = pipeline(assets, cui_scheme="UMLS").pipe([text := "An odd walk."])
    record = record_of(Document("1", text, "1"), doc, Where(None, ""))
    assert list(record["mentions"][0]["ambiguous_codes"]) == ["C9000005", "C9000004"]


def test_every_verb_makes_the_same_choice(assets):
    (linked,) = link("An odd walk.", str(assets.path))
    assert (linked["cui"], linked["ambiguous_codes"]) == ("C9000005", ["C9000005", "C9000004"])
    kb = str(assets.path)
    shown = CliRunner().invoke(app, ["kb", "show", kb, "T:2", "--json"]).stdout
    assert json.loads(shown)["chosen_codes"] == {"UMLS": "C9000002"}
    lines = CliRunner().invoke(app, ["kb", "show", kb, "T:2"]).stdout
    assert "C9000001, C9000002 (cui: C9000002)" in lines


def test_codes_are_counted_once(tmp_path, monkeypatch):
    kb = kb_of(tmp_path / "kb", iter(RECORDS))
    asked = []
    kb._db.set_trace_callback(asked.append)
    chooser = CodeChooser(kb)
    for name in ("Shaking palsy", "Trembling disease"):
        row = kb.row_of("T:2")
        assert chooser.choose(row, kb.codes_at(row), "UMLS", name).code == "C9000002"
    kb._db.set_trace_callback(None)
    assert sum("group_concat" in query for query in asked) == 1
    assert kb.shared_codes("UMLS") == {"C9000001": (kb.row_of("T:2"), kb.row_of("T:3"))}
    assert kb.shared_codes("LOCAL") == kb.shared_codes('a"b') == {}


def test_equivalent_cross_references_of_mondo_come_first(tmp_path):
    path = tmp_path / "m.obo"
    path.write_text(
        "format-version: 1.4\n\n[Term]\nid: MONDO:1\nname: a\n"
        'xref: UMLS:C1 {source="MONDO:relatedTo"}\n'
        'xref: UMLS:C2 {source="DOID:1", source="MONDO:equivalentTo"}\n'
        'xref: OMIM:1 {source="MONDO:equivalentTo"}\n'
    )
    (found,) = read("obo", path)
    assert found.codes == {"UMLS": ("C2", "C1"), "OMIM": ("1",)}

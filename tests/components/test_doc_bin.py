"""Links in a DocBin, with user data and without."""

import pytest
from spacy.tokens import DocBin, Span
from spacy.vocab import Vocab

from spacy_medlink.components import extensions
from tests.pipelines import doc_with, pipeline


@pytest.fixture
def source(tiny_assets):
    """Assets that no test changes."""
    return tiny_assets


def without_user_data(nlp, text):
    """A Doc that was linked, as a plain `DocBin()` gives it back; and the Doc before."""
    doc = nlp(text)
    (again,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(Vocab())
    assert not again.user_data
    return doc, again


@pytest.fixture
def only_linker(monkeypatch):
    """A process where no other linker has been made, nor warned."""
    monkeypatch.setattr(extensions, "_PREFIXES", {})
    monkeypatch.setattr(extensions, "_TOLD_LOST", set())


def test_a_plain_doc_bin_keeps_what_the_kb_id_says(source, only_linker):
    """The concept's id is the code, unless a scheme is set; NIL has none."""
    doc, again = without_user_data(pipeline(source, deny=["HP:0001658"]), "A heart attack, fever")
    assert [ent.kb_id_ for ent in again.ents] == [ent.kb_id_ for ent in doc.ents]
    codes = [ent._.cui for ent in again.ents]
    assert codes == [ent._.cui for ent in doc.ents]
    assert "HP:0001945" in codes
    assert again.ents[0]._.candidates == []
    again.ents[0]._.cui = "C0"
    assert again.ents[0]._.cui == "C0"


@pytest.mark.parametrize("later", [False, True])
def test_a_plain_doc_bin_says_once_that_a_code_is_lost(source, only_linker, later):
    nlp = pipeline(source, **({} if later else {"cui_scheme": "ICD10CM"}))
    nlp.get_pipe("medical_linker").cui_scheme = "ICD10CM"
    doc, again = without_user_data(nlp, "type 2 diabetes and HTN")
    assert all(ent._.cui not in (None, ent.kb_id_) for ent in doc.ents)
    with pytest.warns(UserWarning, match=r"W330.*store_user_data=True") as caught:
        assert [ent._.cui for ent in again.ents] == [None, None]
    assert len(caught) == 1


def test_another_linkers_id_is_not_taken_for_the_code(source, only_linker):
    nlp = pipeline(source)
    nlp.add_pipe("medical_linker", "second", config={"assets": str(source.path), "prefix": "b_"})
    _, again = without_user_data(nlp, "a fever")
    with pytest.warns(UserWarning, match="W330"):
        assert again.ents[0]._.cui is again.ents[0]._.b_cui is None


def test_an_id_that_was_there_before_is_no_code(source, only_linker):
    """Only where a whole Doc has lost its attributes can the kb_id stand for one."""
    nlp = pipeline(source, mentions=False, labels_discard=["X"])
    doc = doc_with(nlp, "a fever and asthma", "fever", "asthma")
    first, second = doc.ents
    doc.set_ents([Span(doc, first.start, first.end, label="X", kb_id="Q38933"), second])
    doc = nlp(doc)
    assert [(ent.kb_id_, ent._.cui) for ent in doc.ents] == [
        ("Q38933", None), ("HP:0002099", "HP:0002099"),
    ]  # fmt: skip

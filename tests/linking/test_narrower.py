"""A mention whose whole is no name is linked to its head, and the link says so."""

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_medlink.linking import Linker, LinkSettings, open_linker
from spacy_medlink.retrieval.filters import Filter
from spacy_medlink.text.qualifiers import heads
from spacy_medlink.types import Mention
from spacy_medlink.workbench.mapping.mapper import Mapper
from spacy_medlink.workbench.mapping.terms import Term
from tests.tables import table
from tests.tiny import concept

NAMES = {
    "COPD": ("Chronic obstructive pulmonary disease", "COPD"),
    "HEMI": ("Hemiparesis",), "DEL": ("Delirium",), "DVT": ("Deep vein thrombosis", "DVT"),
    "DM": ("Diabetes mellitus", "DM"), "EDEMA": ("Edema",), "ANEMIA": ("Anemia",),
    "FEVER": ("Fever",), "FLASH": ("Flash",), "HTN": ("Hypertension",), "SCL": ("Sclerosis",),
    "BP": ("Blood pressure",), "ASTHMA": ("Asthma", "asthme", "asma"), "SEVERE": ("Severe asthma",),
    "ARM": ("Arm",), "DIS": ("Disease",), "COLD": ("Cold",), "HEART": ("Heart",),
}  # fmt: skip


RECORDS = [concept(id, *names, types=("T047",)) for id, names in NAMES.items()]


@pytest.fixture(scope="module")
def linker(assets):
    """A linker that links no mention by similarity alone."""
    return open_linker(assets, LinkSettings(threshold=0.85, calibrator=False))


def link(linker: Linker, text: str) -> tuple[str, str]:
    """Get the id that a text is linked to, and the match."""
    assert linker.parts.kb is not None
    found = linker.decide([Mention(text)])[0].link
    return ("NIL", "") if found is None else (linker.parts.kb.concept_at(found.row).id, found.match)


@table(__file__, "only_qualifiers_are_left_aside")
def test_only_qualifiers_are_left_aside(linker, text, id):
    assert link(linker, text) == (id, "narrower" if id != "NIL" else "")


@table(__file__, "no_link_to_a_rest")
def test_no_link_to_a_rest(linker, text):
    assert link(linker, text) == ("NIL", "")


@pytest.mark.parametrize("text", ["severe asthma", "Severe asthmas", "COPD", "fever", "arm"])
def test_a_name_is_linked_as_a_whole(linker, text):
    assert link(linker, text)[1] == "" and link(linker, text)[0] != "NIL"


def test_the_most_that_is_a_name_is_linked(linker):
    assert link(linker, "recurrent severe asthma at night") == ("SEVERE", "narrower")
    assert heads("recurrent severe asthma at night")[-1] == "asthma"


def test_a_head_is_less_sure_and_obeys_threshold_filters_and_tiers(assets):
    plain = open_linker(assets)
    narrower, whole = (
        one.link for one in plain.decide([Mention("its edema NOS"), Mention("edema")])
    )
    assert narrower and whole and whole.prob and narrower.prob
    assert narrower.prob < whole.prob and narrower.score < whole.score
    assert whole.match == "", "what is remembered of the head does not change"
    strict = plain.using(threshold=whole.prob)
    assert [one.link is None for one in strict.decide([Mention("her edema"), Mention("edema")])] \
        == [True, False]  # fmt: skip
    without = LinkSettings(only=Filter.of(deny=["EDEMA"]))
    assert link(open_linker(assets, without), "her edema")[0] == "NIL"
    assert link(open_linker(assets, LinkSettings(tiers=["ngram"])), "her edema")[1] == ""


def test_a_link_by_similarity_says_it_too(assets):
    every = open_linker(assets, LinkSettings(threshold=0.0, calibrator=False))
    assert link(every, "severe COPD") == ("COPD", "narrower")
    assert link(every, "hypertensions of men") == ("HTN", "")


def test_explanation_and_mapping_say_it(linker):
    said = linker.explain(Mention("her edema"))
    assert said.link["match"] == "narrower" and "(the mention is narrower)" in str(said)
    assert [(one["text"], one["kept"]) for one in said.forms] == [
        ("her edema", False), ("edema", True),
    ]  # fmt: skip
    assert "match" not in linker.explain(Mention("edema")).link
    (mapped,) = Mapper(linker).map([Term("her edema")])
    assert [(one.id, one.match) for one in mapped.targets] == [("EDEMA", "broader")]


def test_candidates_keep_the_match(assets, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe(
        "medical_linker",
        config={"assets": str(assets.path), "threshold": 0.85, "calibrator": False},
    )
    doc = nlp.make_doc("Severe COPD and edema.")
    doc.ents = [doc.char_span(0, 11, "D"), doc.char_span(16, 21, "D")]
    doc = nlp.get_pipe("medical_linker")(doc)
    stored = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    (again,) = DocBin().from_bytes(stored).get_docs(nlp.vocab)
    for own in (doc, Doc(nlp.vocab).from_bytes(doc.to_bytes()), again):
        firsts = [ent._.candidates[0] for ent in own.ents]
        assert [one.get("match") for one in firsts] == ["narrower", None]
        assert own.ents[0].kb_id_ == "COPD"

"""A mention whose whole is no name is linked to its head, and the link says so."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.kb import build_kb
from spacy_medlink.linking import Linker, LinkSettings, open_linker
from spacy_medlink.retrieval.filters import Filter
from spacy_medlink.text.qualifiers import heads
from spacy_medlink.types import Concept, Mention, Name
from spacy_medlink.workbench.mapping.mapper import Mapper
from spacy_medlink.workbench.mapping.terms import Term

NAMES = {
    "COPD": ("Chronic obstructive pulmonary disease", "COPD"),
    "HEMI": ("Hemiparesis",), "DEL": ("Delirium",), "DVT": ("Deep vein thrombosis", "DVT"),
    "DM": ("Diabetes mellitus", "DM"), "EDEMA": ("Edema",), "ANEMIA": ("Anemia",),
    "FEVER": ("Fever",), "FLASH": ("Flash",), "HTN": ("Hypertension",), "SCL": ("Sclerosis",),
    "BP": ("Blood pressure",), "ASTHMA": ("Asthma", "asthme", "asma"), "SEVERE": ("Severe asthma",),
    "ARM": ("Arm",), "DIS": ("Disease",), "COLD": ("Cold",), "HEART": ("Heart",),
}  # fmt: skip


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Assets:
    place = tmp_path_factory.mktemp("narrower")
    concepts = [
        Concept(id, names[0], tuple(map(Name, names)), types=("T047",))
        for id, names in NAMES.items()
    ]
    build_kb(place / "kb", concepts, {"source": "tests", "version": "1"})
    return build_assets(place / "assets", place / "kb")


@pytest.fixture(scope="module")
def linker(assets: Assets) -> Linker:
    """A linker that links no mention by similarity alone."""
    return open_linker(assets, LinkSettings(threshold=0.85, calibrator=False))


def link(linker: Linker, text: str) -> tuple[str, str]:
    """Get the id that a text is linked to, and the match."""
    assert linker.parts.kb is not None
    found = linker.decide([Mention(text)])[0].link
    return ("NIL", "") if found is None else (linker.parts.kb.concept_at(found.row).id, found.match)


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("severe COPD", "COPD"), ("COPD exacerbation", "COPD"), ("acute COPD exacerbation", "COPD"),
        ("moderately severe COPD", "COPD"), ("mild to moderate COPD", "COPD"),
        ("COPD 2+", "COPD"), ("COPD , stable", "COPD"), ("COPD (mild)", "COPD"),
        ("L hemiparesis", "HEMI"), ("Lt hemiparesis", "HEMI"), ("R hemiparesis", "HEMI"),
        ("left-sided hemiparesis", "HEMI"), ("right sided hemiparesis", "HEMI"),
        ("b/l hemiparesis", "HEMI"), ("hemiparesis of the left arm", "HEMI"),
        ("hemiparesis on the right", "HEMI"), ("acute delirium", "DEL"), ("known delirium", "DEL"),
        ("postoperative delirium", "DEL"), ("delirium at night", "DEL"),
        ("delirium due to alcohol", "DEL"), ("delirium of unclear etiology", "DEL"),
        ("DVT of leg", "DVT"), ("recurrent DVT of both lower legs", "DVT"), ("Type II DM", "DM"),
        ("type 3c DM", "DM"), ("newly known DM", "DM"), ("DM NOS", "DM"),
        ("poorly controlled DM", "DM"), ("steroid-dependent DM", "DM"), ("R edema", "EDEMA"),
        ("edema in pregnancy", "EDEMA"), ("1+ edema", "EDEMA"), ("edema x 3 days", "EDEMA"),
        ("anemia grade II", "ANEMIA"), ("anemia stage 3", "ANEMIA"), ("grade 3 anemia", "ANEMIA"),
        ("her anemia", "ANEMIA"), ("suspected anemia", "ANEMIA"), ("unspecified anemia", "ANEMIA"),
        ("intermittent fever", "FEVER"), ("fever without chills", "FEVER"),
        ("new-onset hypertension", "HTN"), ("asthme persistante", "NIL"),
        ("asthme modéré", "ASTHMA"), ("asma leve persistente", "ASTHMA"),
        ("leichtes Asthma", "NIL"), ("chronisches Asthma", "ASTHMA"),
    ],
)  # fmt: skip
def test_only_qualifiers_are_left_aside(linker: Linker, text: str, id: str) -> None:
    assert link(linker, text) == (id, "narrower" if id != "NIL" else "")


@pytest.mark.parametrize(
    "text",
    [
        "hot flashes", "yellow fever", "hay fever", "pulmonary hypertension", "portal hypertension",
        "multiple sclerosis", "lateral sclerosis", "tuberous sclerosis", "low blood pressure",
        "absent fever", "no fever", "fever chart", "diabetes insipidus", "sickle cell anemia",
        "left arm", "chronic disease", "congenital heart", "common cold", "heart attack", "severe",
        "stage 3", "grade II", "acute exacerbation", "left", "normal blood pressure", "fear of DVT",
        "cold of fever and other things that nobody would ever write as a mention of a note",
    ],
)  # fmt: skip
def test_no_link_to_a_rest(linker: Linker, text: str) -> None:
    assert link(linker, text) == ("NIL", "")


@pytest.mark.parametrize("text", ["severe asthma", "Severe asthmas", "COPD", "fever", "arm"])
def test_a_name_is_linked_as_a_whole(linker: Linker, text: str) -> None:
    assert link(linker, text)[1] == "" and link(linker, text)[0] != "NIL"


def test_the_most_that_is_a_name_is_linked(linker: Linker) -> None:
    assert link(linker, "recurrent severe asthma at night") == ("SEVERE", "narrower")
    assert heads("recurrent severe asthma at night")[-1] == "asthma"


def test_a_head_is_less_sure_and_obeys_threshold_filters_and_tiers(assets: Assets) -> None:
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


def test_a_link_by_similarity_says_it_too(assets: Assets) -> None:
    every = open_linker(assets, LinkSettings(threshold=0.0, calibrator=False))
    assert link(every, "severe COPD") == ("COPD", "narrower")
    assert link(every, "hypertensions of men") == ("HTN", "")


def test_explanation_and_mapping_say_it(linker: Linker) -> None:
    said = linker.explain(Mention("her edema"))
    assert said.link["match"] == "narrower" and "(the mention is narrower)" in str(said)
    assert [(one["text"], one["kept"]) for one in said.forms] == [
        ("her edema", False), ("edema", True),
    ]  # fmt: skip
    assert "match" not in linker.explain(Mention("edema")).link
    (mapped,) = Mapper(linker).map([Term("her edema")])
    assert [(one.id, one.match) for one in mapped.targets] == [("EDEMA", "broader")]


def test_candidates_keep_the_match(assets: Assets, tmp_path: Path) -> None:
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

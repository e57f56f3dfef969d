"""Terms as people type them: what is set aside, what is looked up, and what the table says."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.assets import build_assets
from spacy_medlink.kb import build_knowledge_base
from spacy_medlink.linking.opening import open_linker
from spacy_medlink.text.lexicon.clinical import clinical
from spacy_medlink.workbench.mapping.mapper import Mapper, Mapping
from spacy_medlink.workbench.mapping.parts import COLUMNS, Parts, parts_of
from spacy_medlink.workbench.mapping.terms import Columns, Term
from spacy_medlink.workbench.mapping.words import Words
from tests.tables import table
from tests.workbench.mapping.conftest import rows_of

# Most tables here have a column of a ward, which only some tests read.
pytestmark = pytest.mark.filterwarnings("ignore:.W110")

WORDS = Words.of("en", clinical("en"))


def _read(term: str, lang: str = "en") -> Parts:
    return parts_of(term, Words.of(lang, clinical(lang)))


@table(__file__, "what_is_set_aside")
def test_what_is_set_aside(term, aside, form):
    parts = _read(term)
    assert parts.aside == aside
    assert form in {one.text for one in parts.forms}


def test_a_bracket_is_the_meaning_of_a_short_form_alone():
    assert "penicillin" not in {form.text for form in _read("Rash (penicillin)").forms}
    assert "mechanical" not in {form.text for form in _read("FALL (MECHANICAL)").forms}


def test_other_languages():
    assert _read("Z.n. Apoplex rechts", "de").aside == {"history": "Z.n.", "side": "rechts"}


@pytest.mark.parametrize("term", ["acute", "left leg", "mg/dL", "serum", "h/o", "500 mg", "???"])
def test_a_term_that_says_no_problem_is_not_made_one(term):
    empty = {"acute", "leg", "", "left leg"}
    assert not {form.text.lower() for form in _read(term).forms} & empty


@settings(max_examples=40)
@given(
    term=st.text(st.sampled_from("aAbhLR oxſ/µ%()[],;-–?+^.:59 mglT'\n"), max_size=30) | st.text()
)
def test_any_term(term):
    parts = parts_of(term, WORDS)
    assert parts.aside.keys() <= set(COLUMNS)
    assert all(texts for texts in parts.aside.values())
    assert all(any(map(str.isalpha, form.text)) for form in parts.forms)
    assert len(parts.forms) < 400


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    place = tmp_path_factory.mktemp("local")
    (place / "a.csv").write_text(
        "id,name,synonyms\n1,Knee pain,\n2,Deep vein thrombosis,\n3,Glucose,\n4,Urine glucose,\n"
        "5,Metformin,Metformin hydrochloride\n6,Metformin 500 MG Oral Tablet,\n7,Hemoglobin,Hgb\n"
        "8,Left heart failure,\n9,Heart failure,\n10,Right,\n11,Lisinopril / hydrochlorothiazide,\n"
    )
    build_knowledge_base(out=place / "a.kb", sources=[("csv", place / "a.csv")])
    assets = build_assets(place / "assets", place / "a.kb", None)
    return open_linker(assets, lexicon=clinical("en"))


@table(__file__, "what_a_concept_is_to_the_term")
def test_what_a_concept_is_to_the_term(local, term, id, match):
    (mapping,) = Mapper(local).map([Term(term)])
    target = mapping.targets[0] if mapping.targets else None
    assert (target.id if target else "", target.match if target else "") == (id, match)


def test_forms_take_part_in_one_batch(local):
    """Each term gets its own form, and terms that are names nothing that is set aside."""
    mappings = Mapper(local).map(list(map(Term, ["L knee pain", "Hgb", "Hgb g/dL", "qq 5 mg"])))
    assert [mapping.aside for mapping in mappings] == [
        {"side": "L"}, {}, {"unit": "g/dL"}, {"strength": "5 mg"},
    ]  # fmt: skip
    assert [bool(mapping.targets) for mapping in mappings] == [True, True, True, False]
    assert mappings[1] == Mapping(Term("Hgb"), mappings[1].targets, mappings[1].others)


def test_the_table_has_a_column_for_each(mapped, tmp_path):
    terms = "local_code,local_name,name\n7,h/o L fever 3 days,other\n8,Fever,other\n"
    for _ in range(2):  # what is written is read again
        done = mapped(terms, columns=Columns())
    first, second = rows_of(tmp_path / "out.csv")
    assert (first["source_code"], first["source_name"]) == ("7", "h/o L fever 3 days")
    assert (first["concept_id"], first["match_type"]) == ("HP:0001945", "related")
    assert {column: first[f"aside_{column}"] for column in COLUMNS} == {
        "history": "h/o", "side": "L", "other": "3 days",
        "specimen": "", "strength": "", "unit": "",
    }  # fmt: skip
    assert not any(second[f"aside_{column}"] for column in COLUMNS)
    assert done.reviewed.same == 2 and done.reviewed.extra == []

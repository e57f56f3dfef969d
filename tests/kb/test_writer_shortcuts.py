"""The short ways of the writer give what the long ways give."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.kb import KnowledgeBase, build_kb, schema, writer
from spacy_medlink.kb.writer import distinct_names
from spacy_medlink.text.normalisation import ENTITY
from spacy_medlink.types import Concept, Name

TEXTS = st.text(
    st.one_of(st.sampled_from('ab |"\\\t\u00a0\u2028\ud800'), st.characters()), max_size=6
)
NAMES = st.builds(
    Name, TEXTS, st.sampled_from(["en", "es"]), st.sampled_from(["A", "B", "A|C"]),
    st.just("PT"), st.booleans(),
)  # fmt: skip


@given(st.lists(TEXTS), st.dictionaries(TEXTS, st.lists(TEXTS, min_size=1)))
def test_json_is_as_the_library_writes_it(values, codes):
    def dumped(value):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    assert schema.dump_list(values) == (dumped(values) if values else "")
    assert schema.dump_codes(codes) == (
        dumped({vocabulary: codes[vocabulary] for vocabulary in sorted(codes)}) if codes else ""
    )
    assert schema.load_list(schema.dump_list(values)) == tuple(values)


@given(st.lists(NAMES, max_size=5), st.one_of(st.none(), TEXTS))
def test_names_that_need_nothing_are_told_from_others(names, preferred):
    text = preferred if preferred is not None else names[0].text if names else ""
    concept = Concept("C1", text, tuple(names))
    found = distinct_names(concept)
    if writer._is_plain(concept):
        assert found == names
    for name in found:
        assert name.text == " ".join(name.text.split())
        assert name.text
        name.text.encode()
    assert len({(name.text, name.lang) for name in found}) == len(found)
    expected = {(" ".join(name.text.split()), name.lang) for name in names if _storable(name.text)}
    assert {(text, lang) for text, lang in expected if text} <= {
        (name.text, name.lang) for name in found
    }


def _storable(text: str) -> bool:
    return "\ud800" not in text and not ENTITY.search(text)


def test_half_characters_are_replaced():
    assert [name.text for name in distinct_names(Concept("C1", "a\ud800b"))] == ["a?b"]


SHOWN = [
    ("DIABETES, KETOSIS RESISTANT", ["type 2 diabetes:A", "diabetes mellitus type 2:A|B"], 2),
    ("ANAEMIA", ["low haemoglobin:A|B|C", "Anaemia:A"], 2),
    ("ANAEMIA", ["Anaemia:A:es", "Anaemia:A:en:old", "LOW BLOOD:A"], 0),  # none that is better
    ("HTN", ["Hypertension:A|B"], 0),
    (
        "CHRONIC AIRWAY disease",
        ["COLD:A|B", "CHRONIC AIRWAY DISEASE:A|B", "chronic airway disease:A"],
        3,
    ),
    ("HELLP syndrome", ["toxaemia:A|B"], 0),
    ("ALG2-CDG", ["congenital disorder of glycosylation:A"], 0),
    ("Febrile", ["Fever:A|B"], 0),  # the terminology prefers it
]


@pytest.mark.parametrize(("preferred", "others", "shown"), SHOWN)
def test_a_name_in_capitals_is_not_shown_where_another_reads_better(
    tmp_path, preferred, others, shown
):
    told = [other.split(":") for other in others]
    names = [Name(preferred, "en", "A")] + [
        Name(text, more[0] if more else "en", source, "", more[1:] == ["old"])
        for text, source, *more in told
    ]
    build_kb(tmp_path / "kb", [Concept("C1", preferred, tuple(names))])
    concept = KnowledgeBase(tmp_path / "kb")["C1"]
    assert concept.name == concept.names[0].text == names[shown].text
    assert sorted(name.text for name in concept.names) == sorted(name.text for name in names)

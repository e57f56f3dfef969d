"""What is said of mentions: how far cues reach, sentences, and sections."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.text.context import KINDS, Said, find_sections, said_of, shipped_cues
from tests.growth import calls, exponent
from tests.tables import table

# Invented texts of letters, reports and lists; who wrote them did not know the cues.
SENTENCES = Path(__file__).with_name("sentences.jsonl")


def _said(text: str, *mentions: str, lang: str = "en") -> list[Said]:
    cues = shipped_cues(lang)
    places = [(text.index(one), text.index(one) + len(one)) for one in mentions]
    return said_of(text, places, cues, find_sections(text, cues))


def _kinds(text: str, *mentions: str, lang: str = "en") -> list[str]:
    return [" ".join(sorted(one.kinds)) for one in _said(text, *mentions, lang=lang)]


@table(__file__, "cues_reach")
def test_cues_reach(text: str, mentions: tuple[str, ...], kinds: list[str]) -> None:
    assert _kinds(text, *mentions) == kinds


@table(__file__, "other_languages")
def test_other_languages(lang: str, text: str, mention: str, kinds: str) -> None:
    assert _kinds(text, mention, lang=lang) == [kinds]


def test_a_cue_within_a_mention_is_none() -> None:
    text = "No pain syndrome, asthma"
    found = said_of(text, [(0, 16), (18, 24)], shipped_cues("en"))
    assert [one.kinds for one in found] == [frozenset(), frozenset()]


def test_sections_say_something_of_all_in_them() -> None:
    text = (
        "Family History:\nGout. No asthma.\n\nDiabetes: none known\n"
        "PAST MEDICAL HISTORY\n- Stroke\nAssessment: migraine."
    )
    found = _said(text, "Gout", "asthma", "Stroke", "migraine")
    assert [(sorted(one.kinds), one.section) for one in found] == [
        (["family"], "family_history"),
        (["family", "negated"], "family_history"),
        (["historical"], "past_medical_history"),
        ([], "assessment_and_plan"),
    ]


def test_a_section_on_a_line_ends_with_its_paragraph() -> None:
    text = "Family history: gout.\n\nShe has asthma."
    assert _kinds(text, "gout", "asthma") == ["family", ""]
    assert [text[part.start : part.end] for part in find_sections(text, shipped_cues("en"))] == [
        "Family history: gout."
    ]


def test_a_section_that_says_something_ends_with_its_paragraph() -> None:
    text = "Past Medical History\n\n- gout\n- asthma\n\nShe has fever.\n\nHospital Course\nStroke."
    found = _said(text, "gout", "asthma", "fever", "Stroke")
    assert [one.section for one in found] == [
        "past_medical_history", "past_medical_history", "", "hospital_course",
    ]  # fmt: skip
    assert not found[2].kinds


def test_the_patient_ends_what_a_section_says() -> None:
    assert _kinds("FH:\nMother gout. The patient has asthma.", "gout", "asthma") == ["family", ""]


@given(st.text(alphabet="no fevr,.;:?\n(){}[]-'’é0 \t", max_size=200), st.data())
def test_any_text(text: str, data: st.DataObject) -> None:
    """Each mention is given something, and what is behind its sentence does not change it."""
    place = st.integers(0, len(text))
    places = [tuple(sorted(data.draw(st.tuples(place, place)))) for _ in range(3)]
    cues = shipped_cues("en")
    found = said_of(text, places, cues, find_sections(text, cues))
    assert len(found) == 3
    assert all(one.kinds <= set(KINDS) for one in found)
    assert found == said_of(f"{text}\n\nNo.", places, cues, find_sections(text, cues))


@pytest.mark.parametrize("part", ["no fever ", "fever, ", "no fever. ", "FH: fever\n", "mother "])
def test_time_grows_with_the_text(part: str) -> None:
    cues = shipped_cues("en")
    counts = {}
    for size in (200, 800):
        text = part * size
        places = [(i * len(part), i * len(part) + 2) for i in range(size)]
        counts[size] = calls(said_of, text, places, cues, find_sections(text, cues))
    assert exponent(counts) <= 1.1, counts


@pytest.mark.parametrize(
    "part",
    ["- fever\n", "fever: no\n", "fever?\n", "absent fever, ", "fever absent ", "no a no a fever "],
)
def test_time_grows_with_lists_and_answers(part: str) -> None:
    cues, counts, place = shipped_cues("en"), {}, part.index("fever")
    for size in (100, 400):
        text = "Denies:\n" + part * size
        places = [(8 + i * len(part) + place, 13 + i * len(part) + place) for i in range(size)]
        counts[size] = calls(said_of, text, places, cues)
    assert exponent(counts) <= 1.1, counts


def test_text_far_from_mentions_costs_little() -> None:
    """Only the paragraph of a mention and the one before it are cut into sentences."""
    cues, near = shipped_cues("en"), "Denies:\n\n- fever"
    counts = {
        size: calls(
            said_of,
            "Seen today:\n- well\n\n" * size + near,
            [(21 * size + 11, 21 * size + 16)],
            cues,
        )
        for size in (10, 1000)
    }
    assert counts[1000] - counts[10] < 3 * 990, counts  # calls for a paragraph


@pytest.mark.parametrize(("lang", "least"), [("en", 0.84), ("es", 0.87), ("de", 0.8), ("fr", 0.88)])
def test_sentences_that_no_cue_was_written_for(lang: str, least: float) -> None:
    """The share of mentions of which all is right that is said; docs/context.md has the figures."""
    cues = shipped_cues(lang)

    right = []
    lines = SENTENCES.read_text(encoding="utf-8").splitlines()
    for sentence in map(json.loads, lines):
        if (sentence["lang"], sentence["part"]) == (lang, "test"):
            text, mentions = sentence["text"], sentence["mentions"]
            places = [(one["start"], one["end"]) for one in mentions]
            found = said_of(text, places, cues, find_sections(text, cues))
            right += [
                one.kinds == set(mention["said"])
                for one, mention in zip(found, mentions, strict=True)
            ]
    assert sum(right) / len(right) >= least

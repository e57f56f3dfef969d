"""The cases of the benchmark of reading say what they mean, and are judged so."""

import random

import pytest
import spacy

from benchmarks.reading import ways
from benchmarks.reading.__main__ import made_cases, measure, shares, wilson
from benchmarks.reading.cases import Case, Place, fill, parse
from benchmarks.reading.linked import LOST, RIGHT, WRONG, Linked, judge
from tests.tables import table

NAMES = [("Chest pain", "1"), ("breast cancer", "2"), ("lung cancer", "3"), ("colon cancer", "4")]


pytestmark = pytest.mark.filterwarnings("ignore:.*W101")


@pytest.fixture(scope="module")
def starter() -> Linked:
    return Linked("starter", "en")


def test_marks_are_taken_out_and_places_are_where_the_text_says() -> None:
    text, (fever, ms) = parse(
        "No «fever|absent/past,family», but «MS|mitral stenosis;MiS|present»."
    )
    assert text == "No fever, but MS."
    assert text[fever.start : fever.end] == fever.names[0] == "fever"
    assert fever.said == (frozenset({"absent"}), frozenset({"past", "family"}))
    assert text[ms.start : ms.end] == "MS" and ms.names == ("mitral stenosis", "MiS")
    assert ms.said == (frozenset(),)


def test_no_link_and_traps() -> None:
    _, (state, drug) = parse("Boston, «MA|-»: «folic acid|!acid;folic»")
    assert (state.names, state.traps) == ((), ("MA",))
    assert (drug.names, drug.traps) == (("folic acid",), ("acid", "folic"))


def test_every_made_case_has_its_names_where_it_says(starter: Linked) -> None:
    names = {id: text for text, id in NAMES}
    rng = random.Random(1)
    for case in [
        *ways.lists(NAMES, rng, 2),
        *ways.signs(NAMES, rng, 1),
        *ways.forms(NAMES, rng, 1, set()),
    ]:
        for place in case.places:
            (id,) = place.ids
            assert case.text[place.start : place.end] in (names[id], f"{names[id]}s")
    for case in made_cases(starter, 1, 0):
        assert case.places and all(0 <= p.start < p.end <= len(case.text) for p in case.places)


def test_a_border_lies_between_the_words_of_a_name() -> None:
    for case in ways.clauses(NAMES[:1], random.Random(1), 1):
        (place,) = case.places
        if case.way == "wrapped line":
            assert case.text[place.start : place.end].split() == ["chest", "pain"]
        else:
            assert case.text[: place.start].lower().endswith(("chest", "pain"))
            assert case.text[place.end :].lower().startswith(("chest", "pain"))


@pytest.mark.parametrize("way", ["left out", "doubled", "transposed", "next key"])
def test_a_slip_is_one_edit_of_a_long_word(way: str) -> None:
    slipped = ways.slip("lung abscess", way, random.Random(2))
    assert slipped.startswith("lung a") and slipped != "lung abscess"
    assert abs(len(slipped) - len("lung abscess")) <= 1


@table(__file__, "letters_are_written_otherwise")
def test_letters_are_written_otherwise(way: str, name: str, written: str) -> None:
    assert ways.write_letters(way, name) == written


def test_verdicts(starter: Linked) -> None:
    doc = starter.nlp("No fever, no asthma.")
    fever, asthma = (ent.kb_id_ for ent in doc.ents)
    place = Place(3, 8, ids=frozenset({fever}))
    assert judge(doc, place, exact=True).verdict == RIGHT
    assert judge(doc, place._replace(end=9), exact=True).verdict == LOST
    assert judge(doc, place._replace(ids=frozenset({asthma})), exact=True).verdict == WRONG
    assert judge(doc, place._replace(ids=frozenset()), exact=True).verdict == WRONG
    assert judge(doc, Place(0, 2), exact=True).verdict == RIGHT
    for said, verdict in (("absent", RIGHT), ("past", WRONG)):
        own = place._replace(said=(frozenset({said}),))
        assert judge(doc, own, exact=True).verdict == verdict


def test_names_as_they_are_written_are_right(starter: Linked) -> None:
    rows = measure(starter, {"R4"}, 5, 0)
    made = shares(rows)["R4 made"]
    assert made["n"] > 400 and made["right"] > 50


def test_what_is_not_found_alone_is_no_mention_of_r7_but_stays_a_name(starter: Linked) -> None:
    name = "shivery"  # no name of the starter, and found nowhere in it
    starter.ids[name] = {"C0015967"}
    _, places = parse(f"«{name}|absent»")
    said = Case("R7", "", name, places)
    assert not starter.resolve([said])
    assert starter.resolve([said, said._replace(kind="R9")])[0].kind == "R9"
    del starter.ids[name]


def test_a_list_counts_once(starter: Linked) -> None:
    rows = measure(starter, {"R1"}, 1, 0)
    assert sum(row.kind == "R1 lists" for row in rows) == len(ways.TEMPLATES["separators"]) + len(
        ways.TEMPLATES["lists"]
    )


def test_interval() -> None:
    low, high = wilson(95, 100)
    assert (low, high) == (88.8, 97.8)
    assert wilson(0, 0) == (0.0, 100.0)


def test_templates_are_filled_in_their_order() -> None:
    text, places = fill("{1} and {0}", [("a", "1"), ("bb", "2")])
    assert text == "bb and a" and [(p.start, p.end) for p in places] == [(0, 2), (7, 8)]


def test_spacy_is_blank() -> None:
    assert Linked("starter", "de").nlp.lang == spacy.blank("de").lang

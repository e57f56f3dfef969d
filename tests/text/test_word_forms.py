"""Words that say the same are learned from names that differ in one word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.text.word_forms import is_fixed, learn_forms
from spacy_medlink.text.word_lists import words_of

PLACES = [f"at{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]


def names(*alike: str, places: list[str] = PLACES) -> list[tuple[list[str], int]]:
    """Make names of one concept a place: each of the words with it."""
    return [([word, place], row) for row, place in enumerate(places) for word in alike]


def one_form(forms: dict[str, str], *words: str) -> bool:
    return len({forms.get(word, word) for word in words}) == 1


def test_words_that_names_of_one_concept_differ_in() -> None:
    forms = learn_forms(names("kidney", "renal", "nephric"))
    assert one_form(forms, "kidney", "renal", "nephric")
    assert set(forms) < {"kidney", "renal", "nephric"}


def test_little_evidence_is_none() -> None:
    assert learn_forms(names("kidney", "renal", places=PLACES[:3])) == {}
    assert learn_forms([]) == {}


def test_names_of_different_concepts_are_evidence_against() -> None:
    large = [(["large", place], 100 + row) for row, place in enumerate(PLACES)]
    small = [(["small", place], 200 + row) for row, place in enumerate(PLACES)]
    few = [(["small", place], 100 + row) for row, place in enumerate(PLACES[:6])]
    assert learn_forms(large + small + few) == {}


def test_words_of_one_stem_need_less_evidence() -> None:
    """How much less, the words of one stem tell that two contexts agree on."""
    stems = [
        ([f"stem{letter * 2}{ending}", place], 100 * number + row)
        for number, letter in enumerate("abcdefghijklmnopqrstuvwyz", start=1)
        for row, place in enumerate(PLACES[:2])
        for ending in ("um", "ar")
    ]
    one = names("clavicle", "clavicular", places=PLACES[:1])
    other = names("clavicle", "collarbone", places=PLACES[:1])
    assert one_form(learn_forms(one + stems), "clavicle", "clavicular")
    assert not one_form(learn_forms(other + stems), "clavicle", "collarbone")
    assert learn_forms(one) == {}


def test_groups_must_agree_as_a_whole() -> None:
    """Not both "short" and "little" are "small", where these two are not the same."""
    alike = names("short", "small", places=PLACES[:20]) + [
        ([word, "ear" + place], 50 + row)
        for row, place in enumerate(PLACES)
        for word in ("small", "little")
    ]
    apart = [
        ([word, "toe" + place], 100 + 2 * row + (word == "short"))
        for row, place in enumerate(PLACES)
        for word in ("short", "little")
    ]
    forms = learn_forms(alike + apart)
    assert not one_form(forms, "short", "little")


def test_listed_clusters_are_evidence_that_names_may_outweigh() -> None:
    clusters = [["anomaly", "defect", "malformation"]]
    shared = names("anomaly", "defect", places=PLACES[:2])
    assert one_form(learn_forms(shared, clusters), "anomaly", "defect", "malformation")
    assert one_form(learn_forms([], clusters), "anomaly", "malformation")
    apart = [
        ([word, place], 100 * number + row)
        for number, word in enumerate(("anomaly", "defect"), start=1)
        for row, place in enumerate(PLACES)
    ]
    forms = learn_forms(apart, clusters)
    assert not one_form(forms, "anomaly", "defect")


@pytest.mark.parametrize("lang", ["en", "de", "es", "fr", "it"])
def test_no_word_is_in_two_clusters(lang: str) -> None:
    words = words_of("clusters", lang)
    assert len(words) == len(set(words)) > 50


@pytest.mark.parametrize(
    "word",
    ["left", "no", "2", "ii", "b12", "x", "ohne", "t2", "and", "with", "mit", "type", "syndrome"],
)
def test_numbers_sides_and_negation_stay(word: str) -> None:
    assert is_fixed(word)
    assert learn_forms(names(word, "renal")) == {}


@pytest.mark.parametrize("word", ["renal", "mild", "nonunion", "leftover"])
def test_other_words_may_change(word: str) -> None:
    assert not is_fixed(word)


WORDS = st.sampled_from("renal kidney cyst left large big 2 liver hepatic stone".split())
NAMES = st.lists(st.tuples(st.lists(WORDS, max_size=9), st.integers(0, 3)), max_size=60)


@given(NAMES)
def test_forms_stand_for_themselves(own: list[tuple[list[str], int]]) -> None:
    forms = learn_forms(own)
    words = {word for name, _ in own for word in name}
    for word, form in forms.items():
        assert word != form
        assert {word, form} <= words
        assert form not in forms
        assert not is_fixed(word)
        assert not is_fixed(form)


@given(NAMES, st.randoms())
def test_the_order_of_names_makes_no_difference(own, luck) -> None:
    shuffled = luck.sample(own, len(own))
    assert learn_forms(shuffled) == learn_forms(own)

"""British spelling and words in short: folded in keys, so that every tier takes either."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spacy_medlink.assets import Assets
from spacy_medlink.text import spelling
from spacy_medlink.text.normalisation import key
from spacy_medlink.text.pieces import Pieces, key_of
from spacy_medlink.text.spelling import IN_FULL, respelled
from spacy_medlink.types import Concept, Mention, Name
from tests.tables import table

# Pairs of words that mean different things must not become one.
APART = (
    "four for hour our sour disease diseased fever liver femur murmur aerobic trachea phalanx "
    "chorea apnea coma comae metre meter leucine lupus foramen toe poem goes heroes does shoes"
).split()


@table(__file__, "british_is_respelled")
def test_british_is_respelled(british, us):
    assert respelled(british) == respelled(us)
    assert key(british) == key(us) == key(british.upper())
    if not us.endswith(("s", "um")):
        assert key(f"{british}s") == key(us)


@table(__file__, "words_in_short_are_written_in_full")
def test_words_in_short_are_written_in_full(short, full):
    assert key(short) == key(full)
    assert key_of(Pieces(short).texts) == key(short)


def test_words_of_different_meaning_stay_apart():
    # A metre is a meter.
    assert len({respelled(word) for word in APART}) == len(APART) - 1


@given(st.text(alphabet=" abcdefghilmnoprstuz", max_size=20))
def test_keys_of_words_make_the_key_of_a_text(text):
    assert key(text) == " ".join(filter(None, map(key, text.split(" "))))


@pytest.mark.parametrize("text", ["", "ß", "Ödem", "œdème", "水肿", "ae", "oe", "📎"])
def test_other_languages_and_nothing_pass(text):
    assert respelled(text) == text


RECORDS = [
    Concept("A", "Edema", (Name("Edema of the esophagus"),)),
    Concept("B", "Tumour", (Name("Haemangioma"),)), Concept("C", "Fever", (Name("Pyrexia"),)),
    Concept("D", "Pyrexia disease"),
]  # fmt: skip


@table(__file__, "names_are_found_in_either_spelling")
def test_names_are_found_in_either_spelling(assets: Assets, text, id):
    for tiers in (("exact",), ("ngram",)):
        (ranking,) = assets.engine(tiers=tiers).rank([Mention(text)], 3)
        assert assets.kb.concept_at(ranking[0].row).id == id
        assert ranking[0].score > 0.6


PIECES = [*spelling._PARTS, *"re ise ising yse yser grey greyish mould".split(), "fib", "a", "ion"]


@given(st.lists(st.sampled_from(PIECES) | st.text("abeiouy", max_size=2), max_size=5).map("".join))
def test_words_that_are_passed_over_have_no_rule(word: str) -> None:
    assume(word not in IN_FULL)
    changed = spelling._PART.sub(lambda found: spelling._PARTS[found.group()], word)
    for pattern, written in spelling._ENDINGS:
        changed = pattern.sub(written, changed)
    assert respelled(word) == changed

"""Words that say how somebody is are found as the names they stand for."""

import pytest
import spacy


@pytest.fixture(scope="module")
def found() -> spacy.Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions")
    return nlp


@pytest.mark.filterwarnings("ignore:.*W101")
@pytest.mark.parametrize(
    ("text", "mention"),
    [
        ("He was anemic.", "anemic"),
        ("An asthmatic child.", "asthmatic"),
        ("Known epileptic since 2010.", "epileptic"),
        ("Hypertensive and obese.", "Hypertensive"),
        ("Crohns since 2012", "Crohns"),
    ],
)
def test_a_word_stands_for_a_name(found: spacy.Language, text: str, mention: str) -> None:
    assert mention in [ent.text for ent in found(text).ents]


@pytest.mark.filterwarnings("ignore:.*W101")
@pytest.mark.parametrize("text", ["Wilson's mother called.", "He talked for hours."])
def test_other_words_stand_for_none(found: spacy.Language, text: str) -> None:
    assert not found(text).ents

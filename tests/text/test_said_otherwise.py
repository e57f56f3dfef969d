"""What patients and notes say for names of a terminology."""

import pytest

from spacy_medlink.text.normalisation import key
from spacy_medlink.text.said_otherwise import phrases_of
from spacy_medlink.text.word_lists import lines_of
from tests.tables import table

LANGUAGES = ("en", "de", "es", "fr", "it")


@table(__file__, "what_is_said_has_names")
def test_what_is_said_has_names(lang: str, said: str, names: list[str]) -> None:
    meant = [name for name, _ in phrases_of(lang).names[key(said)]]
    assert [name for name in meant if name in names] == names


@pytest.mark.parametrize("said", ["gastralgia", "dysuria or", "tired of", "sugars", "nerves"])
def test_near_names_and_other_words_are_not_said(said: str) -> None:
    assert key(said) not in phrases_of("en").names


@pytest.mark.parametrize("lang", LANGUAGES)
def test_rows_are_well_formed(lang: str) -> None:
    rows = [line for line in lines_of("said", lang) if not line.startswith("=")]
    assert len(rows) > 80 and all(": " in row for row in rows)
    assert not [phrase for phrase in phrases_of(lang).names if set(phrase) & set("()<>[]|")]
    heads = [row.partition(":")[0] for row in rows]
    assert len(heads) == len(set(heads))


def test_phrases_are_found_where_they_stand() -> None:
    keys = key("now short of breath, wets the bed").split()
    found = {
        (start, end): names[0][0]
        for start, end, names in phrases_of("en").within(keys, range(len(keys)))
    }
    assert found == {(1, 4): "dyspnea", (4, 7): "enuresis"}


def test_other_languages_have_no_phrases() -> None:
    assert not phrases_of("ja").names and not list(phrases_of("ja").within(["a"], [0]))

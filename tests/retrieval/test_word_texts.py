"""Search as you type: names with words that begin as those of a text, in any order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.retrieval import word_texts
from spacy_medlink.retrieval.grams import words_of
from spacy_medlink.retrieval.word_ngram import WordNgramIndex
from spacy_medlink.retrieval.word_texts import WordTexts, encoded
from tests.mutants import refused
from tests.retrieval.test_ngram import NAMES
from tests.tables import table

KNOWN = ["renal cyst", "cyst of the kidney", "cystic fibrosis", "fibrosis", "renal fibrosis"]


def begun(index: WordNgramIndex, text: str, k: int = 100) -> list[int]:
    return sorted(index.beginning(text, lambda word: [], k))


def compared(names: list[str], text: str) -> list[int]:
    """Find the names by reading all of them."""
    wanted = words_of(text)
    return [
        row
        for row, name in enumerate(names)
        if wanted and all(any(word.startswith(part) for word in words_of(name)) for part in wanted)
    ]


@given(NAMES, st.text(max_size=8))
def test_the_same_as_reading_all_names(names: list[str], text: str) -> None:
    index = WordNgramIndex.build(names)
    for asked in (text, *(name[: len(name) // 2 + 1] for name in names[:3])):
        assert begun(index, asked) == compared(names, asked)


@table(__file__, "beginnings_in_any_order")
def test_beginnings_in_any_order(text: str, rows: list[int]) -> None:
    assert begun(WordNgramIndex.build(KNOWN), text) == rows


def test_a_misspelt_word_is_read_as_those_near_to_it() -> None:
    index = WordNgramIndex.build(KNOWN)
    slips = {"kidny": ["kidney"]}
    assert index.beginning("kidny cyst", lambda word: slips.get(word, []), 9) == [1]
    index = WordNgramIndex.build([*KNOWN, "kidnyz"])
    assert index.beginning("kidny cyst", lambda word: slips.get(word, []), 9) == [1], (
        "begins a word"
    )


def test_of_very_many_names_the_first_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"renal number{row}" for row in range(100)]
    index = WordNgramIndex.build(names)
    monkeypatch.setattr(word_texts, "_READ_ALONE", 10)
    assert 10 <= len(begun(index, "ren")) < 100
    assert begun(index, "renal number77") == [77]


@given(st.lists(st.text(st.characters(), min_size=1), unique=True), st.text(max_size=3))
def test_words_of_any_script(words: list[str], letters: str) -> None:
    """Half a surrogate pair, too, though no word of a text has one."""
    ordered = sorted(words, key=encoded)
    first, behind = WordTexts.of(list(map(encoded, ordered))).beginning(letters)
    assert [word for word in ordered if word.startswith(letters)] == ordered[first:behind]


def test_damage_is_told(tmp_path) -> None:
    WordNgramIndex.build(KNOWN).save(tmp_path)
    array = np.array([0, 9], dtype=np.uint64)
    refused(tmp_path / "word_start.npy", array, WordNgramIndex.load, tmp_path, len(KNOWN))

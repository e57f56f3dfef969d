"""Keys of names: what they fold, what they keep apart, how they compose, and their hashes."""

import unicodedata
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from spacy_medlink.text import normalisation as text_module
from spacy_medlink.text.normalisation import (
    hash_key,
    hash_keys,
    is_short_form,
    key,
    normalise,
    surface_check,
)
from tests.tables import table
from tests.timing import cpu_seconds

# Any characters, and often those that the rules are about.
CHARS = st.one_of(
    st.sampled_from(
        "aAsSéÉßſİıǅΣςﬁ½²ŉ'’`´-–—+/.,;()  \t\n\u00a0\u00ad\u200b\ufeff\u0301\u0345血ก็हि"
    ),
    st.characters(),
)
TEXTS = st.text(CHARS, max_size=12)
# Accents that can be taken off, unlike the stroke of "ø", and letters whose case is one to one.
LATIN = st.text("abcdefghinorstuéèüñçåõ", min_size=1, max_size=8)


@given(TEXTS)
@example("x's's")
@example("ŉ's´s")
def test_normalise_is_idempotent_and_tidy(text):
    normal = normalise(text)
    assert normalise(normal) == normal
    assert normal == " ".join(normal.split())


@given(TEXTS)
def test_key_is_idempotent(text):
    assert key(key(text)) == key(text)


@table(__file__, "a_semantic_tag_is_no_part_of_a_name")
def test_a_semantic_tag_is_no_part_of_a_name(name, plain):
    assert key(name) == key(plain)


@given(st.lists(TEXTS, max_size=4))
@example(["Crohn", "'s", "disease"])
@example(["x", "\u0301y"])
@example(["HER2", "+"])
def test_keys_compose(texts):
    """The key of a phrase is the keys of its parts: what medical_mentions rests on."""
    assert key(" ".join(texts)) == " ".join(part for part in map(key, texts) if part)


@given(TEXTS)
def test_form_of_accents_does_not_count(text):
    assume("´" not in text)  # an apostrophe to us, a space and an accent to NFKC and NFKD
    forms = {key(unicodedata.normalize(form, text)) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    assert forms == {key(text)}


@given(st.lists(LATIN, min_size=1, max_size=4))
def test_case_accents_and_punctuation_do_not_count(words):
    expected = key(" ".join(words))
    bare = [
        "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
        for word in words
    ]
    assert key(" ".join(words).upper()) == expected
    assert key(" ".join(bare)) == expected
    assert key("-".join(words)) == expected
    assert key("(" + ", ".join(words) + ").") == expected
    assert key(" \u00a0".join(words)) == expected


@table(__file__, "same_key")
def test_same_key(one, other):
    assert key(one) == key(other) != ""


@table(__file__, "different_keys")
def test_different_keys(one, other):
    assert key(one) != key(other)


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t", "---", "...", "'s", "’s", "\u00ad", "\ufe0f", "()"]
)
def test_nothing_but_punctuation_has_no_key(text):
    assert key(text) == ""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # xxh3 of the empty string is published; the others are what every assets directory holds.
        ("", 0x2D06800538D394C2),
        ("fever", 0x94AC008C08878873),
        ("血圧", 0xC38E70BBF3A7040E),
        ("diabetes mellitus type 2", 0xD399D7F4AD4227BE),
    ],
)
def test_hashes_never_change(text, value):
    assert hash_key(text) == value


@given(st.lists(st.one_of(TEXTS, st.just("a\ud800")), max_size=6))
def test_many_hashes_are_the_single_ones(texts):
    hashes = hash_keys(iter(texts))
    assert hashes.dtype == np.uint64
    assert hashes.tolist() == [hash_key(text) for text in texts]


@pytest.mark.parametrize("text", ["PE", "MI", "T2DM", "ALL", "A", "ÄÖ", "COPD2", "А-Б"])
def test_short_forms(text):
    assert is_short_form(text)


@pytest.mark.parametrize(
    "text", ["", "123", "+", "Mi", "aids", "ASTHMA", "12/34", "HbA1c", "β", "血圧", "ひ", "ا"]
)
def test_no_short_forms(text):
    assert not is_short_form(text)


@given(TEXTS, TEXTS)
def test_surface_check_tells_strings_apart_and_marks_short_forms(one, other):
    value = surface_check(one)
    assert 0 <= value < 1 << 32
    assert bool(value >> 31) == is_short_form(one)
    if one != other:
        assert (value | 1 << 31) != (surface_check(other) | 1 << 31)


def test_long_text_takes_linear_time():
    text = "Ménière's diseases, " * 50_000  # a million characters
    assert cpu_seconds(lambda: key(text)) < 5
    assert cpu_seconds(lambda: normalise("'" * 1_000_000)) < 5


@given(st.lists(TEXTS, max_size=4), st.integers(1, 300), st.integers(1, 40))
def test_long_texts_are_decomposed_in_pieces(texts, repeats, piece):
    text = "".join(texts) * repeats
    with mock.patch.object(text_module, "_PIECE", piece):
        assert text_module._decomposed(text) == unicodedata.normalize("NFKD", text)

"""Vocabulary: the words that one letter turns a word into, against comparing it with every word."""

import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from spacy_medlink.retrieval.arrays import save_arrays
from spacy_medlink.retrieval.names_read import NamesRead
from spacy_medlink.retrieval.vocabulary import Vocabulary, is_inflected
from spacy_medlink.text.normalisation import key
from spacy_medlink.text.pieces import Pieces
from tests.mutants import damages, refused
from tests.tables import table

WORDS = st.text("abcé", min_size=4, max_size=7)


@given(st.sets(WORDS, max_size=30), st.lists(WORDS, max_size=8))
def test_near_words_are_those_of_distance_one(words, asked):
    vocabulary = Vocabulary.of(dict.fromkeys(words, (1, 1)))
    found = vocabulary.near(asked)
    for word, near in zip(asked, found, strict=True):
        every = [one for one in sorted(words) if OSA.distance(word, one) == 1]
        assert near == ([] if word in words or len(word) < 5 else every)
    assert vocabulary.near(asked * 2) == found * 2


@pytest.mark.parametrize("place", range(1, 12))
def test_every_slip_of_a_letter_is_near(place):
    word = "hypothyroidism"
    vocabulary = Vocabulary.of(dict.fromkeys([word, "asthma", "arthritis"], (0, 1)))
    slips = [
        word[:place] + word[place + 1 :],
        word[:place] + word[place] + word[place:],
        word[:place] + word[place + 1] + word[place] + word[place + 2 :],
        word[:place]
        + next(x for x in string.ascii_lowercase if x != word[place])
        + word[place + 1 :],
    ]
    assert vocabulary.near(slips) == [[word]] * len(slips)


@table(__file__, "another_ending_is_no_slip")
def test_another_ending_is_no_slip(word, other, inflected):
    assert is_inflected(word, other) is inflected


def test_words_are_read_from_names_as_they_pass():
    read = NamesRead()
    names = ["Diabetes mellitus, type 2", "Sjögren's syndrome", "BRCA1", "flu"]
    assert list(read.passing(names)) == names
    assert read.uses == {
        "diabete": (0, 1), "mellitus": (1, 0), "type": (1, 0), "sjogren": (1, 0),
        "syndrome": (0, 1), "flu": (0, 1),
    }  # fmt: skip
    vocabulary = Vocabulary.of(read.uses)
    assert [vocabulary.uses(word) for word in ("syndrome", "type", "fever")] == [
        (0, 1), (1, 0), (0, 0),
    ]  # fmt: skip


@table(__file__, "slips_at_ends_that_keys_fold_are_near_the_spelling")
def test_slips_at_ends_that_keys_fold_are_near_the_spelling(slip, spelling):
    read = NamesRead()
    list(read.passing(["Aortic stenosis", "Diverticulitis, acute", "Ascites", "oedema",
                       "psoriasis of nails", "metastases"]))  # fmt: skip
    vocabulary = Vocabulary.of(read.uses, read.spellings)
    assert vocabulary.near([slip])[0][-1] == spelling
    assert vocabulary.near([spelling, key(spelling)]) == [[], []]


@given(st.lists(st.text("aeis'-,(/ 1αéß", min_size=1, max_size=14), max_size=8))
def test_names_have_no_pieces_that_are_unknown(names):
    """What no name has is left out of the runs that are looked up."""
    names += ["Renal failure, endstage", "β-thalassaemia (minor)", "1,25-dihydroxycholecalciferol",
              "Sj&#246;gren’s syndrome", "Ehlers-Danlos/Marfan", "T-Zell, chylöser"]  # fmt: skip
    read = NamesRead()
    list(read.passing(names))
    vocabulary = Vocabulary.of(read.uses, read.spellings)
    for name in names:
        own = Pieces(name).keys
        assert dict(zip(own, vocabulary.knows(own), strict=True)) == dict.fromkeys(own, True)
    assert vocabulary.knows(["xyzzy", "7"]) == [False, True]


@damages(
    ("word_last", (np.array([1, 1], np.uint32),)),
    ("word_start", (np.array([0, 9], np.uint64),)),
    ("deletion_hash", (np.array([3, 2, 1], np.uint64),)),
    ("deletion_word", (np.array([0], np.uint32), np.array([7] * 6, np.uint32))),
)
def test_damaged_arrays(tmp_path, file, how):
    save_arrays(tmp_path, Vocabulary.of({"fever": (1, 2)}).arrays)
    assert Vocabulary.load(tmp_path).near(["fevver"]) == [["fever"]]
    refused(tmp_path / f"{file}.npy", how, Vocabulary.load, tmp_path)

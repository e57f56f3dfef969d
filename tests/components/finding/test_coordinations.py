"""Coordinations: by example, and what is true of every reading."""

from hypothesis import given
from hypothesis import strategies as st
from spacy.lang.en import English

from spacy_medlink.components.finding.coordinations import coordinations
from spacy_medlink.text.pieces import Border, Pieces
from tests.tables import table

STOP_WORDS = English.Defaults.stop_words


def readings(text: str) -> set[str]:
    pieces = Pieces(text, STOP_WORDS)
    return {" ".join(pieces.texts[place] for place in one.pieces) for one in coordinations(pieces)}


@table(__file__, "what_is_read")
def test_what_is_read(text, wanted):
    assert not wanted or wanted in readings(text)


@table(__file__, "what_is_not_read")
def test_what_is_not_read(text, unwanted):
    assert unwanted not in readings(text)


def test_whether_another_word_follows():
    pieces = Pieces("oral and unusual facial appearance", STOP_WORDS)
    whole = {
        " ".join(pieces.texts[place] for place in one.pieces): one.is_whole
        for one in coordinations(pieces)
    }
    assert whole["oral facial"] is False
    assert whole["oral facial appearance"] is True


WORDS = st.lists(
    st.sampled_from(["and", "or", ",", "/", "of", "the", "renal", "cysts", "ear", ".", "\n", "-"]),
    max_size=24,
)


@given(WORDS)
def test_readings_leave_out_a_conjunction_and_no_end_of_a_clause(words):
    pieces = Pieces(" ".join(words), STOP_WORDS)
    for one in coordinations(pieces):
        first, last = one.pieces[0], one.pieces[-1]
        left_out = set(range(first, last + 1)) - set(one.pieces)
        assert list(one.pieces) == sorted(set(one.pieces))
        signs = "".join(pieces.gaps[first + 1 : last + 1])
        assert {pieces.texts[place] for place in left_out} & {"and", "or"} or "/" in signs
        assert Border.SENTENCE not in pieces.borders[first + 1 : last + 1]
        assert "\n" not in signs
        assert pieces.says[first] and pieces.says[last]

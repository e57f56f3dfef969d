"""Lexicons: their files, what a short form means, and where short forms stand in a text."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.text.lexicon import Lexicon, Sense, Surroundings, open_lexicon
from tests.tables import table

LINES = """# short\tlong

SOB\tshortness of breath
SOB\tsomething else\tOTHER
PE \t pulmonary embolism
"""

SENSES = """AF | afib | A. fib\tatrial fibrillation | auricular fibrillation
MS\tmultiple sclerosis
MS\tmitral stenosis\t\tnear: valve
MS\tmorphine\tDRUG\tnear: mg
RA\t(room air)\t\tbefore: on
RA\trheumatoid arthritis\t\tnear: joint*
STEMI\tmyocardial infarction with ST elevation
"""


def sense(lexicon, text, short, label=""):
    start = text.index(short)
    return lexicon.sense(short, Surroundings(text).at(start, start + len(short), label))


def test_entries():
    lexicon = Lexicon.parse(LINES)
    assert len(lexicon) == 3
    assert lexicon.sense("SOB").expansions == ("shortness of breath",)
    assert lexicon.sense(" SOB ", Surroundings().at(0, 0, "OTHER")).expansions == (
        "something else",
        "shortness of breath",
    )
    assert lexicon.sense("sob") is lexicon.sense("XX") is None
    assert Lexicon.parse(lexicon.dump()).entries == lexicon.entries


def test_columns():
    lexicon = Lexicon.parse(SENSES)
    assert lexicon.entries[0].shorts == ("AF", "afib", "A. fib")
    assert lexicon.entries[0].longs == ("atrial fibrillation", "auricular fibrillation")
    assert [one.is_concept for one in lexicon.entries].count(False) == 1
    assert lexicon.dump() == SENSES
    assert pickle.loads(pickle.dumps(lexicon)).entries == lexicon.entries


@table(__file__, "lines_that_are_none")
def test_lines_that_are_none(tmp_path, line):
    path = tmp_path / "lexicon.tsv"
    path.write_text(f"# first\n{line}\n")
    with pytest.raises(MedlinkError, match=r"E401.*line 2"):
        Lexicon.read(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(MedlinkError, match="E107"):
        Lexicon.read(tmp_path / "missing")
    (tmp_path / "latin").write_bytes(b"\xe9\tx\n")
    with pytest.raises(MedlinkError, match="E401"):
        Lexicon.read(tmp_path / "latin")


@pytest.mark.parametrize(
    ("text", "short", "label", "expected"),
    [
        ("MS", "MS", "", Sense(("multiple sclerosis",))),
        ("MS of the valve", "MS", "", Sense(("mitral stenosis",))),
        ("MS 10 mg", "MS", "DRUG", Sense(("morphine",))),
        ("MS 10 mg", "MS", "", Sense(("multiple sclerosis",))),  # not for this label
        ("the valve, MS 10 mg", "MS", "DRUG", Sense(())),  # as much for one as for the other
        ("98% on RA", "RA", "", Sense(("room air",), is_concept=False)),
        ("RA", "RA", "", Sense(())),
        ("afib", "afib", "", Sense(("atrial fibrillation", "auricular fibrillation"), True, True)),
        ("Mitral Stenosis. MS", "MS", "", Sense(("mitral stenosis",))),  # it is spelled out
        ("Rheumatoid arthritis? RA", "RA", "", Sense(("rheumatoid arthritis",))),
        ("Room air, rheumatoid arthritis? RA", "RA", "", Sense(())),
        ("Afib", "Afib", "", None),
    ],
)  # fmt: skip
def test_what_a_short_form_means(text, short, label, expected):
    assert sense(Lexicon.parse(SENSES), text, short, label) == expected


def test_a_word_names_itself_behind_its_long_forms():
    lexicon = Lexicon.parse(
        "cold\tcommon cold\t\tnear: sneez*\ncold\t(cold weather)\nRA\tx\nRA\ty\tD"
    )
    caught = sense(lexicon, "sneezing with a cold", "cold")
    assert caught.verbatim("cold") == ("common cold", "cold")
    assert lexicon.sense("RA").verbatim("RA") == ("x",), "a short form with other meanings does not"
    assert sense(lexicon, "it was cold", "cold").verbatim("cold") == ("cold weather",)


def test_what_is_looked_up():
    assert Sense(("a", "b"), is_only=True).verbatim("X") == ("a", "b", "X")
    assert Sense(("a", "b")).verbatim("X") == ("a", "b")  # its letters may mean another thing
    assert Sense(("a",), is_concept=False, is_only=True).verbatim("X") == ("a",)
    assert Sense(()).verbatim("X") == ("X",)
    assert Sense(("a",), is_concept=False).expansions == Sense(()).expansions == ()


@table(__file__, "where_short_forms_stand")
def test_where_short_forms_stand(text, found):
    assert [text[start:end] for start, end in Lexicon.parse(SENSES).occurrences(text)] == found
    assert list(Lexicon().occurrences(text)) == []


@given(st.text(alphabet="AF. ibMS-/'s\n", max_size=80))
def test_occurrences_are_known_and_apart(text):
    lexicon, last = Lexicon.parse(SENSES), 0
    for start, end in lexicon.occurrences(text):
        assert last <= start < end
        assert text[start:end] in lexicon
        last = end


def test_a_text_without_short_forms_asks_nothing(monkeypatch):
    """One look into a dictionary a word, and none at what stands around."""
    monkeypatch.setattr(Lexicon, "sense", lambda *_: pytest.fail("asked"))
    lexicon = open_lexicon("clinical", "en")
    asked = []
    lexicon = Lexicon(lexicon.entries)
    own = lexicon._by_word
    lexicon._by_word = type("Seen", (dict,), {"get": lambda _, word: asked.append(word)})(own)
    assert list(lexicon.occurrences("the quick brown fox jumps " * 100)) == []
    assert len(asked) == 600  # each word, and "jumps" without the ending of a plural

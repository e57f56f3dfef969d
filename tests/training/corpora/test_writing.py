"""Offsets: what becomes of any mention of any text."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.exchange.documents import Document, Ids, Mention
from training.corpora.tally import SHOWN, Tally
from training.corpora.writing import to_record

PATH = Path("corpus.txt")
SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=3).map(tuple)
MENTIONS = st.builds(Mention, st.text("ab \n", max_size=6), SPANS, st.just(Ids(("X",))))


def _record(text: str | None, *mentions: Mention, tally: Tally | None = None) -> list[dict]:
    document = Document("d", text, mentions, PATH)
    return to_record(document, tally or Tally())["mentions"]


@given(st.text("ab \r\n", max_size=25), st.lists(MENTIONS, max_size=4).map(tuple))
def test_offsets_are_exact_or_not_there(text, mentions):
    tally = Tally()
    record = to_record(Document("d", text, mentions, PATH), tally)
    for mention in record["mentions"]:
        assert mention["mention"].strip(), "white space is no mention"
        if "start" in mention:
            there = record["text"][mention["start"] : mention["end"]]
            assert there == mention["mention"]
        for start, end in mention.get("spans", ()):
            assert record["text"][start:end] in mention["mention"]
    lost = len(mentions) - len(record["mentions"])
    assert lost == tally.faults["mentions without a text, dropped"]


def test_pieces_that_only_white_space_parts_are_one():
    (mention,) = _record("renal \n failure", Mention("renal failure", ((0, 5), (8, 15))))
    assert (mention["start"], mention["end"]) == (0, 15)


def test_pieces_keep_their_places():
    tally = Tally()
    mention = Mention("left pain", ((0, 4), (14, 18)))
    assert _record("left side has pain", mention, tally=tally) == [
        {"mention": "left pain", "spans": [[0, 4], [14, 18]], "ids": [], "type": ""}
    ]
    assert sum(tally.noted.values()) == 1


def test_another_case_is_the_text_s():
    (mention,) = _record("Gout", Mention("gout", ((0, 4),)))
    assert mention["mention"] == "Gout"


def test_ten_examples_are_shown_without_the_words():
    wrong = [Mention("gout", ((n, n + 4),)) for n in range(12)]
    quiet, open_ = Tally(), Tally(show_text=True)
    _record("Secret words in a note", *wrong, tally=quiet)
    _record("Secret words in a note", *wrong, tally=open_)
    (examples,) = quiet.examples.values()
    assert len(examples) == SHOWN == 10
    assert "12 mentions whose offsets" in "\n".join(quiet.report())
    assert "gout" not in "\n".join(quiet.report())
    assert "'gout', but the text has 'Secr'" in "\n".join(open_.report())

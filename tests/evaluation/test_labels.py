import pytest

from spacy_medlink.evaluation.gold_set import Case
from spacy_medlink.evaluation.labels import Seen, is_abbreviation, labels_of, useful
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.gold import GoldMention
from spacy_medlink.types import Mention


def _case(kb: KnowledgeBase, text: str, *ids: str, long_form: str = "") -> Case:
    mention = Mention(text, long_form)
    right = frozenset(kb[id].row for id in ids)
    return Case(mention, right, GoldMention(text, ids), "0", "en", "0", (mention,))


def test_labels(tiny_kb: KnowledgeBase) -> None:
    fever = tiny_kb["HP:0001945"].row
    seen = Seen(frozenset({"pyrexia"}), frozenset(), frozenset({fever}))
    assert labels_of(tiny_kb, _case(tiny_kb, "fever", "HP:0001945"), seen) == {
        "length": ["1 word"], "abbreviation": ["no"], "composite": ["no"],
        "semantic_type": ["T184"], "semantic_group": ["DISO"], "mention": ["unseen"],
        "code": ["seen"],
    }  # fmt: skip
    long = labels_of(tiny_kb, _case(tiny_kb, "one two three four five six"), seen)
    assert long["length"] == ["5 words or more"]
    assert long["code"] == ["unseen"]
    assert "semantic_type" not in long
    short = _case(tiny_kb, "af", long_form="atrial f")
    assert labels_of(tiny_kb, short, seen)["abbreviation"] == ["yes"]
    assert "code" not in labels_of(tiny_kb, _case(tiny_kb, "fever", "HP:0001945"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("HIV", True), ("AFib", True), ("T2DM", True), ("Fever", False), ("a", False),
     ("HIV AIDS", False), ("ADRENOLEUKODYSTROPHY", False), ("", False)],
)  # fmt: skip
def test_is_abbreviation(text: str, expected: bool) -> None:
    assert is_abbreviation(text) is expected


def test_labels_that_tell_nothing_apart_are_left_out() -> None:
    labels = [
        {"length": ["1 word"], "composite": ["no"], "code": ["seen"]},
        {"length": ["2 words"], "composite": ["no"], "code": ["seen"]},
    ]
    assert useful(labels) == [
        {"length": ["1 word"], "code": ["seen"]}, {"length": ["2 words"], "code": ["seen"]}
    ]  # fmt: skip

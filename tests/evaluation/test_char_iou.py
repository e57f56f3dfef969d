"""The character IoU of the SNOMED CT challenge, beside a plain second computation."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation.char_iou import char_iou
from spacy_medlink.kb.annotated_notes import Annotation, dump_annotations, read_annotations
from tests.tables import table

NOTE = "Hx of asthma. Chest pain today."
GOLD = [Annotation("n1", 6, 12, "195967001"), Annotation("n1", 14, 24, "29857009")]


def _plainly(gold: list[Annotation], predicted: list[Annotation]) -> tuple[float, float]:
    """Compute macro and weighted IoU with a set of places for each concept."""

    def places(annotations: list[Annotation]) -> dict[str, set[tuple[str, int]]]:
        concept_at = {
            (one.note_id, place): one.concept_id
            for one in annotations
            for place in range(one.start, one.end)
        }
        found = defaultdict(set)
        for place, concept in concept_at.items():
            found[concept].add(place)
        return found

    wanted, made = places(gold), places(predicted)
    iou = {
        concept: len(wanted[concept] & made[concept]) / len(wanted[concept] | made[concept])
        for concept in {*wanted, *made}
    }
    support = sum(map(len, wanted.values()))
    weighted = sum(iou[concept] * len(wanted[concept]) for concept in iou) / support
    return sum(iou.values()) / len(iou), weighted


def test_by_hand():
    assert [NOTE[one.start : one.end] for one in GOLD] == ["asthma", "Chest pain"]
    assert char_iou(GOLD, GOLD)["macro"] == 1.0
    half = [Annotation("n1", 6, 12, "195967001"), Annotation("n1", 20, 24, "29857009")]
    scores = char_iou(GOLD, half)
    assert scores["macro"] == pytest.approx((1 + 4 / 10) / 2)
    assert scores["weighted"] == pytest.approx((1 * 6 + 0.4 * 10) / 16)
    # A concept that gold lacks counts in the mean, and has no weight.
    wrong = [*GOLD, Annotation("n2", 0, 5, "1")]
    assert char_iou(GOLD, wrong)["macro"] == pytest.approx(2 / 3)
    assert char_iou(GOLD, wrong)["weighted"] == 1.0
    assert char_iou(GOLD, [])["macro"] == 0.0
    assert char_iou([], []) == {
        "macro": None, "weighted": None, "concepts": 0, "gold": 0, "predicted": 0,
    }  # fmt: skip


def test_the_last_of_spans_that_overlap_has_the_characters():
    gold = [Annotation("a", 0, 10, "1")]
    assert char_iou(gold, [*gold, Annotation("a", 5, 10, "2")])["macro"] == pytest.approx(0.25)
    assert char_iou(gold, [Annotation("a", 5, 10, "2"), *gold])["macro"] == 1.0


_ANNOTATIONS = st.lists(
    st.builds(
        lambda note, start, length, concept: Annotation(note, start, start + length, concept),
        st.sampled_from(["a", "b", "c"]), st.integers(0, 30), st.integers(1, 9),
        st.sampled_from(["1", "2", "3", "4"]),
    ),
    min_size=1, max_size=8,
)  # fmt: skip


@given(gold=_ANNOTATIONS, predicted=_ANNOTATIONS)
def test_as_a_plain_computation_gives_it(gold, predicted):
    scores = char_iou(gold, predicted)
    assert (scores["macro"], scores["weighted"]) == pytest.approx(_plainly(gold, predicted))


@given(annotations=_ANNOTATIONS)
def test_tables_come_back(annotations, tmp_path_factory):
    path = tmp_path_factory.mktemp("iou") / "a.csv"
    path.write_text(dump_annotations(annotations), encoding="utf-8")
    assert read_annotations(path) == annotations


@table(__file__, "bad_tables")
def test_bad_tables(tmp_path, text, code):
    path = tmp_path / "a.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(MedlinkError, match=code):
        read_annotations(path)

from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.evaluation.end_to_end import Link, link_scores

PARTS = ("precision", "recall", "f1")


@st.composite
def _links(draw: st.DrawFn, one_concept: bool) -> Link:
    start = draw(st.integers(0, 6))
    end = start + draw(st.integers(1, 4))
    concepts = draw(st.frozensets(st.integers(0, 3), max_size=1 if one_concept else 2))
    return Link(draw(st.sampled_from("ab")), start, end, concepts)


def _characters(link: Link) -> set[tuple[str, int]]:
    return {(link.doc, place) for place in range(link.start, link.end)}


def _fraction(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None


@given(
    st.lists(_links(one_concept=False), max_size=8), st.lists(_links(one_concept=True), max_size=8)
)
def test_against_comparing_everything_with_everything(
    gold: list[Link], predicted: list[Link]
) -> None:
    scores = link_scores(gold, predicted)
    wanted, found = set(gold), set(predicted)
    assert (scores["gold"], scores["predicted"]) == (len(wanted), len(found))
    for name in ("strict", "overlap", "spans", "spans_overlap"):
        pairs = [
            (one, other)
            for one in wanted
            for other in found
            if (name.startswith("spans") or one.concepts & other.concepts)
            and (
                _characters(one) & _characters(other)
                if name.endswith("overlap")
                else one[:3] == other[:3]
            )
        ]
        assert scores[name]["recall"] == _fraction(len({one for one, _ in pairs}), len(wanted))
        assert scores[name]["precision"] == _fraction(len({two for _, two in pairs}), len(found))


def test_documents_are_scored_by_their_concepts() -> None:
    gold = [
        Link("a", 0, 5, frozenset({1})),
        Link("a", 9, 12, frozenset({1})),
        Link("a", 20, 25, frozenset({2, 3})),
        Link("b", 0, 4, frozenset()),
    ]
    predicted = [
        Link("a", 50, 55, frozenset({1})),
        Link("a", 60, 65, frozenset({3})),
        Link("b", 0, 4, frozenset({1})),
    ]
    scores = link_scores(gold, predicted)["document"]
    # Gold: {1} and {2, 3} in a, one that cannot be found in b; predicted: 1 and 3 in a, 1 in b.
    assert [scores[part] for part in PARTS] == [round(2 / 3, 6)] * 3
    assert link_scores(gold, predicted)["strict"]["f1"] == 0.0


def test_nothing_predicted() -> None:
    scores = link_scores([Link("a", 0, 1, frozenset({1}))], [])
    assert [scores["strict"][part] for part in PARTS] == [None, 0.0, 0.0]
    assert link_scores([], [])["strict"]["f1"] is None


def test_intervals_of_f1() -> None:
    # All of document a is found and nothing of b: F1 is 1 or 0 where one of them alone is drawn.
    gold = [Link("a", 0, 5, frozenset({1})), Link("b", 0, 5, frozenset({1}))]
    scores = link_scores(gold, [Link("a", 0, 5, frozenset({1}))])
    assert scores["strict"]["f1"] == round(2 / 3, 6)
    assert scores["strict"]["f1_ci95"] == [0.0, 1.0]
    assert link_scores(gold, gold)["strict"]["f1_ci95"] == [1.0, 1.0]
    assert link_scores([], [])["strict"]["f1_ci95"] is None

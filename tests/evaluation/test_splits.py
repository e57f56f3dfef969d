from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.evaluation import splits
from spacy_medlink.evaluation.splits import near_references
from tests.tables import table

WORDS = st.lists(st.text("abcA", max_size=8), max_size=12)


def _distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        previous, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    return row[-1]


def _normalised(one: str, other: str) -> float:
    longer = max(len(one), len(other))
    return _distance(one, other) / longer if longer else 0.0


@given(WORDS, WORDS, st.sampled_from([0.0, 0.2, 0.25, 0.5, 1.0]), st.integers(1, 4))
def test_against_comparing_everything_with_everything(
    texts: list[str], references: list[str], distance: float, chunk: int
) -> None:
    with patch.object(splits, "_CHUNK", chunk):
        found = near_references(texts, iter(references), distance)
    for text in texts:
        distances = [_normalised(text.lower(), other.lower()) for other in references]
        if 0.0 in distances:
            assert found[text] is True
        elif any(value < distance for value in distances):
            assert found[text] is False
        else:
            assert text not in found


@table(__file__, "examples")
def test_examples(text: str, expected: bool | None) -> None:
    assert near_references([text], ["breast cancer", "abcde"], 0.2).get(text) is expected

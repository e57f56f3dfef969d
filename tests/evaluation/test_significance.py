import numpy as np
import pytest

from spacy_medlink.evaluation.intervals import compare_systems


def _hits(*counts: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """(n, ours, theirs): n mentions that each system got right or wrong."""
    pairs = [(one, two) for n, one, two in counts for _ in range(n)]
    ours, theirs = np.array(pairs, dtype=float).T
    return ours, theirs


def _docs(n: int) -> list[str]:
    return [str(number) for number in range(n)]


def test_a_clear_difference() -> None:
    ours, theirs = _hits((60, 1, 1), (30, 1, 0), (5, 0, 1), (5, 0, 0))
    found = compare_systems(ours, theirs, _docs(100))
    assert (found["ours"], found["theirs"], found["difference"]) == (0.9, 0.65, 0.25)
    low, high = found["ci95"]
    # Standard error of the mean of 30 ones, 5 minus ones and 65 zeros: 0.054.
    assert low == pytest.approx(0.25 - 1.96 * 0.054, abs=0.02)
    assert high == pytest.approx(0.25 + 1.96 * 0.054, abs=0.02)
    assert found["p"] < 0.001


def test_the_randomisation_test_against_all_exchanges() -> None:
    # Six documents in which ours is ahead by one: of 64 exchanges, two differ as much.
    found = compare_systems(np.ones(6), np.zeros(6), _docs(6))
    assert found["p"] == pytest.approx(2 / 64, abs=0.005)


def test_one_document_proves_nothing() -> None:
    found = compare_systems(np.ones(50), np.zeros(50), ["one"] * 50)
    assert found["p"] == 1.0


def test_equal_systems() -> None:
    ours, theirs = _hits((10, 1, 1), (10, 0, 0))
    found = compare_systems(ours, theirs, _docs(20))
    assert (found["difference"], found["ci95"], found["p"]) == (0.0, [0.0, 0.0], 1.0)


def test_nothing_to_compare() -> None:
    found = compare_systems(np.zeros(0), np.zeros(0), [])
    assert found["n"] == 0
    assert found["p"] is found["difference"] is found["ci95"] is None

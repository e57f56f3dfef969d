"""Comparing rankings as the contract has it: the same candidates, scores within 1e-4."""

from collections.abc import Sequence

import pytest

from spacy_medlink.types import Candidate

# Sums in another order, as in another batch, differ in their last digits.
_SAME = 1e-4


def assert_same(found: Sequence[Sequence[Candidate]], want: Sequence[Sequence[Candidate]]) -> None:
    """Compare all that rankings of several mentions say."""
    assert len(found) == len(want)
    for own, other in zip(found, want, strict=True):
        assert [_facts(one) for one in own] == [_facts(one) for one in other]
        for one, same in zip(own, other, strict=True):
            assert one.score == pytest.approx(same.score, abs=_SAME)
            assert one.scores == pytest.approx(same.scores, abs=_SAME)
            assert one.prob == pytest.approx(same.prob, abs=_SAME)


def _facts(one: Candidate) -> tuple[object, ...]:
    return one.row, one.name_row, one.ranks, one.form, one.decided, one.tied

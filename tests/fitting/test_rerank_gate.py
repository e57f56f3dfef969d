"""A reranker need not read what it would hardly ever change."""

import pytest

from spacy_medlink.fitting.reranker import MAX_CHANGED, at_most, fit_rerank_gate
from spacy_medlink.types import Candidate, Mention


class _Swapping:
    """A reranker that puts the second candidate first for some texts."""

    def __init__(self, texts, weight):
        self.texts, self.weight = texts, weight

    def rescore(self, mentions, rankings):
        pairs = zip(mentions, rankings, strict=True)
        return [ranking[::-1] if one.text in self.texts else ranking for one, ranking in pairs]


@pytest.mark.parametrize(("n", "allowed"), [(500, -1), (800, 0), (1200, 1)])
def test_a_gate_of_a_reranker_changes_few_links(n, allowed):
    margins = [place / n for place in range(n)]
    rankings = [[Candidate(0, 0, own, {}), Candidate(1, 1, 0.0, {})] for own in margins]
    mentions = [Mention(f"m{place}") for place in range(n)]
    swapped = [int(n * share) for share in (0.8, 0.7, 0.5)]
    facts = fit_rerank_gate(
        _Swapping({f"m{place}" for place in swapped}, 0.95), mentions, rankings, {"tiers": []}
    )
    want = 1.0 if allowed < 0 else margins[swapped[allowed]]
    assert facts["margin"] == want and facts["fitted_for"] == {"tiers": []}
    assert facts["passing"] == sum(margin > want for margin in margins)
    assert facts["changed"] == max(0, allowed)
    assert allowed < 0 or facts["at_most"] == at_most(allowed, n) <= MAX_CHANGED


def test_what_a_small_weight_cannot_change_passes_without_examples():
    ranking = [Candidate(0, 0, 0.9, {}), Candidate(1, 1, 0.1, {})]
    facts = fit_rerank_gate(_Swapping(set(), 0.2), [Mention("a"), Mention("A")], [ranking] * 2, {})
    assert (facts["margin"], facts["at_most"]) == (0.25, 0.0)
    assert (facts["mentions"], facts["examples"], facts["passing"]) == (2, 1, 2)


def test_the_same_text_counts_once_with_its_widest_margin():
    rankings = [[Candidate(0, 0, own, {}), Candidate(1, 1, 0.0, {})] for own in (0.2, 0.4, 0.3)]
    mentions = [
        Mention("same"),
        Mention("Same"),
        Mention("same"),
        *map(Mention, map(str, range(700))),
    ]
    rankings += [[Candidate(0, 0, 1.0, {})]] * 700
    facts = fit_rerank_gate(_Swapping({"same", "Same"}, 0.95), mentions, rankings, {})
    assert (facts["margin"], facts["examples"], facts["changed"]) == (0.4, 701, 0)

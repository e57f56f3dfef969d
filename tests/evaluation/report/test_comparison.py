from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation.report import compare_metrics, read_records

OTHER = Path("other.json")


def test_against_counting_by_hand(metrics, make_metrics):
    other = make_metrics(tiers=("exact",))
    found = compare_metrics(metrics, other, OTHER)
    pairs = [
        (one.rank, two.rank)
        for one, two in zip(read_records(metrics), read_records(other), strict=True)
        if one.gold
    ]
    for k in (1, 3):
        ours = sum(0 < one <= k for one, _ in pairs) / len(pairs)
        theirs = sum(0 < two <= k for _, two in pairs) / len(pairs)
        assert found[f"acc@{k}"]["ours"] == pytest.approx(ours, abs=1e-6)
        assert found[f"acc@{k}"]["theirs"] == pytest.approx(theirs, abs=1e-6)
    assert found["mrr"]["ours"] == pytest.approx(metrics["mrr"], abs=1e-6)
    assert (found["name"], found["tiers_used"]) == ("other.json", ["exact"])


def test_a_system_against_itself(metrics):
    found = compare_metrics(metrics, metrics, OTHER)
    assert found["acc@1"]["difference"] == 0.0
    assert found["acc@1"]["p"] == 1.0


def test_only_depths_that_both_have(metrics, make_metrics):
    assert "acc@3" not in compare_metrics(metrics, make_metrics(ks=(1, 2)), OTHER)


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"protocol": "names"}, "ranks count names, not concepts"),
     ({"only_known": True}, "5 mentions, not 6")],
)  # fmt: skip
def test_what_cannot_be_compared(metrics, make_metrics, settings, said):
    with pytest.raises(MedlinkError, match=f"E411.*{said}"):
        compare_metrics(metrics, make_metrics(**settings), OTHER)


def test_other_mentions(metrics):
    place = metrics["mentions"]["columns"].index("start")
    rows = [list(row) for row in metrics["mentions"]["rows"]]
    rows[1][place] += 1
    other = {**metrics, "mentions": {**metrics["mentions"], "rows": rows}}
    with pytest.raises(MedlinkError, match="mention 2 is another one"):
        compare_metrics(metrics, other, OTHER)

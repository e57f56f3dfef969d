import math
from typing import Any

import pytest

from spacy_medlink.evaluation.records import Record
from spacy_medlink.evaluation.report import Run, read_records
from spacy_medlink.evaluation.report.figures import (
    Axis,
    Line,
    accuracy_chart,
    accuracy_points,
    line_chart,
    type_confusion,
)
from tests.evaluation.report.conftest import HOSTILE, Make


def _record(rank: int, *gold: str) -> Record:
    return Record(
        "1", 0, -1, -1, "en", "", list(gold), [], rank, rank, False, None, "right", [], {}
    )


def test_accuracy_points_by_hand() -> None:
    records = [_record(1, "a"), _record(3, "a"), _record(0, "a"), _record(0)]
    assert accuracy_points(records, 4) == [
        (1, pytest.approx(1 / 3)), (2, pytest.approx(1 / 3)), (3, pytest.approx(2 / 3)),
        (4, pytest.approx(2 / 3)),
    ]  # fmt: skip
    assert accuracy_points([_record(0)], 4) == []


def test_the_curve_passes_through_the_figures(metrics: dict[str, Any]) -> None:
    points = dict(accuracy_points(read_records(metrics), 3))
    for k in (1, 3):
        assert points[k] == pytest.approx(metrics[f"acc@{k}"], abs=1e-6)


def test_one_depth_is_no_curve(make_metrics: Make) -> None:
    assert accuracy_chart([Run("x", make_metrics(ks=(1,)))]) == ""


def test_points_are_where_they_belong() -> None:
    axis = Axis("x", [(0, "0"), (10, "10")], 0, 10)
    svg = line_chart(HOSTILE, axis, "y", [Line(HOSTILE, [(0, 0), (10, 1), (5, 0.5)])], True)
    (points,) = (
        part.split('"')[0] for part in svg.split('points="')[1:] if not part.startswith("1,5")
    )
    (x0, y0), (x1, y1), (x2, y2) = (map(float, one.split(",")) for one in points.split())
    assert (x2, y2) == (pytest.approx((x0 + x1) / 2), pytest.approx((y0 + y1) / 2))
    assert x0 < x1
    assert y0 > y1
    assert "<img" not in svg
    assert 'role="img"' in svg
    assert not math.isnan(x0)


def test_confusion_counts_every_known_mention(metrics: dict[str, Any]) -> None:
    found = type_confusion(Run("x", metrics))
    assert found is not None
    known = [record for record in read_records(metrics) if record.right]
    assert sum(map(sum, found["counts"])) == len(known)
    bare = {id: [name, []] for id, (name, _) in metrics["concepts"].items()}
    assert type_confusion(Run("x", {**metrics, "concepts": bare})) is None

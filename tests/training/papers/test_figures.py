from xml.etree import ElementTree

from training.papers.figures import Panel, Series, curves, draw
from training.papers.plan import read_layout
from training.papers.published import LAYOUTS, read_published
from training.papers.table import Row, make_table

SVG = "{http://www.w3.org/2000/svg}"


def test_a_curve_for_each_system_and_for_what_was_published():
    layout = read_layout(LAYOUTS / "clinlinker.cfg")
    values = zip(layout.ks, (50.0, 60.0, 70.0, 75.0, 80.0), strict=True)
    rising: dict[str, float | None] = {f"acc@{k}": value for k, value in values}
    rows = [Row("A <new> one", part, 9, rising) for part in ("full", "unseen_codes")]
    published = read_published("clinlinker", "distemist")
    table = make_table(layout, "distemist", rows, published)
    root = ElementTree.fromstring(draw(curves(table["rows"], table["parts"])))
    lines = root.findall(f"{SVG}polyline")
    assert len(lines) == 2 + len(published)
    dashed = [line for line in lines if line.get("stroke-dasharray")]
    assert len(dashed) == len(published)
    texts = [text.text or "" for text in root.findall(f"{SVG}text")]
    assert texts.count("A <new> one") == 2 and "Spanish-SapBERT + CE, published" in texts
    for line in lines:  # no accuracy falls with depth
        points = [tuple(map(float, one.split(","))) for one in line.get("points", "").split()]
        assert len(points) == 5 and points == sorted(points)
        assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)


def test_two_depths_make_no_curve():
    layout = read_layout(LAYOUTS / "sapbert.cfg")
    rows = [Row("new", "full", 9, {"acc@1": 50.0, "acc@5": 60.0})]
    table = make_table(layout, "ncbi", rows, [])
    assert draw(curves(table["rows"], table["parts"])) == ""


def test_points_fill_their_panel_and_keep_their_series_apart():
    first = Series("T047", [(-3.0, 10.0), (5.0, 2.0)], "dots", 0)
    second = Series("T121", [(1.0, 6.0)], "dots", 1)
    root = ElementTree.fromstring(draw([Panel("BioBERT", [first, second]), Panel("x", [second])]))
    groups = root.findall(f"{SVG}g")
    assert [len(group.findall(f"{SVG}circle")) for group in groups] == [2, 1, 1]
    assert groups[0].get("fill") != groups[1].get("fill")
    left, right = ((float(one.get("cx", "")), float(one.get("cy", ""))) for one in groups[0])
    (middle,) = ((float(one.get("cx", "")), float(one.get("cy", ""))) for one in groups[1])
    # The lowest x is at the left edge, the highest y at the upper one.
    assert left[0] == 40 and left[1] == 40 and right[0] == 380 and right[1] == 260
    assert middle == ((left[0] + right[0]) / 2, (left[1] + right[1]) / 2)
    (other,) = groups[2]
    assert float(other.get("cx", "")) >= 420

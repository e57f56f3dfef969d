from xml.etree import ElementTree

from training.papers.curves import curves
from training.papers.measuring import Part, Row
from training.papers.plan import read_layout
from training.papers.published import LAYOUTS, read_published
from training.papers.table import make_table

SVG = "{http://www.w3.org/2000/svg}"


def test_a_curve_for_each_system_and_for_what_was_published() -> None:
    layout = read_layout(LAYOUTS / "clinlinker.cfg")
    values = zip(layout.ks, (50.0, 60.0, 70.0, 75.0, 80.0), strict=True)
    rising = {f"acc@{k}": value for k, value in values}
    rows = [Row("A <new> one", {"full": Part(9, rising), "unseen_codes": Part(4, rising)})]
    published = read_published("clinlinker", "distemist")
    root = ElementTree.fromstring(curves(make_table(layout, "distemist", rows, published)))
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


def test_two_depths_make_no_curve() -> None:
    layout = read_layout(LAYOUTS / "sapbert.cfg")
    rows = [Row("new", {"full": Part(9, {"acc@1": 50.0, "acc@5": 60.0})})]
    assert curves(make_table(layout, "ncbi", rows, [])) == ""

import pytest

from training.papers.plan import Layout
from training.papers.published import Published
from training.papers.table import Row, as_markdown, averaged, make_table, with_averages

LAYOUT = Layout(paper="sapbert", title="A paper", note="A note.")
OURS = [
    Row("Tf-idf", "full", 20, {"acc@1": 55.04, "acc@5": None}),
    Row("new", "full", 20, {"acc@1": 60.0, "acc@5": 70.0}),
    Row("new", "unseen", 7, {"acc@1": 1.0, "acc@5": 2.0}),
]
THEIRS = [
    Published("sapbert", "1", "ncbi", "full", "Tf-idf", {"acc@1": 50.0, "acc@5": 61.26}),
    Published("sapbert", "2", "ncbi", "full", "BioSyn", {"acc@1": 91.1}),
]


def test_ours_stand_over_theirs() -> None:
    assert as_markdown(make_table(LAYOUT, "ncbi", OURS, THEIRS)).splitlines() == [
        "**A paper**: ncbi, acc@1 / acc@5", "", "| system | full (20) | unseen |",
        "|---|---|---|", "| Tf-idf | 55.0 / - |  |", "| *published* | 50.0 / 61.3 |  |",
        "| new | 60.0 / 70.0 | 1.0 / 2.0 |", "| *BioSyn, published* | 91.1 / - |  |", "",
        "Published: table 1, table 2 of the paper. Ranks count names. A note.",
    ]  # fmt: skip


def test_without_published_figures() -> None:
    table = make_table(LAYOUT, "ours", OURS, [])
    assert [row["system"] for row in table["rows"]] == ["Tf-idf", "new"]
    assert "Published" not in as_markdown(table)


def test_without_figures_of_ours() -> None:
    text = as_markdown(make_table(LAYOUT, "ncbi", [], THEIRS))
    assert "| *BioSyn, published* | 91.1 / - |" in text


def test_runs_of_a_system_are_one_row_with_mean_and_deviation() -> None:
    def run(name: str, first: float, fifth: float | None) -> Row:
        return Row(name, "full", 20, {"acc@1": first, "acc@5": fifth})

    runs = [run("new", 50.0, 70.0), OURS[0], run("new", 52.0, None)]
    rows = averaged(runs)
    assert [row.system for row in rows] == ["new", "Tf-idf"]
    assert rows[1] == OURS[0]
    mean, deviation, fifth = rows[0].figures.values()
    assert (mean, fifth) == (51.0, None) and deviation == pytest.approx(2**0.5)
    assert "| new | 51.0 ± 1.4 / - |" in as_markdown(make_table(LAYOUT, "ncbi", rows, []))
    # Folds have other mentions.
    (folds, _) = averaged(runs, pooled=True)
    assert folds == Row("new", "full", 40, {"acc@1": 51.0, "acc@5": None})


def test_means_over_parts_are_of_the_parts_that_there_are() -> None:
    rows = [
        Row("new", "en", 3, {"acc@1": 50.0, "acc@5": 75.0}),
        Row("new", "es", 1, {"acc@1": 100.0, "acc@5": None}),
    ]
    averages: dict[str, list[str]] = {"avg": [], "avg of 2": ["en", "de"], "both": ["en", "es"]}
    *_, every, both = with_averages(rows, averages)
    assert every == Row("new", "avg", 4, {"acc@1": 75.0, "acc@5": None})
    assert both == every._replace(part="both")
    assert list(with_averages(rows[:1], averages)) == rows[:1]
    table = make_table(LAYOUT, "ours", [*rows, every], [])
    assert "| new | 50.0 / 75.0 | 100.0 / - | 75.0 / - |" in as_markdown(table)


def test_a_system_is_tested_against_the_one_it_starts_from() -> None:
    def runs(name: str, *hits: list[float]) -> list[Row]:
        made = [{(f"{n}", n): hit for n, hit in enumerate(run)} for run in hits]
        return [Row(name, "full", 40, {"acc@1": 100 * sum(run) / 40}, hit)
                for run, hit in zip(hits, made, strict=True)]  # fmt: skip

    base, better = [0.0] * 40, [1.0] * 20 + [0.0] * 20
    rows = averaged([*runs("base", base, base), *runs("new", better, base)])
    table = make_table(LAYOUT, "ncbi", rows, [], {"new": "base"}, ["One line."])
    (_, new) = table["rows"]
    found = new["differences"]["full"]
    assert found["difference"] == 0.25 and found["p"] < 0.01
    lines = as_markdown(table).splitlines()
    assert "| *against base* | +25.0 (p 0.000) |" in lines and lines[-1] == "One line."
    # Other mentions, or a part of them, are not compared.
    others = [*averaged(runs("base", base[:30])), rows[1]]
    assert not make_table(LAYOUT, "ncbi", others, [], {"new": "base"})["rows"][1]["differences"]
    pooled = averaged([rows[1], rows[1]._replace(hits={("other", 1): 1.0})], pooled=True)
    assert len(pooled[0].hits) == 41, "mentions of folds stand side by side"

from pathlib import Path
from typing import Any

from spacy_medlink.evaluation.report import Run, compare_metrics
from spacy_medlink.evaluation.report.page import shown
from spacy_medlink.evaluation.report.tables import Table, make_tables, split_title
from tests.evaluation.report.conftest import Make
from tests.tables import table


def _tables(*runs: Run) -> dict[str, Table]:
    return {table.name: table for table in make_tables(runs)}


def test_figures_are_those_of_the_metrics(metrics: dict[str, Any]) -> None:
    tables = _tables(Run("one", metrics))
    for one in tables.values():
        assert all(len(row) == len(one.header) for row in one.rows), one.name
    systems = {row[0]: row for row in tables["systems"].rows}
    assert list(systems) == ["exact look-up", "n-grams", "exact + ngram (the linker)"]
    linker = systems["exact + ngram (the linker)"]
    assert linker[1:6] == [
        metrics["n"], metrics["gold_in_kb"], metrics["acc@1"], metrics["acc@3"], metrics["mrr"]
    ]  # fmt: skip
    assert systems["exact look-up"][3] == metrics["baselines"]["exact"]["acc@1"]
    assert {row[0] for row in tables["by_lang"].rows} == {"en", "es"}
    assert tables["lost"].rows[-1][1:] == list(metrics["verdicts"].values())
    assert [row[2] for row in tables["splits"].rows[::3]] == [
        split["n"] for split in metrics["splits"].values()
    ]
    assert {"nil", "rollup", "gold", "retrieval"} <= tables.keys()
    assert not {"against", "end_to_end", "by_type"} & tables.keys()


def test_several_runs_are_named(metrics: dict[str, Any], make_metrics: Make) -> None:
    other = make_metrics(tiers=("exact",), baselines=False, ks=(1, 2))
    other["against"] = compare_metrics(other, metrics, Path("one.json"))
    tables = _tables(Run("one", metrics), Run("two", other))
    assert tables["systems"].rows[-1][0] == "two: exact (the linker)"
    assert tables["systems"].header[3:6] == ["acc@1", "acc@2", "acc@3"]
    assert tables["systems"].rows[-1][5] is None
    assert tables["against"].rows[0][0] == "two against one.json: acc@1"
    assert tables["by_lang"].rows[0][1] == "one"


@table(__file__, "split_title")
def test_split_title(name: str, title: str) -> None:
    assert split_title(name) == title


def test_shown() -> None:
    assert [shown(cell) for cell in (None, 0.5, 1234, "x", 1.0)] == [
        "–", "50.0", "1,234", "x", "100.0"
    ]  # fmt: skip

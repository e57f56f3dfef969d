"""The tables of a report, as plain values."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..calibration import reliability_bins
from ..intervals import Floats, fraction
from ..outcome import VERDICTS, Metrics
from .metrics_file import Run

Cell = str | int | float | None
_INTERVAL = "acc@1, 95 % interval"
_PARTS = ("precision", "recall", "f1")
_THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
_BASELINES = {"exact": "exact look-up", "ngram": "n-grams"}
_LEVELS = {
    "strict": "mention, same span", "overlap": "mention, spans that touch",
    "spans": "spans alone, the same", "spans_overlap": "spans alone, touching",
    "document": "concepts of a document",
}  # fmt: skip
_SPLITS = {
    "full": "all mentions", "filtered_train": "without mentions of the training data",
    "filtered_dictionary": "without mentions that are names of the knowledge base",
    "unseen_codes": "concepts that the training data lacks",
}  # fmt: skip


class Table(NamedTuple):
    """A table.

    name (str): of its anchor. title, note (str): above and below it.
    header (List[str]): of the columns. rows (List[List[Cell]]): floats are fractions, shown in
        per cent; None is an undefined value.
    """

    name: str
    title: str
    header: list[str]
    rows: list[list[Cell]]
    note: str = ""


def make_tables(runs: Sequence[Run]) -> list[Table]:
    """Make all tables for which the runs have data."""
    tables = [
        _systems(runs), _retrieval(runs), _splits(runs), _nil(runs), _lost(runs), _rollup(runs),
        *_groups(runs), _end_to_end(runs), _against(runs), _gold(runs), _reliability(runs),
        _coverage(runs),
    ]  # fmt: skip
    return [table for table in tables if table.rows]


def systems_of(run: Run) -> Iterator[tuple[str, Metrics]]:
    """List the systems that a run measured: tiers alone, and the linker."""
    used = " + ".join(run.metrics["tiers_used"])
    for name, measured in run.metrics["baselines"].items():
        yield _BASELINES.get(name, name), measured
    yield f"{used} (the linker)", run.metrics


def split_title(name: str) -> str:
    """Describe the content of a split, such as "filtered_0.2_train", in words."""
    if name in _SPLITS:
        return _SPLITS[name]
    _, distance, reference = f"{name}__".split("_")[:3]
    what = "the training data" if reference == "train" else "the knowledge base's names"
    return f"... nor nearer than {distance} to {what}"


def _systems(runs: Sequence[Run]) -> Table:
    ks = _depths(runs)
    header = [
        "system", "mentions", "gold in KB", *(f"acc@{k}" for k in ks), "MRR", _INTERVAL,
        "mentions/s",
    ]  # fmt: skip
    rows = _by_system(runs, lambda measured: [
        measured["n"], measured["gold_in_kb"], *(measured.get(f"acc@{k}") for k in ks),
        measured["mrr"], _interval(measured["ci95"].get("acc@1")),
        _whole(measured["speed"]["mentions_per_s"]),
    ])  # fmt: skip
    protocols = sorted({run.metrics["protocol"] for run in runs})
    note = (
        f"Ranks count {' or '.join(protocols)}. Mentions whose gold concept the knowledge base "
        "lacks count as wrong. The interval is by bootstrap over documents."
    )
    return Table("systems", "Systems", header, rows, note)


def _by_system(runs: Sequence[Run], cells: Callable[[Metrics], list[Cell]]) -> list[list[Cell]]:
    """Make a row of each system of each run."""
    return [
        [_named(runs, run, name), *cells(measured)]
        for run in runs
        for name, measured in systems_of(run)
    ]


def _retrieval(runs: Sequence[Run]) -> Table:
    depths = [*(f"recall@{k}" for k in _depths(runs)), "recall@all"]
    rows = _by_system(runs, lambda measured: [measured.get(depth) for depth in depths])
    note = "Whether the gold concept is among the first k that the retriever proposes."
    return Table("retrieval", "Retrieval", ["system", *depths], rows, note)


def _splits(runs: Sequence[Run]) -> Table:
    ks = _depths(runs)
    rows: list[list[Cell]] = []
    for run in runs:
        for split in run.metrics["splits"]:
            for name, measured in systems_of(run):
                part = measured.get("splits", {}).get(split)
                if part:
                    values = [part.get(f"acc@{k}") for k in ks]
                    rows.append(
                        [split_title(split), _named(runs, run, name), part["n"], *values,
                         part["mrr"]]
                    )  # fmt: skip
    header = ["part", "system", "mentions", *(f"acc@{k}" for k in ks), "MRR"]
    note = (
        "Parts of the test data that cannot be known by heart (Alekseev et al., 2022): mentions "
        "that the training data, or the knowledge base itself, holds are taken out."
    )
    return Table("splits", "Fair parts of the test data", header, rows, note)


def _groups(runs: Sequence[Run]) -> list[Table]:
    ks = _depths(runs)
    labels = dict.fromkeys(name for run in runs for name in run.metrics if name.startswith("by_"))
    tables = []
    for label in labels:
        what = label.removeprefix("by_").replace("_", " ")
        rows: list[list[Cell]] = []
        for run in runs:
            for group, measured in run.metrics.get(label, {}).items():
                interval = _interval(measured["ci95"].get("acc@1"))
                rows.append(
                    [group, *_only_if_many(runs, run), measured["n"], measured["gold_in_kb"],
                     *(measured.get(f"acc@{k}") for k in ks), measured["mrr"], interval]
                )  # fmt: skip
        header = [
            what, *(["run"] if len(runs) > 1 else []), "mentions", "gold in KB",
            *(f"acc@{k}" for k in ks), "MRR", _INTERVAL,
        ]  # fmt: skip
        tables.append(Table(label, f"By {what}", header, rows if len(rows) > len(runs) else []))
    return tables


def _nil(runs: Sequence[Run]) -> Table:
    rows: list[list[Cell]] = []
    for run in runs:
        nil, links = run.metrics["nil"], run.metrics["links"]
        if nil["n"] or nil["predicted"]:
            for what, scores in (("NIL", nil), ("links", links)):
                counts = scores["n"], scores["predicted"]
                shares = *(scores[part] for part in _PARTS), scores.get("coverage")
                rows.append([f"{run.name}: {what}", *counts, *shares])
    header = ["", "gold", "predicted", *_PARTS, "coverage"]
    return Table("nil", "NIL and links", header, rows, "NIL: the linker says that no concept fits.")


def _lost(runs: Sequence[Run]) -> Table:
    rows = _by_system(runs, lambda measured: [*measured["verdicts"].values()])
    header = ["system", *VERDICTS]
    note = (
        "not retrieved: the retriever did not propose the gold concept among its first 64; "
        "mis-ranked: it did, but another came first; wrong NIL: the right one came first and was "
        "not believed; missed NIL: linked, though the gold standard says that nothing fits."
    )
    return Table("lost", "Where mentions were lost", header, rows, note)


def _rollup(runs: Sequence[Run]) -> Table:
    rows: list[list[Cell]] = []
    for run in runs:
        rollup = run.metrics.get("rollup")
        if rollup:
            rows.append(
                [run.name, run.metrics.get("acc@1"), rollup["acc@1_within_1"],
                 rollup["acc@1_within_2"], rollup["acc@1_any"], rollup["ancestor"],
                 rollup["descendant"]]
            )  # fmt: skip
    header = [
        "run", "acc@1", "within 1 step", "within 2 steps", "above or below at all",
        "too general", "too special",
    ]  # fmt: skip
    note = "Answers that are an ancestor or a descendant of the gold concept count as right."
    return Table("rollup", "Right but for the depth in the hierarchy", header, rows, note)


def _end_to_end(runs: Sequence[Run]) -> Table:
    rows: list[list[Cell]] = []
    for run in runs:
        scores = run.metrics.get("end_to_end")
        if scores:
            for level, title in _LEVELS.items():
                values = [scores[level][part] for part in _PARTS]
                interval = _interval(scores[level].get("f1_ci95"))
                rows.append([_named(runs, run, title), *values, interval])
    header = ["level", *_PARTS, "F1, 95 % interval"]
    return Table("end_to_end", "End to end, from raw text", header, rows)


def _against(runs: Sequence[Run]) -> Table:
    rows: list[list[Cell]] = []
    for run in runs:
        compared = run.metrics.get("against", {})
        for name, difference in compared.items():
            if isinstance(difference, dict) and "ours" in difference:
                title = f"{run.name} against {compared['name']}: {name}"
                values = (difference[part] for part in ("ours", "theirs", "difference"))
                interval = _interval(difference["ci95"])
                rows.append([title, *values, interval, f"{difference['p']:.4f}"])
    header = ["", "this", "other", "difference", "95 % interval", "p"]
    note = (
        "Paired over the same mentions: the interval of the difference by bootstrap over documents,"
        " p by approximate randomisation."
    )
    return Table("against", "Against another system", header, rows, note)


def _gold(runs: Sequence[Run]) -> Table:
    counts = ("documents", "mentions", "nil", "not_in_kb", "left_out", "composites")
    ways = list(dict.fromkeys(way for run in runs for way in run.metrics["gold"]["ids"]))
    rows: list[list[Cell]] = [
        [run.name, *(run.metrics["gold"][fact] for fact in counts), run.metrics["mismatches"],
         *(run.metrics["gold"]["ids"].get(way, 0) for way in ways)]
        for run in runs
    ]  # fmt: skip
    header = [
        "run", "documents", "mentions", "NIL", "gold not in KB", "left out", "taken apart",
        "offsets that do not fit", *(f"ids: {way}" for way in ways),
    ]  # fmt: skip
    note = "ids: how gold ids were found (as own ids, through the history of ids, as codes)."
    return Table("gold", "The gold mentions", header, rows, note)


def _reliability(runs: Sequence[Run]) -> Table:
    rows: list[list[Cell]] = []
    for run in runs:
        probs, right = _confidences(run)
        for each_bin in reliability_bins(probs, right, np.ones(len(probs))) if len(probs) else ():
            span = f"{100 * each_bin['low']:.0f} to {100 * each_bin['high']:.0f} %"
            count = round(each_bin["weight"] * len(probs))
            rows.append([_named(runs, run, span), count, each_bin["prob"], each_bin["accuracy"]])
    header = ["probability", "mentions", "mean probability", "right"]
    note = "Of links that are given a probability of 80 %, about 80 % should be right."
    return Table("reliability", "Reliability of the probabilities", header, rows, note)


def _coverage(runs: Sequence[Run]) -> Table:
    rows: list[list[Cell]] = []
    for run in runs:
        probs, right = _confidences(run)
        for threshold in _THRESHOLDS if len(probs) else ():
            linked = probs >= threshold
            rows.append(
                [_named(runs, run, f"{threshold:g}"), int(linked.sum()),
                 fraction(float(linked.sum()), len(run.records)),
                 fraction(float(right[linked].sum()), float(linked.sum()))]
            )  # fmt: skip
    header = ["threshold", "links", "coverage", "precision"]
    return Table("coverage", "Precision against coverage, as the threshold rises", header, rows)


def _confidences(run: Run) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the probabilities of first answers, where there are any, and which are right."""
    answered = [record for record in run.records if record.prob is not None]
    probs = np.array([record.prob for record in answered], np.float64)
    return probs, np.array([record.is_right for record in answered], np.bool_)


def _depths(runs: Sequence[Run]) -> list[int]:
    return sorted({k for run in runs for k in run.metrics["ks"]})


def _named(runs: Sequence[Run], run: Run, name: str) -> str:
    return f"{run.name}: {name}" if len(runs) > 1 else name


def _only_if_many(runs: Sequence[Run], run: Run) -> list[Cell]:
    return [run.name] if len(runs) > 1 else []


def _interval(interval: Sequence[float] | None) -> str:
    return " to ".join(f"{100 * value:.1f}" for value in interval) if interval else "–"


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)

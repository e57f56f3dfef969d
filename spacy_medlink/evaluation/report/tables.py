"""The tables of a report, as plain values."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..intervals import Floats, fraction, reliability_bins
from ..outcome import VERDICTS, Metrics
from .metrics_file import Run

Cell = str | int | float | None
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
    every = (
        _systems, _retrieval, _splits, _nil, _lost, _rollup, _groups, _end_to_end, _against, _gold,
        _reliability, _coverage,
    )  # fmt: skip
    return [table for make in every for table in make(runs) if table.rows]


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


def _table(
    name: str, title: str, header: Iterable[str], rows: Iterable[Iterable[Cell]], note: str = ""
) -> Iterator[Table]:
    yield Table(name, title, list(header), [list(row) for row in rows], note)


def _by_system(
    runs: Sequence[Run], cells: Callable[[Metrics], Iterable[Cell]]
) -> Iterator[list[Cell]]:
    """Make a row of each system of each run."""
    for run in runs:
        for name, measured in systems_of(run):
            yield [_named(runs, run, name), *cells(measured)]


def _accuracies(runs: Sequence[Run]) -> list[str]:
    """Name the figures at each depth."""
    return [f"acc@{k}" for k in sorted({k for run in runs for k in run.metrics["ks"]})]


def _scores(runs: Sequence[Run], measured: Metrics) -> list[Cell]:
    """Make the cells of `_scored`."""
    return [measured["n"], measured["gold_in_kb"], *map(measured.get, _accuracies(runs)),
            measured["mrr"], _interval(measured["ci95"].get("acc@1"))]  # fmt: skip


def _scored(runs: Sequence[Run]) -> list[str]:
    return ["mentions", "gold in KB", *_accuracies(runs), "MRR", "acc@1, 95 % interval"]


def _systems(runs: Sequence[Run]) -> Iterator[Table]:
    header = ["system", *_scored(runs), "mentions/s"]
    rows = _by_system(runs, lambda measured: [
        *_scores(runs, measured), _whole(measured["speed"]["mentions_per_s"])
    ])  # fmt: skip
    protocols = sorted({run.metrics["protocol"] for run in runs})
    note = (
        f"Ranks count {' or '.join(protocols)}. Mentions whose gold concept the knowledge base "
        "lacks count as wrong. The interval is by bootstrap over documents."
    )
    return _table("systems", "Systems", header, rows, note)


def _retrieval(runs: Sequence[Run]) -> Iterator[Table]:
    depths = [*(name.replace("acc", "recall") for name in _accuracies(runs)), "recall@all"]
    rows = _by_system(runs, lambda measured: map(measured.get, depths))
    note = "Whether the gold concept is among the first k that the retriever proposes."
    return _table("retrieval", "Retrieval", ["system", *depths], rows, note)


def _splits(runs: Sequence[Run]) -> Iterator[Table]:
    accuracies = _accuracies(runs)
    rows = (
        [split_title(split), _named(runs, run, name), part["n"], *map(part.get, accuracies),
         part["mrr"]]
        for run in runs
        for split in run.metrics["splits"]
        for name, measured in systems_of(run)
        if (part := measured.get("splits", {}).get(split))
    )  # fmt: skip
    note = (
        "Parts of the test data that cannot be known by heart (Alekseev et al., 2022): mentions "
        "that the training data, or the knowledge base itself, holds are taken out."
    )
    header = ["part", "system", "mentions", *accuracies, "MRR"]
    return _table("splits", "Fair parts of the test data", header, rows, note)


def _groups(runs: Sequence[Run]) -> Iterator[Table]:
    are_many = len(runs) > 1
    for label in dict.fromkeys(
        name for run in runs for name in run.metrics if name.startswith("by_")
    ):
        what = label.removeprefix("by_").replace("_", " ")
        rows = [
            [group, *[run.name] * are_many, *_scores(runs, measured)]
            for run in runs
            for group, measured in run.metrics.get(label, {}).items()
        ]
        header = [what, *["run"] * are_many, *_scored(runs)]
        yield from _table(label, f"By {what}", header, rows if len(rows) > len(runs) else [])


def _nil(runs: Sequence[Run]) -> Iterator[Table]:
    rows = (
        [f"{run.name}: {what}", scores["n"], scores["predicted"], *map(scores.get, _PARTS),
         scores.get("coverage")]
        for run in runs
        for what, scores in (("NIL", run.metrics["nil"]), ("links", run.metrics["links"]))
        if run.metrics["nil"]["n"] or run.metrics["nil"]["predicted"]
    )  # fmt: skip
    header = ["", "gold", "predicted", *_PARTS, "coverage"]
    note = "NIL: the linker says that no concept fits."
    return _table("nil", "NIL and links", header, rows, note)


def _lost(runs: Sequence[Run]) -> Iterator[Table]:
    rows = _by_system(runs, lambda measured: measured["verdicts"].values())
    note = (
        "not retrieved: the retriever did not propose the gold concept among its first 64; "
        "mis-ranked: it did, but another came first; wrong NIL: the right one came first and was "
        "not believed; missed NIL: linked, though the gold standard says that nothing fits."
    )
    return _table("lost", "Where mentions were lost", ["system", *VERDICTS], rows, note)


def _rollup(runs: Sequence[Run]) -> Iterator[Table]:
    wanted = ("acc@1_within_1", "acc@1_within_2", "acc@1_any", "ancestor", "descendant")
    rows = (
        [run.name, run.metrics.get("acc@1"), *map(run.metrics["rollup"].get, wanted)]
        for run in runs
        if run.metrics.get("rollup")
    )
    header = [
        "run", "acc@1", "within 1 step", "within 2 steps", "above or below at all",
        "too general", "too special",
    ]  # fmt: skip
    note = "Answers that are an ancestor or a descendant of the gold concept count as right."
    return _table("rollup", "Right but for the depth in the hierarchy", header, rows, note)


def _end_to_end(runs: Sequence[Run]) -> Iterator[Table]:
    scored = [(run, scores) for run in runs if (scores := run.metrics.get("end_to_end"))]
    rows = (
        [_named(runs, run, title), *map(scores[level].get, _PARTS),
         _interval(scores[level].get("f1_ci95"))]
        for run, scores in scored
        for level, title in _LEVELS.items()
    )  # fmt: skip
    note = "; ".join(
        f"{run.name}: {scores['gold']:,} gold links, {scores['predicted']:,} predicted in "
        f"{scores['documents']:,} documents"
        for run, scores in scored
    )
    header = ["level", *_PARTS, "F1, 95 % interval"]
    return _table("end_to_end", "End to end, from raw text", header, rows, note)


def _against(runs: Sequence[Run]) -> Iterator[Table]:
    rows = (
        [f"{run.name} against {compared['name']}: {name}",
         *map(difference.get, ("ours", "theirs", "difference")), _interval(difference["ci95"]),
         f"{difference['p']:.4f}"]
        for run in runs
        for compared in [run.metrics.get("against", {})]
        for name, difference in compared.items()
        if isinstance(difference, dict) and "ours" in difference
    )  # fmt: skip
    header = ["", "this", "other", "difference", "95 % interval", "p"]
    note = (
        "Paired over the same mentions: the interval of the difference by bootstrap over documents,"
        " p by approximate randomisation."
    )
    return _table("against", "Against another system", header, rows, note)


def _gold(runs: Sequence[Run]) -> Iterator[Table]:
    counts = ("documents", "mentions", "nil", "not_in_kb", "left_out", "composites")
    ways = list(dict.fromkeys(way for run in runs for way in run.metrics["gold"]["ids"]))
    rows = (
        [run.name, *map(run.metrics["gold"].get, counts), run.metrics["mismatches"],
         run.metrics.get("identified"), *(run.metrics["gold"]["ids"].get(way, 0) for way in ways)]
        for run in runs
    )  # fmt: skip
    header = [
        "run", "documents", "mentions", "NIL", "gold not in KB", "left out", "taken apart",
        "offsets that do not fit", "linked by identifiers", *(f"ids: {way}" for way in ways),
    ]  # fmt: skip
    note = "ids: how gold ids were found (as own ids, through the history of ids, as codes)."
    return _table("gold", "The gold mentions", header, rows, note)


def _reliability(runs: Sequence[Run]) -> Iterator[Table]:
    rows: Iterator[list[Cell]] = (
        [_named(runs, run, f"{100 * each['low']:.0f} to {100 * each['high']:.0f} %"),
         round(each["weight"] * len(probs)), each["prob"], each["accuracy"]]
        for run in runs
        for probs, right in [_confidences(run)]
        for each in (reliability_bins(probs, right, np.ones(len(probs))) if len(probs) else ())
    )  # fmt: skip
    header = ["probability", "mentions", "mean probability", "right"]
    note = "Of links that are given a probability of 80 %, about 80 % should be right."
    return _table("reliability", "Reliability of the probabilities", header, rows, note)


def _coverage(runs: Sequence[Run]) -> Iterator[Table]:
    rows: Iterator[list[Cell]] = (
        [_named(runs, run, f"{threshold:g}"), int(linked.sum()),
         fraction(linked.sum(), len(run.records)),
         fraction(right[linked].sum(), linked.sum())]
        for run in runs
        for probs, right in [_confidences(run)]
        for threshold in (_THRESHOLDS if len(probs) else ())
        for linked in [probs >= threshold]
    )  # fmt: skip
    title = "Precision against coverage, as the threshold rises"
    header = ["threshold", "links", "coverage", "precision"]
    return _table("coverage", title, header, rows)


def _confidences(run: Run) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the probabilities of first answers, where there are any, and which are right."""
    answered = [record for record in run.records if record.prob is not None]
    probs = np.array([record.prob for record in answered], np.float64)
    return probs, np.array([record.is_right for record in answered], np.bool_)


def _named(runs: Sequence[Run], run: Run, name: str) -> str:
    return f"{run.name}: {name}" if len(runs) > 1 else name


def _interval(interval: Sequence[float] | None) -> str:
    return " to ".join(f"{100 * value:.1f}" for value in interval) if interval else "–"


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)

"""The metrics of `medlink evaluate` as tables for people, in per cent."""

from collections.abc import Iterator, Sequence

from ..types import Data
from .output import table

_SCORES = ("strict", "overlap", "spans", "spans_overlap", "document")
_SIGNIFICANT = 0.05


def metrics_report(metrics: Data, ks: Sequence[int]) -> str:
    """Lay out what `evaluate` returns."""
    parts = [table(list(_rows(metrics, ks)), _header(ks)), _about(metrics)]
    if "against" in metrics:
        parts.append(_against(metrics["against"]))
    if "end_to_end" in metrics:
        parts.append(_end_to_end(metrics["end_to_end"]))
    return "\n\n".join(parts)


def _header(ks: Sequence[int]) -> list[str]:
    return ["%", "mentions", "in KB", *(f"acc@{k}" for k in ks), "MRR", "mentions/s"]


def _rows(metrics: Data, ks: Sequence[int]) -> Iterator[list[object]]:
    used = " + ".join(metrics["tiers_used"])
    for name, figures in metrics["baselines"].items():
        if name != used:
            yield _row(name, figures, ks)
    yield _row(used, metrics, ks)
    yield from _groups(metrics, ks)


def _groups(metrics: Data, ks: Sequence[int]) -> Iterator[list[object]]:
    names = ["splits", *(name for name in metrics if name.startswith("by_"))]
    for group in names:
        members = metrics[group]
        if len(members) > 1:
            what = group.removeprefix("by_").rstrip("s").replace("_", " ")
            for name, figures in members.items():
                yield _row(f"{what} {name}", figures, ks)


def _row(name: str, metrics: Data, ks: Sequence[int]) -> list[object]:
    values = [metrics[f"acc@{k}"] for k in ks] + [metrics["mrr"]]
    speed = metrics.get("speed", {}).get("mentions_per_s")
    return [
        name,
        metrics["n"],
        metrics["gold_in_kb"],
        *(None if value is None else 100 * value for value in values),
        None if speed is None else round(speed),
    ]


def _about(metrics: Data) -> str:
    lines = [f"Ranks count {metrics['protocol']}."]
    interval = metrics["ci95"].get("acc@1")
    if interval:
        low, high = (100 * value for value in interval)
        lines.append(f"95 % interval of acc@1: {low:.1f} to {high:.1f} (documents resampled).")
    if metrics["acc@1_ties"] is not None:
        part = _percent(metrics["acc@1_ties"])
        lines.append(f"acc@1 with ties counted in part, as BELB's recall@1: {part}.")
    missing = metrics["gold"]["not_in_kb"]
    counted = "left out" if metrics["gold"]["left_out"] else "wrong"
    lines.append(f"Mentions whose gold concept the knowledge base lacks: {missing:,} ({counted}).")
    if identified := metrics.get("identified"):
        lines.append(
            f"Links that identifiers in the documents decided: {identified:,} (--no-identifiers "
            "leaves them aside)."
        )
    lost = {name: n for name, n in metrics["verdicts"].items() if n and name != "right"}
    if lost:
        counts = ", ".join(f"{name} {n:,}" for name, n in lost.items())
        lines.append(f"Not right at rank 1: {counts}.")
    if "rollup" in metrics:
        near = metrics["rollup"]
        lines.append(
            f"Right or one step up or down the hierarchy: {_percent(near['acc@1_within_1'])}, any "
            f"ancestor or descendant: {_percent(near['acc@1_any'])}."
        )
    nil = metrics["nil"]
    if nil["n"] or nil["predicted"]:
        values = ", ".join(
            f"{name} {_percent(nil[name])}" for name in ("precision", "recall", "f1")
        )
        lines.append(f"NIL: {nil['n']:,} gold, {nil['predicted']:,} predicted, {values}.")
        links = metrics["links"]
        lines.append(
            f"Links made: precision {_percent(links['precision'])}, recall "
            f"{_percent(links['recall'])}, coverage {_percent(links['coverage'])}."
        )
    return "\n".join(lines)


def _against(comparison: Data) -> str:
    rows = [
        [
            name, _percent(measure["ours"]), _percent(measure["theirs"]),
            f"{100 * measure['difference']:+.1f}",
            " to ".join(f"{100 * value:+.1f}" for value in measure["ci95"]), f"{measure['p']:.4f}",
            "yes" if measure["p"] < _SIGNIFICANT else "no",
        ]
        for name, measure in comparison.items()
        if isinstance(measure, dict) and "ours" in measure
    ]  # fmt: skip
    head = f"Against {comparison['name']}, the same mentions:"
    columns = ("%", "this", "other", "difference", "95 % interval", "p", "significant")
    return f"{head}\n{table(rows, columns)}"


def _end_to_end(scores: Data) -> str:
    rows = [
        [name.replace("_", " "), *(_percent(scores[name][part]) for part in
                                   ("precision", "recall", "f1"))]
        for name in _SCORES
    ]  # fmt: skip
    head = (
        f"End to end over {scores['documents']:,} documents: {scores['gold']:,} gold links, "
        f"{scores['predicted']:,} predicted, {scores['speed']['documents_per_s']} documents/s"
    )
    return f"{head}\n{table(rows, ('%', 'precision', 'recall', 'F1'))}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"

"""The metrics of `medlink evaluate` as tables for people, in per cent."""

from collections.abc import Iterator, Sequence
from typing import Any

from .output import table

_SCORES = ("strict", "overlap", "spans", "spans_overlap", "document")


def metrics_report(metrics: dict[str, Any], ks: Sequence[int]) -> str:
    """Lay out what `evaluate_linker` returns."""
    parts = [table(list(_rows(metrics, ks)), _header(ks)), _about(metrics)]
    if "end_to_end" in metrics:
        parts.append(_end_to_end(metrics["end_to_end"]))
    return "\n\n".join(parts)


def _header(ks: Sequence[int]) -> list[str]:
    return ["%", "mentions", "in KB", *(f"acc@{k}" for k in ks), "MRR", "mentions/s"]


def _rows(metrics: dict[str, Any], ks: Sequence[int]) -> Iterator[list[object]]:
    tiers = metrics.get("tiers", {})
    used = " + ".join(metrics["tiers_used"])
    for name, own in tiers.items():
        if name != "fused":
            yield _row(name, own, ks)
    yield _row(used, metrics, ks)
    for group in ("splits", "by_lang", "by_type"):
        members = metrics[group]
        if len(members) > 1:
            for name, own in members.items():
                yield _row(f"{group.removeprefix('by_').rstrip('s')} {name}", own, ks)


def _row(name: str, metrics: dict[str, Any], ks: Sequence[int]) -> list[object]:
    values = [metrics[f"acc@{k}"] for k in ks] + [metrics["mrr"]]
    speed = metrics.get("speed", {}).get("mentions_per_s")
    return [
        name,
        metrics["n"],
        metrics["gold_in_kb"],
        *(None if value is None else 100 * value for value in values),
        None if speed is None else round(speed),
    ]


def _about(metrics: dict[str, Any]) -> str:
    lines = [f"Ranks count {metrics['protocol']}."]
    interval = metrics["acc@1_ci95"]
    if interval:
        low, high = (100 * value for value in interval)
        lines.append(f"95 % interval of acc@1: {low:.1f} to {high:.1f} (documents resampled).")
    missing = metrics["n"] - metrics["gold_in_kb"]
    lines.append(f"Mentions whose gold concept the knowledge base lacks: {missing:,} (wrong).")
    nil = metrics["nil"]
    if nil["n"] or nil["predicted"]:
        values = ", ".join(
            f"{name} {_percent(nil[name])}" for name in ("precision", "recall", "f1")
        )
        lines.append(f"NIL: {nil['n']:,} gold, {nil['predicted']:,} predicted, {values}.")
    return "\n".join(lines)


def _end_to_end(scores: dict[str, Any]) -> str:
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

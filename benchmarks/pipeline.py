"""The cost of linking in a spaCy pipeline: `python -m benchmarks.pipeline WORK`, by default of HPO.

Measured are the time that linking adds to `nlp.pipe`, by mention and by document; the time and
memory of a cold start, part by part; and scispaCy's linker over the same terminology and mentions.
scispaCy must be installed, or be in the directory of `--scispacy` (`pip install --no-deps --target
DIR scispacy==0.6.2 nmslib-metabrainz==2.1.3 conllu pysbd`).

WORK keeps the pipeline and scispaCy's index for later runs. Mentions come from MEDLINK_DATA where
it exists, otherwise they are names with two letters swapped. Figures go to OUTPUT as JSON,
and to a Markdown table beside it.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from benchmarks.measured import machine, run_task, write_results
from benchmarks.pipeline_work import GOLD, prepare, write_documents

_STARTS = 3
_CASES = {
    "with the transformer": ("pipeline", True, True),
    "without it": ("light", True, True),
    "without it, where torch is not installed": ("light", True, False),
    "with the transformer, beside all plug-ins of this environment": ("pipeline", False, True),
}
_TARGETS = {
    "with the transformer": {"s": 3.0, "rss_mb": 600.0},
    "without it": {"s": 3.0, "rss_mb": 250.0},
    "distinct mentions, nothing cached": 1.0,
    "the same again, from the cache": 0.05,
    "names of the terminology, exact_first": 0.05,
}


def measure(work: Path, scispacy: str | None) -> dict[str, Any]:
    """Measure everything, after `prepare` and `write_documents`.

    scispacy (Optional[str]): where scispaCy is installed; "" for here, None leaves it out.
    """
    documents = str(work / "documents.json")
    results: dict[str, Any] = {
        "linking": run_task(
            "benchmarks.pipeline_tasks.speed", pipeline=str(work / "pipeline"), documents=documents
        ),
        "cold_start": {name: _start(work, *case) for name, case in _CASES.items()},
    }
    if scispacy is not None:
        results["side_by_side"] = _beside(work, documents, scispacy)
    return results


def _start(work: Path, pipeline: str, alone: bool, torch: bool) -> dict[str, Any]:
    """Start several times; the run with the median time stands for all."""
    task = "benchmarks.pipeline_tasks.cold_start"
    runs = [
        run_task(task, pipeline=str(work / pipeline), alone=alone, torch=torch)
        for _ in range(_STARTS)
    ]
    middle = median(run["s"] for run in runs)
    return next(run for run in runs if run["s"] == middle)


def _beside(work: Path, documents: str, packages: str) -> dict[str, Any]:
    kb = str(work / "pipeline" / "medical_linker" / "assets" / "kb.sqlite")
    directory = str(work / "scispacy")
    made = run_task("benchmarks.pipeline_peer.build", directory=directory, kb=kb, packages=packages)
    theirs = run_task(
        "benchmarks.pipeline_peer.link", directory=directory, documents=documents, packages=packages
    )
    ours = {
        name: run_task(
            "benchmarks.pipeline_tasks.ours", pipeline=str(work / name), documents=documents
        )
        for name in ("pipeline", "light")
    }
    return {"ours": ours["pipeline"], "light": ours["light"], "scispacy": {**theirs, "index": made}}


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    lines = ["| linking in `nlp.pipe` adds | ms a mention | target | ms a document |"]
    lines.append("|---|---:|---:|---:|")
    for name, own in results["linking"]["added"].items():
        target = f"{_TARGETS[name]:g}" if name in _TARGETS else ""
        mention = f"{own['ms_a_mention']:.3f}" if "ms_a_mention" in own else ""
        lines.append(f"| {name} | {mention} | {target} | {own['ms_a_document']:.3f} |")
    lines += ["", "| cold start, in a fresh process | s | MB resident | of it private |"]
    lines.append("|---|---:|---:|---:|")
    for name, own in results["cold_start"].items():
        lines += _start_rows(name, own)
    if "side_by_side" in results:
        lines += ["", *_beside_rows(results["side_by_side"])]
    counts = results["sets"]
    facts = ", ".join(f"{key} {value}" for key, value in results["machine"].items())
    lines += ["", f"{counts['distinct']:,} distinct mentions ({_from(counts)}), "
              f"{counts['names']:,} names in the terminology; {facts}."]  # fmt: skip
    return "\n".join(lines)


def _start_rows(name: str, own: dict[str, Any]) -> Iterator[str]:
    target = _TARGETS.get(name)
    if isinstance(target, dict):
        name = f"{name} (target {target['s']:g} s, {target['rss_mb']:g} MB)"
    yield f"| **{name}** | {own['s']:.2f} | {own['rss_mb']:.0f} | {own['private_mb']:.0f} |"
    before = 0.0
    for part, facts in own["parts"].items():
        more = facts["rss_after_mb"] - before
        before = facts["rss_after_mb"]
        yield f"| {part} | {facts['s']:.2f} | +{more:.0f} | |"


def _beside_rows(results: dict[str, Any]) -> Iterator[str]:
    yield (
        "| gold mentions | acc@1 | acc@5 | ms a distinct mention | abstracts, mentions a s "
        "| to the first link, s | MB |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|"
    theirs = results["scispacy"]
    rows = [
        (f"medical_linker, {name}", results[key]["accuracy"], results[key])
        for name, key in (("with the transformer", "ours"), ("without it", "light"))
    ]
    rows += [(f"scispaCy, {name}", own, theirs) for name, own in theirs["accuracy"].items()]
    for name, accuracy, own in rows:
        figures = [f"{100 * accuracy[k]:.1f}" if accuracy else "" for k in ("acc@1", "acc@5")]
        yield (
            f"| {name} | {' | '.join(figures)} | {own['ms_a_mention']:.3f} "
            f"| {own['stream'].get('mentions_per_s', 0):,.0f} | {own['load_s']:.2f} "
            f"| {own['rss_mb']:.0f} |"
        )


def _from(counts: dict[str, Any]) -> str:
    source = counts["distinct_from"]
    return source if isinstance(source, str) else "from " + ", ".join(source)


def main(
    work: Annotated[Path, typer.Argument(help="Directory for what is made once.")],
    assets: Annotated[
        Path | None, typer.Option(help="Assets to take; default: made here of HPO, in minutes.")
    ] = None,
    encoder: Annotated[
        Path | None, typer.Option(help="Encoder for new assets; default: the embedded one.")
    ] = None,
    scispacy: Annotated[
        str, typer.Option(help="Directory where scispaCy is installed; `no` leaves it out.")
    ] = "",
    data: Annotated[Path, typer.Option(envvar="MEDLINK_DATA", help="Annotated corpora.")] = Path(
        "../shared/data"
    ),
    gold: Annotated[str, typer.Option(help="File of DATA for the accuracy.")] = GOLD,
    through: Annotated[
        Path | None,
        typer.Option(help="Knowledge base with the ids of the gold file, if the assets' differ."),
    ] = None,
    limit: Annotated[int, typer.Option(help="Distinct mentions, at most.")] = 4000,
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/pipeline.json"
    ),
) -> None:
    """Measure what linking costs in a pipeline."""
    prepare(work, assets, encoder)
    facts = write_documents(work, data, limit, gold, through)
    results = {
        **measure(work, None if scispacy == "no" else scispacy),
        "sets": facts,
        "machine": machine(),
        "threads": os.environ.get("OMP_NUM_THREADS", "default"),
    }
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

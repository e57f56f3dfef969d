"""Assets with a dense tier, at any size: `python -m benchmarks.kb_dense KB --encoder DIR`.

Measured, each in a fresh process: `medlink build` over all names of KB, searches of its index (one
vector, many, within a seventh of the concepts), notes through a saved pipeline, and an update to
the next release. KB may be one of `benchmarks.grown_kb` (`0.kb`, with `1.kb` as the next), or of
`benchmarks.kb` (its --work keeps `umls.kb`). A static student (docs/tutorials/train.md) encodes 15
million names in minutes.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmarks.kb import first_link
from benchmarks.measured import machine, private, resident, run_command, run_task, write_results

if TYPE_CHECKING:
    from spacy_medlink.retrieval.dense import DenseIndex
    from spacy_medlink.retrieval.mask import Mask
    from spacy_medlink.types import Floats2d

_K = 64  # names that the linker asks a tier for
_BATCH = 256
_PART = 7  # of so many concepts a filter lets one pass
_TASKS = "benchmarks.kb_dense"
_Rows = list[tuple[str, str, str]]  # what, measured, wanted


def measure(
    work: Path, kb: Path, encoder: str, notes: int, later: Path | None = None
) -> dict[str, Any]:
    """Build assets (unless they are there) and a pipeline in `work`, and link.

    notes (int): how many notes to link. later (Optional[Path]): the knowledge base of the next
        release, to which the assets are updated.
    """
    assets, pipeline = str(work / "assets"), str(work / "pipeline")
    found: dict[str, Any] = {}
    if not (work / "assets").exists():
        found["build"] = run_command("build", str(kb), "--output", assets, "--encoder", encoder)
    found["search"] = run_task(f"{_TASKS}.search", assets=assets)
    found["within"] = run_task(f"{_TASKS}.search_within", assets=assets)
    run_task("benchmarks.kb_tasks.save_pipeline", assets=assets, out=pipeline)
    task = "benchmarks.kb_tasks.link_notes"
    found["notes"] = run_task(task, kb=str(kb), pipeline=pipeline, notes=notes, more=notes)
    if later is not None:
        found["update"] = run_command(
            "build", str(later), "--output", str(work / "updated"), "--update", assets
        )
    return found


def search(assets: str) -> dict[str, Any]:
    """Open the dense tier alone, and search for misspelt names."""
    from benchmarks.ngrams import misspelt
    from spacy_medlink.assets import Assets
    from spacy_medlink.assets.layout import DENSE_FILE

    opened = Assets(Path(assets))
    vectors = opened.encoder.encode(misspelt(opened.kb))
    before, own, start = resident(), private(), time.perf_counter()
    index = opened.dense
    opening = time.perf_counter() - start
    first, again = (sorted(_alone(index, vectors)) for _ in range(2))  # the first one reads pages
    start = time.perf_counter()
    for place in range(0, len(vectors), _BATCH):
        index.search(vectors[place : place + _BATCH], _K)
    batch = time.perf_counter() - start
    return {
        "names": len(index),
        "facts": opened.manifest["index"],
        "open_ms": 1e3 * opening,
        "first_ms": 1e3 * median(first),
        "again_ms": 1e3 * median(again),
        "p99_ms": 1e3 * again[int(0.99 * len(again))],
        "batch_ms": 1e3 * batch / len(vectors),
        "index_rss_mb": (resident() - before) / 1e6,
        "index_private_mb": (private() - own) / 1e6,
        "index_mb": (Path(assets) / DENSE_FILE).stat().st_size / 1e6,
        "assets_mb": sum(file.stat().st_size for file in Path(assets).rglob("*")) / 1e6,
    }


def search_within(assets: str) -> dict[str, Any]:
    """Search for misspelt names within a seventh of the concepts."""
    from benchmarks.ngrams import misspelt
    from spacy_medlink.assets import Assets
    from spacy_medlink.retrieval.mask import Mask

    opened = Assets(Path(assets))
    vectors, index = opened.encoder.encode(misspelt(opened.kb)[:_BATCH]), opened.dense
    mask = Mask.of(opened.name_concept % _PART == 0)
    for own in (None, mask):
        list(_alone(index, vectors, own))  # reads pages of the file
    return {
        "share": mask.count / len(index),
        "all_ms": 1e3 * median(_alone(index, vectors)),
        "within_ms": 1e3 * median(_alone(index, vectors, mask)),
    }


def _alone(index: "DenseIndex", vectors: "Floats2d", mask: "Mask | None" = None) -> Iterator[float]:
    """Search for one vector at a time. YIELDS the seconds of each."""
    for at in range(len(vectors)):
        start = time.perf_counter()
        index.search(vectors[at : at + 1], _K, mask)
        yield time.perf_counter() - start


def table(found: dict[str, Any]) -> str:
    """Write the figures as Markdown."""
    search, within, notes = (found[part] for part in ("search", "within", "notes"))
    facts = search["facts"]
    rows: _Rows = _made("`medlink build`, all tiers", found["build"]) if "build" in found else []
    rows += [
        ("assets; the index alone",
         f"{search['assets_mb']:,.0f} MB; {search['index_mb']:,.0f} MB", ""),
        ("index", f"`{facts['spec']}`, {facts.get('search', {})}", ""),
        ("recall@25 of exhaustive search, names",
         f"{facts.get('recall', {}).get('recall@25', 1):.3f}", "0.93"),
        ("open the index", f"{search['open_ms']:.0f} ms", ""),
        ("search, alone, while its pages are read; again; 99th percentile",
         f"{search['first_ms']:.1f} ms; {search['again_ms']:.1f}; {search['p99_ms']:.1f}", "5 ms"),
        (f"search, of {_BATCH}", f"{search['batch_ms']:.1f} ms", ""),
        ("memory of the index after these searches; without the pages of its file",
         f"{search['index_rss_mb']:,.0f} MB; {search['index_private_mb']:,.0f} MB", "3,000 MB"),
        (f"within {within['share']:.0%} of the names, alone",
         f"{within['within_ms']:.1f} ms; all names {within['all_ms']:.1f} ms", "1.3 times"),
        ("`spacy.load` to the first link, after `import spacy`", first_link(notes), "3 s"),
        ("`medical_mentions` and `medical_linker`, 300 words, median; 95th percentile",
         f"{notes['note_median_ms']:.0f} ms; {notes['note_p95_ms']:.0f} ms", ""),
    ]  # fmt: skip
    if "update" in found:
        rows += _made("update to the next release", found["update"])
    lines = [f"# Assets with a dense tier, {search['names']:,} names", ""]
    lines += ["| what | measured | wanted at 15 M names |", "|---|---:|---:|"]
    lines += [f"| {what} | {own} | {wanted} |" for what, own, wanted in rows]
    machine_facts = ", ".join(f"{name} {value}" for name, value in found["machine"].items())
    return "\n".join([*lines, "", f"`{found['command']}`; {machine_facts}."])


def _made(what: str, run: dict[str, Any]) -> _Rows:
    seconds = f"{run['wall_s']:,.0f} s, {run['cpu_s']:,.0f} s of processor time"
    return [(what, seconds, ""), ("its peak memory", f"{run['peak_rss_mb']:,.0f} MB", "")]


def main(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="A knowledge base.")],
    encoder: Annotated[str, typer.Option(help="Directory of an encoder.")],
    later: Annotated[
        Path | None, typer.Option("--next", help="Knowledge base of the next release.")
    ] = None,
    work: Annotated[
        Path | None, typer.Option(help="Directory for assets, kept and used again.")
    ] = None,
    notes: Annotated[int, typer.Option(help="Notes to time, and again to watch memory.")] = 200,
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/kb_dense.json"
    ),
) -> None:
    """Measure assets with a dense tier."""
    with TemporaryDirectory(prefix="medlink-bench-") as temporary:
        place = work or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        before = machine()
        found = measure(place, kb, encoder, notes, later)
    found["command"] = " ".join(["python -m benchmarks.kb_dense", *sys.argv[1:]])
    found["machine"] = before
    write_results(output, found, table(found))


if __name__ == "__main__":
    typer.run(main)

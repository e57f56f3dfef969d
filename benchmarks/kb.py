"""Time and memory of the knowledge base at any size, on invented data of the UMLS's shape.

    python -m benchmarks.kb --concepts 4200000 --names 15000000 --output benchmarks/results/kb.json

Every figure comes from a fresh process. Memory is that of the process and its children together,
sampled 20 times a second. Figures go to OUTPUT as JSON and to a Markdown table beside it.
"""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from benchmarks.kb_update import measure_update, update_plain
from benchmarks.measured import machine, run_command, run_task, write_results
from benchmarks.synthetic.umls import generate
from spacy_medlink.building.build import NGRAM_LIMIT

_TASKS = "benchmarks.kb_tasks"
_NGRAM_SIZE = 200_000  # beside all names
# Rows of the table: a label, how to find the figure, and its target.
_ROWS: list[tuple[str, Callable[[dict[str, Any]], str], str]] = [
    ("build from RRF", lambda found: _built(found["build"]), "300 s"),
    ("build, peak memory", lambda found: f"{found['build']['peak_rss_mb']:,.0f} MB", "1,000 MB"),
    ("file", lambda found: f"{found['file_mb']:,.0f} MB", "2,500 MB"),
    ("open and read a concept", lambda found: f"{found['open']['open_ms']:.1f} ms", "50 ms"),
    ("open, memory of the process", lambda found: f"{found['open']['open_rss_mb']:.0f} MB",
     "60 MB"),
    ("a concept by id", lambda found: f"{found['concepts']['concept_us']:.0f} µs", "60 µs"),
    ("a name in the KB (`kb.find`)", lambda found: f"{found['find']['kb_find_us']:.0f} µs", ""),
    ("exact tier, build", lambda found: f"{found['exact']['exact_build_s']:.0f} s", ""),
    ("exact tier, build, peak memory",
     lambda found: f"{found['exact']['peak_rss_mb']:,.0f} MB", "1,000 MB"),
    ("exact tier, 10,000 look-ups", lambda found: f"{found['look_up']['look_up_s']:.3f} s",
     "0.2 s"),
    ("the same, first time after opening",
     lambda found: f"{found['look_up']['look_up_first_s']:.3f} s", "0.2 s"),
    ("`medical_mentions`, 300 words, median",
     lambda found: f"{found['mentions']['mentions_median_ms']:.1f} ms", "5 ms"),
    ("`medical_mentions`, 300 words, 95th percentile",
     lambda found: f"{found['mentions']['mentions_p95_ms']:.1f} ms", ""),
    ("2 processes x 8 threads, forked and spawned",
     lambda found: "same answers" if found["at_once"]["same_answers"] else "DIFFERENT ANSWERS",
     "same answers"),
    ("`medlink build`, exact and n-gram tiers",
     lambda found: _built(found["assets"]), ""),
    ("`medlink build`, peak memory",
     lambda found: f"{found['assets']['peak_rss_mb']:,.0f} MB", "1,500 MB"),
    ("`spacy.load` to the first link, after `import spacy`",
     lambda found: first_link(found["notes"]), "3 s"),
    ("`medical_mentions` and `medical_linker`, 300 words, median",
     lambda found: f"{found['notes']['note_median_ms']:.0f} ms", "60 ms"),
    ("the same, 95th percentile", lambda found: f"{found['notes']['note_p95_ms']:.0f} ms", ""),
    ("memory beside mapped files, from note to note",
     lambda found: _growth(found["notes"]), "flat"),
    ("`within` an expression, first call",
     lambda found: f"{found['restricted']['expression_s']:.1f} s", "2 s"),
    ("misspelt names alone; within that expression; and searched outside it",
     lambda found: within(found["restricted"], "wide"), "1.3 times"),
    ("the same within a smaller part",
     lambda found: within(found["restricted"], "narrow"), "1.3 times"),
    ("a line of an overlay in force after",
     lambda found: f"{found['restricted']['overlay_s']:.2f} s", "1 s"),
]  # fmt: skip


def measure(work: Path, concepts: int, names: int, more: int) -> dict[str, Any]:
    """Measure everything but updates.

    work (Path): directory for data; a release in it is used again.
    concepts, names (int): size of the release. more (int): notes to link while memory is watched.
    RETURNS (Dict[str, Any]): figures by task.
    """
    release, kb, exact = work / "META", work / "umls.kb", work / "exact"
    if not release.exists():
        generate(release, concepts, names)
    found: dict[str, Any] = {"concepts_asked": concepts, "names_asked": names}
    found["build"] = run_command("kb", "build", "--output", str(kb), str(release), "--from", "umls")
    found["file_mb"] = kb.stat().st_size / 1e6
    both = {"kb": str(kb), "exact": str(exact)}
    for name, function, arguments in (
        ("open", "open_kb", {"kb": str(kb)}),
        ("concepts", "read_concepts", {"kb": str(kb), "count": 20_000}),
        ("find", "find_in_kb", {"kb": str(kb), "count": 5000}),
        ("exact", "build_exact", {"kb": str(kb), "out": str(exact)}),
        ("look_up", "look_up", {**both, "count": 10_000}),
        ("mentions", "find_mentions", {**both, "notes": 100}),
        ("at_once", "read_at_once", {**both, "count": 2000}),
    ):
        found[name] = run_task(f"{_TASKS}.{function}", **arguments)
    assets, pipeline = work / "assets", work / "pipeline"
    found["assets"] = run_command("build", str(kb), "--output", str(assets), "--overwrite")
    run_task(f"{_TASKS}.save_pipeline", assets=str(assets), out=str(pipeline))
    place = {"kb": str(kb), "pipeline": str(pipeline)}
    found["notes"] = run_task(f"{_TASKS}.link_notes", **place, notes=200, more=more)
    found["restricted"] = run_task(f"{_TASKS}.restrict", **place, mentions=200)
    sizes = sorted({min(_NGRAM_SIZE, names), names})
    found["ngram"] = [_ngram(kb, work / "ngram", size) for size in sizes]
    return found


def first_link(notes: dict[str, Any]) -> str:
    """Write how long the first link took, and the import of spaCy before it."""
    return f"{notes['to_first_link_s']:.1f} s, after {notes['import_s']:.1f} s"


def within(found: dict[str, Any], part: str) -> str:
    """Write what a mention takes without and within a part of the hierarchy."""
    own, alone = found[part], found["all_ms"]
    figures = [f"{ms:.1f} ms ({ms / alone:.2f} times)" for ms in (own["ms"], own["both_ms"])]
    return f"{alone:.1f}; {'; '.join(figures)}; {own['share']:.0%} of the concepts"


def _built(found: dict[str, Any]) -> str:
    return f"{found['wall_s']:.0f} s, {found['cpu_s']:.0f} s of processor time"


def _growth(found: dict[str, Any]) -> str:
    memory = [found["private_mb"][0], found["private_mb"][-1]]
    return f"{memory[0]:.0f} to {memory[1]:.0f} MB in {found['notes']:,} notes"


def _ngram(kb: Path, out: Path, names: int) -> dict[str, Any]:
    try:
        kind = "all" if names <= NGRAM_LIMIT else "words"
        task = "benchmarks.ngrams.measure"
        return run_task(task, kind=kind, kb=str(kb), out=str(out), names=names, grow=0, gold=[])
    finally:
        shutil.rmtree(out, ignore_errors=True)


def table(found: dict[str, Any]) -> str:
    """Write the figures as Markdown."""
    lines = [
        f"# The knowledge base, {found['concepts_asked']:,} concepts and "
        f"{found['names_asked']:,} names",
        "", "| what | measured | wanted at 15 M names |", "|---|---:|---:|",
    ]  # fmt: skip
    lines += [f"| {label} | {show(found)} | {wanted} |" for label, show, wanted in _ROWS]
    lines += [
        "",
        "| n-gram tier, misspelt names | build | peak memory | size | recall@20 | alone | ",
    ]
    lines[-1] += "99th percentile | a mention, of many |"
    lines += ["|---|---:|---:|---:|---:|---:|---:|---:|", *map(_ngram_line, found["ngram"])]
    for update in found["updates"]:
        lines += ["", *_update_lines(update)]
    facts = ", ".join(f"{name} {value}" for name, value in found["machine"].items())
    return "\n".join([*lines, "", f"`{found['command']}`; {facts}."])


def _ngram_line(one: dict[str, Any]) -> str:
    own = one["misspelt names"]
    return (
        f"| {one['names']:,} names | {one['build_s']:.0f} s | {one['peak_rss_mb']:,.0f} MB | "
        f"{one['size_mb']:,.0f} MB | {own['recall@20']:.3f} | {own['first_ms']:.1f} ms | "
        f"{own['p99_ms']:.1f} ms | {own['batch_ms']:.1f} ms |"
    )


def _update_lines(found: dict[str, Any]) -> list[str]:
    encoder = f", encoder {found['encoder']}" if "encoder" in found else ""
    return [
        f"| {found['names']:,} names, {found['changed']:.1%} changed{encoder} "
        "| full build | update | share (wanted: 5 %) |",
        "|---|---:|---:|---:|",
        *(
            f"| {label} | {found[f'{key}_full_s']:.1f} s | {found[f'{key}_update_s']:.1f} s "
            f"| {found[f'{key}_update_s'] / found[f'{key}_full_s']:.1%} |"
            for label, key in (
                ("knowledge base", "kb"),
                ("assets", "assets"),
                ("both", "both"),
                ("assets of exact and n-gram tier", "plain"),
            )
            if f"{key}_full_s" in found
        ),
    ]


def main(
    concepts: Annotated[int, typer.Option(help="Concepts of the release.")] = 100_000,
    names: Annotated[int, typer.Option(help="Names of the release.")] = 357_000,
    update_concepts: Annotated[
        int, typer.Option(help="Concepts of a release updated with an encoder; 0 leaves it out.")
    ] = 30_000,
    update_all: Annotated[bool, typer.Option(help="Update all names, without an encoder.")] = False,
    notes: Annotated[int, typer.Option(help="Notes to link while memory is watched.")] = 2000,
    work: Annotated[Path | None, typer.Option(help="Directory for data, kept.")] = None,
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/kb_small.json"
    ),
) -> None:
    """Measure the knowledge base."""
    with TemporaryDirectory(prefix="medlink-bench-") as temporary:
        place = work or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        before = machine()
        found = measure(place, concepts, names, notes)
        found["updates"] = []
        if update_concepts:
            found["updates"].append(measure_update(place / "update", update_concepts))
        if update_all:
            old = place / "umls.kb", place / "assets"
            found["updates"].append(update_plain(place / "next", *old, concepts, names))
    found["command"] = " ".join(["python -m benchmarks.kb", *sys.argv[1:]])
    found["machine"] = before
    write_results(output, found, table(found))


if __name__ == "__main__":
    typer.run(main)

"""How long an evaluation takes: `python -m benchmarks.evaluation WORK`.

`medlink evaluate` links 10,000 mentions to the open ontologies in the data directory
(MEDLINK_DATA), in a fresh process. The time includes all tiers and baselines, bootstrap intervals,
grouping, and reading and writing files. WORK keeps knowledge base, assets and mentions, so that a
second run only evaluates. Figures go to OUTPUT as JSON, and to a Markdown table beside it.
"""

import json
import os
import random
import resource
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.measured import machine, run_command, write_results
from spacy_medlink.assets import Assets
from spacy_medlink.kb import KnowledgeBase
from training.embedded import place_model

DATA = Path(os.environ.get("MEDLINK_DATA", Path(__file__).parents[2] / "shared" / "data"))
_KB = "open_umls.kb.jsonl.gz"
_MENTIONS = 10_000
_DOCUMENT = 20  # mentions
_SEED = 0
_WANTED = 60.0  # seconds, on two cores
_SHORTEST = 4  # characters of a name that gets a mistake
_RUNS = {
    "with the baselines": (),
    "with filtered parts, too": ("--reference", "dictionary"),
    "without baselines": ("--no-baselines",),
}


def measure(work: Path, mentions: int) -> dict[str, Any]:
    """Evaluate in each of the ways, each in a fresh process.

    work (Path): keeps what is built. mentions (int): how many to link.
    RETURNS (Dict[str, Any]): `runs`: by way seconds, CPU seconds, memory, and the seconds
        of ranking by each system; sizes and the machine.
    """
    kb, assets = _material(work)
    gold = work / f"mentions{mentions}.jsonl"
    gold.write_text("".join(_gold(KnowledgeBase(kb), mentions)), encoding="utf-8")
    runs = {name: _evaluate(assets, gold, options, work) for name, options in _RUNS.items()}
    return {
        "runs": runs,
        "wanted_s": _WANTED,
        "mentions": mentions,
        "names": KnowledgeBase(kb).n_names,
        "machine": machine(),
    }


def _material(work: Path) -> tuple[Path, Path]:
    """Build the knowledge base and the assets, unless they are there."""
    kb, encoder, assets = work / "umls.kb", work / "encoder", work / "umls.assets"
    work.mkdir(parents=True, exist_ok=True)
    if not kb.exists():
        run_command("kb", "build", "--output", str(kb), str(DATA / _KB), "--from", "jsonl")
    if not assets.exists():
        place_model(encoder)
        run_command("build", str(kb), "--output", str(assets), "--encoder", str(encoder))
    return kb, assets


def _gold(kb: KnowledgeBase, count: int) -> Iterator[str]:
    """Write distinct mentions: names, most of them with a typing mistake or a word more."""
    chance = random.Random(_SEED)
    names = [(name.text, name.lang, concept.id) for concept in kb for name in concept.names]
    chance.shuffle(names)
    told = dict.fromkeys((_told(text, chance), lang, id) for text, lang, id in names)
    by_text = {text: (lang, id) for text, lang, id in told}
    for place, (text, (lang, id)) in enumerate(islice(by_text.items(), count)):
        line = {"doc_id": f"d{place // _DOCUMENT}", "mention": text, "ids": [id], "lang": lang}
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _told(name: str, chance: random.Random) -> str:
    if len(name) < _SHORTEST or chance.random() < 0.3:
        return name
    place = chance.randrange(1, len(name) - 1)
    before, one, other, after = name[:place], name[place], name[place + 1], name[place + 2 :]
    return chance.choice([before + other + after, before + other + one + after, f"{name} severe"])


def _evaluate(assets: Path, gold: Path, options: tuple[str, ...], work: Path) -> dict[str, Any]:
    output = work / "metrics.json"
    before = _processor_seconds()
    # All tiers are timed. This untrained encoder adds nothing to n-grams; a trained one would.
    tiers = ("--tiers", ",".join(Assets(assets).tiers))
    run = run_command("evaluate", str(assets), str(gold), *tiers, *options, "--output", str(output))
    spent = _processor_seconds() - before
    metrics = json.loads(output.read_text(encoding="utf-8"))
    ranking = {"linker": metrics["speed"]["seconds"]}
    ranking |= {name: own["speed"]["seconds"] for name, own in metrics.get("baselines", {}).items()}
    return {
        "wall_s": round(run["wall_s"], 1),
        "cpu_s": round(spent, 1),
        "peak_rss_mb": round(run["peak_rss_mb"]),
        "ranking_s": {name: round(seconds, 1) for name, seconds in ranking.items()},
    }


def _processor_seconds() -> float:
    """Return the CPU seconds of the child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    lines = [
        "| evaluating | seconds | processor's seconds | memory, MB | of which ranking, seconds |",
        "|---|---:|---:|---:|---|",
    ]
    for name, run in results["runs"].items():
        ranking = ", ".join(f"{system} {spent}" for system, spent in run["ranking_s"].items())
        lines.append(
            f"| {name} | {run['wall_s']} | {run['cpu_s']} | {run['peak_rss_mb']:,} | {ranking} |"
        )
    facts = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    lines += [
        "",
        f"{results['mentions']:,} distinct mentions, {results['names']:,} names, 1,000 bootstrap "
        f"samples of documents; wanted: {results['wanted_s']:.0f} seconds. {facts}.",
    ]
    return "\n".join(lines)


def main(
    work: Annotated[Path, typer.Argument(help="Keeps knowledge base, assets and mentions.")],
    mentions: Annotated[int, typer.Option(min=1, help="How many to link.")] = _MENTIONS,
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/evaluation.json"
    ),
) -> None:
    """Measure how long an evaluation takes."""
    results = measure(work, mentions)
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

"""How fast a linker starts and links: `python -m benchmarks.linking PIPELINE --mentions FILE`.

PIPELINE is a saved pipeline or the name of an installed one; FILE has mentions in the project's
format (JSON Lines); gold ids are ignored. Figures go to OUTPUT as JSON, and to a
Markdown table beside it.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer

from benchmarks.measured import machine, write_results
from spacy_medlink.kb.gold import read_gold
from spacy_medlink.types import Mention

_STARTS = {
    "spacy.blank, our entry points included": "import spacy; {clock}; spacy.blank('en')",
    "starter: add_pipe to first link": (
        "import spacy, warnings; warnings.simplefilter('ignore'); nlp = spacy.blank('en'); {clock};"
        " nlp.add_pipe('medical_mentions'); nlp.add_pipe('medical_linker'); nlp('diabetes')"
    ),
    "pipeline: spacy.load": "import spacy; spacy.blank('en'); {clock}; spacy.load({source!r})",
    "pipeline: spacy.load to first link": (
        "import spacy; spacy.blank('en'); {clock}; spacy.load({source!r})('short stature, tall')"
    ),
}
_CLOCK = "import time; start = time.perf_counter()"
_PRINT = "; print(time.perf_counter() - start)"
_REPEATS = 3


def measure(source: str, mentions: Path, limit: int) -> dict[str, Any]:
    """Measure starts in fresh processes, and mentions a second in this one.

    source (str): pipeline. mentions (Path): file of mentions. limit (int): distinct ones to use.
    RETURNS (Dict): `starts` in seconds (median of three), `mentions_per_s` by case, `machine`.
    """
    starts = {name: _start(code, source) for name, code in _STARTS.items()}
    texts = [mention.text for document in read_gold(mentions) for mention in document.mentions]
    distinct = [Mention(text) for text in dict.fromkeys(texts)][:limit]
    linker: Any = spacy.load(source).get_pipe("medical_linker")
    assets, kb = linker.assets, linker.kb
    engine = assets.engine(exact_first=False)
    engine.rank([Mention("warm up")], 5)
    names = [
        Mention(name.text) for _, (_, name) in zip(range(20_000), kb.iter_names(), strict=False)
    ]
    exact = assets.engine(exact_first=True)
    speed = {
        "distinct mentions, all tiers": _rate(lambda: engine.rank(distinct, 5), len(distinct)),
        "the same again, from the cache": _rate(lambda: engine.rank(distinct, 5), len(distinct)),
        "names of the KB, exact_first": _rate(lambda: exact.rank(names, 5), len(names)),
    }
    for tier in assets.tiers:
        rank = partial(assets.engine([tier]).rank, distinct, 5)
        speed[f"distinct mentions, {tier} tier alone"] = _rate(rank, len(distinct))
    return {
        "starts": starts,
        "mentions_per_s": speed,
        "distinct": len(distinct),
        "names": kb.n_names,
        "machine": machine(),
    }


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    facts = ", ".join(f"{key} {value}" for key, value in results["machine"].items())
    lines = ["| start | seconds |", "|---|---:|"]
    lines += [f"| {name} | {seconds:.2f} |" for name, seconds in results["starts"].items()]
    lines += ["", "| linking | mentions/s |", "|---|---:|"]
    lines += [f"| {name} | {rate:,.0f} |" for name, rate in results["mentions_per_s"].items()]
    lines += [
        "",
        f"{results['distinct']:,} distinct mentions, {results['names']:,} names; {facts}.",
    ]
    return "\n".join(lines)


def _start(code: str, source: str) -> float:
    program = code.format(clock=_CLOCK, source=source) + _PRINT
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        for _ in range(_REPEATS)
    ]
    return sorted(float(run.stdout.split()[-1]) for run in runs)[_REPEATS // 2]


def _rate(work: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    work()
    return count / (time.perf_counter() - start)


def main(
    source: Annotated[str, typer.Argument(metavar="PIPELINE")],
    mentions: Annotated[Path, typer.Option(help="Mentions, JSON Lines, plain or .gz.")],
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/linking.json"
    ),
    limit: Annotated[int, typer.Option(help="Distinct mentions to link, at most.")] = 4000,
) -> None:
    """Measure how fast a linker starts and links."""
    results = measure(source, mentions, limit)
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

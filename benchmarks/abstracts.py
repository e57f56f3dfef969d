"""Processor time to read an abstract: `python -m benchmarks.abstracts NAME=ASSETS...`.

Mentions and linker at their defaults read each text of a corpus, and then all again (caches warm),
in a fresh process that has read one sentence before. `--fasthpocr WORK` measures FastHPOCR in the
same run; WORK keeps its index. Of several runs, in turns, the least time counts: a busy machine
only adds to it.
"""

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.measured import DATA, RESULTS, report, run_task
from spacy_medlink.kb.gold import read_gold

_FIRST = "No fever."
FASTHPOCR = "FastHPOCR"


def cost(name: str, source: str, texts: str, limit: int, packages: str) -> dict[str, Any]:
    """Load and read.

    source (str): assets; for FastHPOCR the directory of its index.
    RETURNS: words and milliseconds a text, the first time and again.
    """
    sys.path.append(packages)
    read = _fasthpocr(source) if name == FASTHPOCR else _ours(source)
    documents = [document.text or "" for document in read_gold(texts)][:limit]
    read([_FIRST])
    times = []
    for _ in range(2):
        began = time.process_time()
        read(documents)
        times.append(1000 * (time.process_time() - began) / len(documents))
    words = sum(len(text.split()) for text in documents) / len(documents)
    return {"texts": len(documents), "words": round(words), "ms": times[0], "ms again": times[1]}


def _ours(assets: str) -> Callable[[Iterable[str]], object]:
    import spacy

    nlp = spacy.blank("en")
    for component in ("medical_mentions", "medical_linker"):
        nlp.add_pipe(component, config={"assets": assets})
    return lambda texts: sum(1 for _ in nlp.pipe(texts))


def _fasthpocr(work: str) -> Callable[[Iterable[str]], object]:
    from benchmarks.peers import fasthpocr

    find = fasthpocr(Path(work))
    return lambda texts: [find(text, False) for text in texts]


def main(
    assets: Annotated[list[str], typer.Argument(metavar="NAME=ASSETS...")],
    fasthpocr: Annotated[Path | None, typer.Option(help="Where its index is kept.")] = None,
    packages: Annotated[str, typer.Option(help="Directory where FastHPOCR is installed.")] = "",
    texts: Annotated[Path, typer.Option(help="Gold file.")] = DATA / "bc5cdr.dev.jsonl.gz",
    limit: Annotated[int, typer.Option(help="Texts, at most.")] = 500,
    runs: Annotated[int, typer.Option(help="Of each.")] = 3,
    output: Annotated[Path, typer.Option(help="JSON; a table beside it.")] = (
        RESULTS / "abstracts.json"
    ),
) -> None:
    """Measure what reading an abstract costs."""
    sources = dict(text.split("=", 1) for text in assets)
    if fasthpocr:
        sources[FASTHPOCR] = str(fasthpocr)
    common = {"texts": str(texts), "limit": limit, "packages": packages}
    rows: dict[str, dict[str, Any]] = {}
    for name, source in [*sources.items()] * runs:
        run = run_task("benchmarks.abstracts.cost", name=name, source=source, **common)
        best = rows.setdefault(name, {"reader": name, **run})
        best |= {key: min(best[key], run[key]) for key in ("ms", "ms again")}
    kept = ("reader", "texts", "words", "ms", "ms again", "peak_rss_mb")
    report(output, [{key: row[key] for key in kept} for row in rows.values()], texts.name)


if __name__ == "__main__":
    typer.run(main)

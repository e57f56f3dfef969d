"""Processor time to read an abstract: `python -m benchmarks.abstracts NAME=ASSETS...`.

Mentions and linker at their defaults read all texts of a corpus, and then again (caches warm), in a
fresh process that has read one sentence before. `--fasthpocr WORK` measures FastHPOCR beside; WORK
keeps its index. Of several runs, in turns, the least time counts: a busy machine adds to it.
"""

import sys
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import peers, raw_text
from benchmarks.measured import DATA, RESULTS, report, run_task
from spacy_medlink.kb.gold import read_gold


def cost(source: str, texts: str, packages: str) -> dict[str, Any]:
    """Load assets, or the index of FastHPOCR, and read: milliseconds a text, first and again."""
    sys.path.append(packages)
    path = Path(source)
    is_ours = (path / "kb.sqlite").is_file()
    read: Any = raw_text.pipeline(path).pipe if is_ours else partial(map, peers.fasthpocr(path))
    documents = [document.text or "" for document in read_gold(texts)]
    milliseconds = []
    for given in (["No fever."], documents, documents):
        began = time.process_time()
        for _ in read(given):
            pass
        milliseconds.append(1000 * (time.process_time() - began) / len(given))
    words = round(sum(len(text.split()) for text in documents) / len(documents))
    return {"words": words, "ms": milliseconds[1], "ms again": milliseconds[2]}


def main(
    assets: Annotated[list[str], typer.Argument(metavar="NAME=ASSETS...")],
    fasthpocr: Annotated[Path | None, typer.Option(help="Where its index is kept.")] = None,
    packages: Annotated[str, typer.Option(help="Directory where FastHPOCR is installed.")] = "",
    texts: Annotated[Path, typer.Option(help="Gold file.")] = DATA / "bc5cdr.dev.jsonl.gz",
    runs: Annotated[int, typer.Option(help="Of each.")] = 3,
    output: Annotated[Path, typer.Option(help="JSON; a table beside it.")] = (
        RESULTS / "abstracts.json"
    ),
) -> None:
    """Measure what reading an abstract costs."""
    sources = dict(text.split("=", 1) for text in assets)
    sources |= {"FastHPOCR": str(fasthpocr)} if fasthpocr else {}
    best: dict[str, dict[str, Any]] = {}
    given = {"texts": str(texts), "packages": packages}
    for name, source in [*sources.items()] * runs:
        run = run_task("benchmarks.abstracts.cost", source=source, **given)
        row = best.setdefault(name, {"reader": name, "words": run["words"]})
        row |= {key: min(run[key], row.get(key, run[key])) for key in ("ms", "ms again")}
    report(output, list(best.values()), f"Texts of {texts.name}.")


if __name__ == "__main__":
    typer.run(main)

"""The n-gram tier at any size: its cost, and its recall against a comparison with all names.

    python -m benchmarks.ngrams KB --gold ncbi_disease.dev.jsonl --grow 15000000

Texts are names of KB with a letter too few, too many or wrong, and the mentions of gold files.
`--grow` adds names made of pieces of names of KB (benchmarks.grown_kb). Figures go to OUTPUT as
JSON, and to a Markdown table beside it.
"""

import random
import sys
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer
from scipy import sparse

from benchmarks.grown_kb import grown
from benchmarks.measured import machine, run_task, write_results
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.gold import read_gold
from spacy_medlink.retrieval.grams import BUCKETS, count, weigh
from spacy_medlink.retrieval.ngram import NgramIndex
from spacy_medlink.retrieval.word_ngram import WordNgramIndex
from spacy_medlink.types import Floats2d

_KINDS: dict[str, Any] = {"all": NgramIndex, "words": WordNgramIndex}
_K, _RECALL = 64, 20  # names that the linker asks for, and names whose recall is measured
_TEXTS, _PRODUCTS = 400, 100  # texts to time, and to compare with all names
_MANY = 2_000_000
_LONG = 10  # letters of names that are misspelt


def measure(kind: str, kb: str, out: str, names: int, grow: int, gold: list[str]) -> dict[str, Any]:
    """Build one kind of index and search it.

    kind (str): "all" or "words". names (int): how many of the KB, 0 for all. grow (int): how many
    in total with the made ones. RETURNS (Dict[str, Any]): seconds, sizes and recall.
    """
    base = KnowledgeBase(kb)
    start = time.perf_counter()
    before = time.process_time()
    texts = grown(base, grow) if grow else islice(base.iter_texts(), names or None)
    built = _KINDS[kind].build(texts)
    built.save(Path(out))
    found: dict[str, Any] = {
        "kind": kind,
        "names": grow or names or base.n_names,
        "build_s": round(time.perf_counter() - start, 1),
        "build_cpu_s": round(time.process_time() - before, 1),
        "size_mb": round(sum(file.stat().st_size for file in Path(out).iterdir()) / 1e6, 1),
    }
    del built
    index = _KINDS[kind].load(Path(out))
    queries = {"misspelt names": misspelt(base)}
    for file in gold:
        mentions = {one.text for document in read_gold(Path(file)) for one in document.mentions}
        queries[Path(file).name.split(".")[0]] = sorted(mentions)[:_TEXTS]
    for name, own in queries.items():
        found[name] = _search(index, own)
    return found


def _search(index: Any, texts: Sequence[str]) -> dict[str, Any]:
    """Search each text alone, twice, then all at once."""
    seconds = []
    for _ in range(2):
        for text in texts:
            start = time.perf_counter()
            index.search([text], _K)
            seconds.append(time.perf_counter() - start)
    first, again = np.array(seconds).reshape(2, -1) * 1e3
    start = time.perf_counter()
    hits = index.search(texts, _K)
    batch = (time.perf_counter() - start) / len(texts)
    start = time.perf_counter()
    index.score(texts, hits.rows)
    score = (time.perf_counter() - start) / len(texts)
    return {
        "texts": len(texts),
        "first_ms": round(float(np.median(first)), 2),
        "again_ms": round(float(np.median(again)), 2),
        "p99_ms": round(float(np.quantile(first, 0.99)), 1),
        "batch_ms": round(batch * 1e3, 2),
        "score_ms": round(score * 1e3, 3),
        "recall@20": _recall(index, texts) if isinstance(index, WordNgramIndex) else 1.0,
    }


def _recall(index: WordNgramIndex, texts: Sequence[str]) -> float:
    """Compute the share of found names that are as similar as the 20 most similar of all names."""
    is_large = len(index._ranks) > _MANY
    texts = list(texts)[:: max(1, len(texts) // _PRODUCTS)] if is_large else texts
    shares = []
    for text, own in zip(texts, index.search(texts, _K).scores, strict=True):
        best = _products(index, text)
        best = best[best > 0]
        if len(best):
            shares.append(np.count_nonzero(own[:_RECALL] >= best[-1] - 1e-5) / len(best))
    return round(float(np.mean(shares)), 4)


def _products(index: WordNgramIndex, text: str) -> Floats2d:
    """Compare a text with all names. RETURNS the highest cosines, descending."""
    grams, names = index._words.grams, index._names
    words = sparse.csr_matrix((len(grams), BUCKETS), dtype=np.float32)
    words.data, words.indices, words.indptr = grams.weights, grams.items, grams.offsets
    weights = np.asarray(weigh(count([text]), index._words.idf).todense(), np.float32).ravel()
    products = (words @ weights)[names.words.items]
    has_words = np.diff(names.words.offsets) > 0
    cosines = np.add.reduceat(products, names.words.offsets[:-1][has_words])
    cosines /= names.norms[has_words]
    best: Floats2d = -np.sort(np.partition(-cosines, _RECALL)[:_RECALL])
    return best


def misspelt(base: KnowledgeBase) -> list[str]:
    """Misspell names: a letter is left out, put in, or changes places with the next one."""
    rng = random.Random(2)
    found: list[str] = []
    while len(found) < _TEXTS:
        name = base.name_at(rng.randrange(base.n_names)).text
        if len(name) < _LONG:
            continue
        at, kind = rng.randrange(1, len(name) - 1), rng.randrange(3)
        middle = ["", name[at] + rng.choice("aeiornst"), name[at + 1] + name[at]][kind]
        found.append(name[:at] + middle + name[at + 1 + (kind == 2) :])
    return found


def table(found: dict[str, Any]) -> str:
    """Write the figures as Markdown."""
    lines = [
        "| names | searched by | build, s | peak, MB | size, MB | texts | recall@20 | alone, ms | "
        "again, ms | 99th percentile, ms | batch, ms | score, ms |",
        "|---:|---|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in found["rows"]:
        index = (
            f"| {row['names']:,} | {row['kind']} | {row['build_s']:,.0f} "
            f"| {row['peak_rss_mb']:,.0f} | {row['size_mb']:,.0f} "
        )
        lines += [
            f"{index}| {texts} | {own['recall@20']:.3f} | {own['first_ms']:.2f} "
            f"| {own['again_ms']:.2f} | {own['p99_ms']:.1f} | {own['batch_ms']:.2f} "
            f"| {own['score_ms']:.3f} |"
            for texts, own in row.items() if isinstance(own, dict)
        ]  # fmt: skip
    facts = ", ".join(f"{name} {value}" for name, value in found["machine"].items())
    return "\n".join([*lines, "", f"`{found['command']}`; {facts}."])


def main(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="A knowledge base.")],
    gold: Annotated[list[Path] | None, typer.Option(help="Gold mentions to search.")] = None,
    grow: Annotated[list[int] | None, typer.Option(help="Numbers of names to grow to.")] = None,
    all_limit: Annotated[int, typer.Option(help="Names up to which all are compared.")] = 1_000_000,
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/ngrams.json"
    ),
) -> None:
    """Measure the n-gram tier over the names of KB, and over more that are made of them."""
    before, rows = machine(), []
    for size in [0, *(grow or [])]:
        for kind in _KINDS:
            if kind == "all" and size > all_limit:
                continue
            with TemporaryDirectory(prefix="medlink-bench-") as out:
                rows.append(
                    run_task(
                        "benchmarks.ngrams.measure", kind=kind, kb=str(kb), out=out, names=0,
                        grow=size, gold=[str(file) for file in gold or ()],
                    )
                )  # fmt: skip
            typer.echo(rows[-1], err=True)
    command = " ".join(["python -m benchmarks.ngrams", *sys.argv[1:]])
    found = {"rows": rows, "command": command, "machine": before}
    write_results(output, found, table(found))


if __name__ == "__main__":
    typer.run(main)

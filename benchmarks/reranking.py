"""How fast candidates are read: `python -m benchmarks.reranking --assets DIR --mentions FILE`.

The cross-encoder has the weights of the assets' encoder, which speed does not depend on being
trained. Reading alone is measured; retrieval is done before. Figures go to OUTPUT as JSON, and to a
Markdown table beside it.
"""

import json
import time
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from benchmarks.measured import machine
from spacy_medlink.assets import ENCODER, Assets
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings
from spacy_medlink.linking.reranking import Reranker
from spacy_medlink.measuring import load_gold

_WANTED = 60  # mentions a second


def measure(assets: Assets, mentions: Path, top: int, limit: int) -> dict[str, Any]:
    """Measure mentions a second, all together and one by one.

    top (int): candidates a mention. limit (int): distinct mentions, at most.
    RETURNS (Dict[str, Any]): `mentions_per_s` by case, and what they were measured on.
    """
    cases = load_gold(mentions, assets.kb).cases()
    asked = list(dict.fromkeys(case.mention for case in cases))[:limit]
    rankings = assets.engine(memory=False, calibrator=False, rescorer=None).rank(asked, top)
    encoder = CrossEncoder.of(BiEncoder.load(assets.path / ENCODER), CrossSettings(top=top))
    reranker = Reranker(encoder, assets.kb, cache_size=1)
    reranker.rescore(asked[-2:], rankings[-2:])
    start = time.perf_counter()
    reranker.rescore(asked, rankings)
    together = len(asked) / (time.perf_counter() - start)
    few = min(20, len(asked))
    start = time.perf_counter()
    for place in range(few):
        reranker.rescore(asked[place : place + 1], rankings[place : place + 1])
    alone = few / (time.perf_counter() - start)
    return {
        "mentions_per_s": {"all together": round(together, 1), "one by one": round(alone, 1)},
        "wanted": _WANTED,
        "mentions": len(asked),
        "candidates": top,
        "threads": torch.get_num_threads(),
        "machine": machine(),
    }


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    lines = ["| reading | mentions/s |", "|---|---:|"]
    lines += [f"| {name} | {rate:,.1f} |" for name, rate in results["mentions_per_s"].items()]
    facts = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    lines += [
        "",
        f"{results['mentions']:,} distinct mentions, {results['candidates']} candidates each, "
        f"{results['threads']} threads; wanted: {results['wanted']}. {facts}.",
    ]
    return "\n".join(lines) + "\n"


def main(
    assets: Annotated[Path, typer.Option(help="Assets with an encoder.")],
    mentions: Annotated[Path, typer.Option(help="Mentions in documents, JSON Lines or .gz.")],
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/reranking.json"
    ),
    top: Annotated[int, typer.Option(help="Candidates a mention.")] = 25,
    limit: Annotated[int, typer.Option(help="Distinct mentions, at most.")] = 300,
) -> None:
    """Measure how fast candidates are read."""
    results = measure(Assets(assets), mentions, top, limit)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    text = table(results)
    output.with_suffix(".md").write_text(text, encoding="utf-8")
    typer.echo(text)


if __name__ == "__main__":
    typer.run(main)

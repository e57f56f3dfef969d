"""Speed of rerankers: `python -m benchmarks.reranking --assets DIR --mentions FILE`.

The cross-encoders have the weights of the assets' encoder, since training does not change speed.
They have all layers or fewer, and full attention or "one way" (the mention does not read the
candidates). Only the reranker is timed; retrieval is done before. Of assets with a reranker, what
its gate spares and changes is measured on all mentions of FILE, too. Figures go to OUTPUT as JSON,
and to a Markdown table beside it.
"""

import time
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import torch
import typer

from benchmarks.measured import machine, write_results
from spacy_medlink.assets import Assets
from spacy_medlink.assets.layout import ENCODER
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.cross_encoder import (
    FULL,
    LAST,
    MEAN,
    ONE_WAY,
    CrossEncoder,
    CrossSettings,
)
from spacy_medlink.evaluation import load_gold
from spacy_medlink.evaluation.intervals import rank_figures, reciprocal
from spacy_medlink.evaluation.outcome import first_right
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.ranking.reranking import RERANK, Reranker
from spacy_medlink.types import Candidate, Mention

_WANTED = 60  # mentions a second
_FEW = 20  # mentions that are read one by one


class Kind(NamedTuple):
    """A kind of cross-encoder. layers (float): share of the encoder's layers."""

    name: str
    attention: str
    layers: float = 1.0
    pooling: str = MEAN


KINDS = (
    Kind("full attention", FULL),
    Kind("one way", ONE_WAY),
    Kind("one way, two thirds of the layers", ONE_WAY, 2 / 3),
    Kind("one way, half of the layers", ONE_WAY, 1 / 2),
    Kind("the same, closing piece", ONE_WAY, 1 / 2, LAST),
)


def measure(assets: Assets, mentions: Path, top: int, limit: int) -> dict[str, Any]:
    """Measure mentions a second, all together and one by one.

    top (int): candidates a mention. limit (int): distinct mentions, at most.
    RETURNS (Dict[str, Any]): `mentions_per_s` by kind and case, the CPU time for a mention, which
        does not depend on other users of the machine, and the machine.
    """
    cases = load_gold(mentions, assets.kb).cases()
    asked = list(dict.fromkeys(case.mention for case in cases))[:limit]
    engine = assets.engine(memory=False, calibrator=False, rescorer=None, exact_first=False)
    rankings = engine.rank(asked, top)
    base = BiEncoder.load(assets.path / ENCODER)
    config: Any = base.module.config
    rates, layers = {}, int(config.num_hidden_layers)
    for kind in KINDS:
        settings = CrossSettings(top=top, attention=kind.attention, pooling=kind.pooling)
        encoder = CrossEncoder.of(base, settings, round(kind.layers * layers))
        rates[kind.name] = _rates(encoder, assets.kb, asked, rankings)
        typer.echo(f"{kind.name}: {rates[kind.name]}", err=True)
    return {
        "gate": None if assets.reranker is None else gated(assets, mentions),
        "mentions_per_s": rates,
        "wanted": _WANTED,
        "mentions": len(asked),
        "candidates": top,
        "distinct_candidates": len({one.name_row for own in rankings for one in own[:top]}),
        "layers": layers,
        "threads": torch.get_num_threads(),
        "machine": machine(),
    }


def gated(assets: Assets, mentions: Path) -> dict[str, Any]:
    """Measure what the gate of the assets' reranker spares, and what it changes.

    RETURNS (Dict[str, Any]): accuracy and processor time with and without the gate, over all
        mentions of concepts; how many are not read, and how many have another first candidate.
    """
    cases = [case for case in load_gold(mentions, assets.kb).cases() if case.right]
    asked = [case.mention for case in cases]
    ways, ranked = dict[str, dict[str, float]](), list[list[list[Candidate]]]()
    for way, every in (("all mentions", True), ("with the gate", False)):
        engine = assets.engine(calibrator=False)
        assert engine.parts.rescorer is not None
        rankings = engine.retrieve(asked, engine.parts.rescorer.top, force=True).rankings
        busy = time.process_time()
        ranked.append(engine.parts.rescorer.rescore(asked, rankings, every))
        busy = (time.process_time() - busy) / len(asked)
        places = [
            first_right([one.row for one in own], case.right)
            for own, case in zip(ranked[-1], cases, strict=True)
        ]
        ways[way] = {**rank_figures(reciprocal(places), (1, 5)), "ms": round(1e3 * busy, 2)}
    return {
        "ways": ways,
        "fitted": assets.manifest["reranker"].get("gate"),
        "mentions": len(asked),
        "not read": sum(not any(RERANK in one.scores for one in own) for own in ranked[1]),
        "changed": sum(
            [one.row for one in own[:1]] != [one.row for one in other[:1]]
            for own, other in zip(*ranked, strict=True)
        ),
    }


def _rates(
    encoder: CrossEncoder,
    kb: KnowledgeBase,
    asked: list[Mention],
    rankings: list[list[Candidate]],
) -> dict[str, float]:
    reranker = Reranker(encoder, kb, cache_size=1)
    reranker.rescore(asked[-2:], rankings[-2:])
    start, busy = time.perf_counter(), time.process_time()
    reranker.rescore(asked, rankings)
    together = len(asked) / (time.perf_counter() - start)
    busy = (time.process_time() - busy) / len(asked)
    few = min(_FEW, len(asked))
    start = time.perf_counter()
    for place in range(few):
        reranker.rescore(asked[place : place + 1], rankings[place : place + 1])
    alone = few / (time.perf_counter() - start)
    return {
        "all together": round(together, 1),
        "one by one": round(alone, 1),
        "processor ms": round(1e3 * busy, 1),
    }


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    lines = [
        "| reading | mentions/s, all together | one by one | processor time a mention, ms |",
        "|---|---:|---:|---:|",
    ]
    lines += [
        f"| {name} | {own['all together']:,.1f} | {own['one by one']:,.1f} | "
        f"{own['processor ms']:,.1f} |"
        for name, own in results["mentions_per_s"].items()
    ]
    if results["gate"] is not None:
        lines += _gate_lines(results["gate"])
    facts = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    lines += [
        "",
        f"{results['mentions']:,} distinct mentions, {results['candidates']} candidates each "
        f"({results['distinct_candidates']:,} different ones), {results['layers']} layers, "
        f"{results['threads']} threads; wanted: {results['wanted']}. {facts}.",
    ]
    return "\n".join(lines) + "\n"


def _gate_lines(own: dict[str, Any]) -> list[str]:
    n = own["mentions"]
    return [
        "",
        "| read | acc@1 | acc@5 | processor time a mention, ms |",
        "|---|---:|---:|---:|",
        *(
            f"| {way} | {100 * one['acc@1']:.1f} | {100 * one['acc@5']:.1f} | {one['ms']:,.1f} |"
            for way, one in own["ways"].items()
        ),
        "",
        f"With the gate {100 * own['not read'] / n:.1f} % of {n:,} mentions are not read, and "
        f"{own['changed']} have another first candidate.",
    ]


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
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

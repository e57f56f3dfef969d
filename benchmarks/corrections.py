"""Accuracy after corrections in the order of the review queue: `python -m benchmarks.corrections`.

ASSETS are over MEDIC, with an encoder and without a memory of corrections. Mentions of the training
part of the NCBI disease corpus are corrected, some at a time, in the order of the queue or at
random. Then the development part is linked with these corrections. Figures go to OUTPUT as JSON,
and to a Markdown table beside it.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.diseases import diseases
from benchmarks.measured import machine, write_results
from spacy_medlink.assets import Assets
from spacy_medlink.assets.overlaid import OverlaidAssets
from spacy_medlink.evaluation import load_gold
from spacy_medlink.evaluation.gold_set import GoldSet
from spacy_medlink.fitting.corrections import Corrections
from spacy_medlink.fitting.memory import key_of
from spacy_medlink.fitting.review import Doubtful, review_order

_CORPUS = "ncbi_disease"
_COUNTS = (0, 50, 100, 200, 400, 800)
_SEEDS = (0, 1, 2)


def queue(assets: Assets, gold: GoldSet) -> list[int]:
    """Return the numbers of mentions in the order of the review queue, one for each name."""
    cases = list(gold.cases())
    decisions = assets.engine().decide([case.mention for case in cases])
    doubtful = []
    for case, decision in zip(cases, decisions, strict=True):
        best = next(iter(decision.ranking), None)
        right = 0.5 if best is None else best.prob or 0.0
        doubt = 1 - right if decision.link or best is None else right
        doubtful.append(Doubtful(key_of(case), str(best.row) if best else "", doubt))
    return [number for number, _ in review_order(doubtful)]


def corrected(assets: Assets, gold: GoldSet, numbers: Sequence[int]) -> Assets:
    """Put the corrections of some mentions of a gold set in force."""
    chosen, documents, number = set(numbers), [], 0
    for one in gold.documents:
        numbered = enumerate(one.mentions, number)
        own = tuple(mention for place, mention in numbered if place in chosen)
        number += len(one.mentions)
        if own:
            documents.append(one._replace(mentions=own))
    corrections = Corrections(gold.path, tuple(documents))
    curation, remembered, _ = corrections.over(assets.kb)
    return OverlaidAssets(assets, curation, remembered)


def accuracy(assets: Assets, dev: GoldSet) -> float:
    """Compute acc@1 in percent, of the mentions that have a concept."""
    cases = [case for case in dev.cases() if case.gold.ids]
    rankings = assets.engine().rank([case.mention for case in cases], 1)
    right = [own and own[0].row in case.right for own, case in zip(rankings, cases, strict=True)]
    return 100 * mean(map(bool, right))


def measure(path: Path, workplace: Path) -> dict[str, Any]:
    """Measure both orders.

    RETURNS (Dict): "mentions" and "names" of the training part, "mentions_dev", "counts", and by
        order ("queue", "random", "random names") acc@1 for each of the counts; random ones are
        means of three.
    """
    assets = Assets(path)
    train, dev = (
        load_gold(diseases(_CORPUS, part, workplace), assets.kb) for part in ("train", "dev")
    )
    best = queue(assets, train)
    count = sum(len(one.mentions) for one in train.documents)
    draws = [np.random.default_rng(seed) for seed in _SEEDS]
    orders = {
        "queue": [best],
        "random": [draw.permutation(count).tolist() for draw in draws],
        "random names": [draw.permutation(best).tolist() for draw in draws],
    }
    found = {
        name: [
            round(mean(accuracy(corrected(assets, train, own[:some]), dev) for own in several), 1)
            for some in _COUNTS
        ]
        for name, several in orders.items()
    }
    return {
        "mentions": count, "names": len(best), "counts": list(_COUNTS), "acc@1": found,
        "mentions_dev": sum(bool(one.gold.ids) for one in dev.cases()),
    }  # fmt: skip


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    counts = results["counts"]
    lines = [
        f"| corrections | {' | '.join(f'{one:,}' for one in counts)} |",
        f"|---|{'---:|' * len(counts)}",
    ]
    for name, own in results["acc@1"].items():
        lines.append(f"| {name} | {' | '.join(f'{one:.1f}' for one in own)} |")
    return "\n".join([*lines, "", "acc@1 on the development part; random orders: means of three."])


def main(
    assets: Annotated[Path, typer.Argument(help="Assets over MEDIC, without a memory.")],
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/corrections.json"
    ),
) -> None:
    """Measure what corrections are worth in the order of the review queue."""
    with TemporaryDirectory() as place:
        results = {**measure(assets, Path(place)), "machine": machine()}
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

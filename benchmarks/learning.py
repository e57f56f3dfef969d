"""Accuracy before and after `medlink learn`: `python -m benchmarks.learning ASSETS`.

ASSETS are over MEDIC, with an encoder and without a memory of corrections. `medlink learn` fits
them to the training part of each corpus; the development part is linked before and after. Figures
go to OUTPUT as JSON, and to a Markdown table beside it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated, Any

import typer

from benchmarks.diseases import CORPORA, diseases
from benchmarks.measured import machine, write_results
from spacy_medlink.assets import Assets
from spacy_medlink.building.learn import learn
from spacy_medlink.evaluation import Settings, load_gold
from spacy_medlink.evaluation import measure as measure_links

_KS = (1, 5, 25)
_NAME_KS = (1, 5)
_DIGITS = 1


def measure(path: Path, workplace: Path) -> dict[str, Any]:
    """Measure both corpora before and after.

    RETURNS (Dict): by corpus "mentions" and "unseen" (how many), "seconds" that learning took,
        "before" and "after": acc@k in percent, of unseen mentions "acc@1 unseen", of the links
        that are made "precision" and "coverage"; by BioSyn's protocol "names@1" and "names@5".
    """
    assets, found = Assets(path), {}
    for corpus in CORPORA:
        train, dev = (diseases(corpus, part, workplace) for part in ("train", "dev"))
        before = _metrics(assets, train, dev)
        start = perf_counter()
        # Concepts of BC5CDR that this release of MEDIC lacks are added.
        learned = learn(assets, workplace / corpus, train, new_concepts=True).assets
        seconds = perf_counter() - start
        found[corpus] = {
            "mentions": before["n"],
            "unseen": before["by_mention"]["unseen"]["n"],
            "seconds": round(seconds),
            "before": {**_figures(before), **_by_names(assets, dev)},
            "after": {**_figures(_metrics(learned, train, dev)), **_by_names(learned, dev)},
        }
    return found


def _metrics(assets: Assets, train: Path, dev: Path) -> dict[str, Any]:
    settings = Settings(ks=_KS, train=str(train), baselines=False)
    return dict(measure_links(assets, load_gold(dev, assets.kb), settings))


def _figures(metrics: dict[str, Any]) -> dict[str, float]:
    shares = {f"acc@{k}": metrics[f"acc@{k}"] for k in _KS}
    shares["acc@1 unseen"] = metrics["by_mention"]["unseen"]["acc@1"]
    shares |= {name: metrics["links"][name] for name in ("precision", "coverage")}
    return {name: round(100 * value, _DIGITS) for name, value in shares.items()}


def _by_names(assets: Assets, dev: Path) -> dict[str, float]:
    """Measure as SapBERT and BioSyn do: ranks of names, composite mentions, no NIL."""
    settings = Settings(ks=_NAME_KS, protocol="names", baselines=False)
    metrics = measure_links(assets, load_gold(dev, assets.kb), settings)
    return {f"names@{k}": round(100 * metrics[f"acc@{k}"], _DIGITS) for k in _NAME_KS}


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    columns = [*(f"acc@{k}" for k in _KS), "acc@1 unseen", "precision", "coverage"]
    columns += [f"names@{k}" for k in _NAME_KS]
    lines = [
        f"| development part | | {' | '.join(columns)} | seconds |",
        f"|---|---|{'---:|' * (len(columns) + 1)}",
    ]
    for corpus, own in results["corpora"].items():
        for when, seconds in (("before", ""), ("after", own["seconds"])):
            cells = [f"{own[when][name]:.1f}" for name in columns]
            name = f"{CORPORA[corpus]}, {own['mentions']:,} mentions, {own['unseen']:,} unseen"
            lines.append(f"| {name} | {when} | {' | '.join(cells)} | {seconds} |")
    return "\n".join(
        [
            *lines,
            "",
            "Unseen: the training part does not have the mention. Precision and coverage are of "
            "the links that are made above the threshold that was learned; before, all are.",
        ]
    )


def main(
    assets: Annotated[Path, typer.Argument(help="Assets over MEDIC, without a memory.")],
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/learning.json"
    ),
) -> None:
    """Measure what annotated text teaches without training."""
    with TemporaryDirectory() as place:
        results = {"corpora": measure(assets, Path(place)), "machine": machine()}
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

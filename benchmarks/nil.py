"""How far probabilities and thresholds can be trusted: `python -m benchmarks.nil ASSETS`.

ASSETS are over MEDIC, with an encoder and without a memory of corrections. The mentions are those
of the NCBI disease corpus, or the diseases of BC5CDR (`--corpus bc5cdr`), in the data directory
(MEDLINK_DATA). Calibrators are fitted as `medlink
calibrate` does it, on training mentions or on names of the knowledge base, and tested on the
development mentions with a fifth of their concepts removed from the knowledge base, drawn anew five
times. Figures go to OUTPUT as JSON, and to a Markdown table beside it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from benchmarks.diseases import CORPORA, diseases
from benchmarks.measured import machine, write_results
from spacy_medlink.assets import Assets
from spacy_medlink.building import build_assets
from spacy_medlink.building.calibrate import calibrate_assets
from spacy_medlink.building.examples import Example, gold_examples
from spacy_medlink.building.removal import DEPTH, NIL_SHARE, names_of, without
from spacy_medlink.calibration import RankingCalibrator, Trials, best_threshold, features_of, points
from spacy_medlink.calibration.quality import calibration_error
from spacy_medlink.calibration.thresholds import at_threshold
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.linking import LinkingEngine

_DRAWS = 5
_TARGETS = (0.95, 0.96, 0.97)
_DIGITS = 3
_MEASURES = ("precision", "coverage", "linked", "ece", "by_chance", "acc@1", "nil")
_SIMULATIONS = 200


def measure(assets: Path, train: Path, dev: Path, workplace: Path) -> dict[str, Any]:
    """Calibrate in four ways, and test each.

    RETURNS (Dict): `ways`: by name the `facts` of the manifest and `tests`: by target precision
        the threshold, and the means of the draws with the least and the most of each measure.
    """
    plain = Assets(assets)
    remembered, rest = _halves(train, workplace)
    with_memory = build_assets(
        workplace / "with_memory", plain.kb.path, update=assets, memory=[remembered]
    )
    with_all = build_assets(workplace / "with_all", plain.kb.path, update=assets, memory=[train])
    ways: dict[str, tuple[Assets, dict[str, Path]]] = {
        "names of the knowledge base": (plain, {}),
        "training mentions": (plain, {"dev": train}),
        "half of the training mentions; the other half remembered": (with_memory, {"dev": rest}),
        "training mentions, all remembered (`--train`)": (with_all, {"train": train}),
    }
    examples = gold_examples(dev, plain.kb)
    found, drawn = {}, {}
    for name, (own, gold) in ways.items():
        calibrated = calibrate_assets(
            own, workplace / "calibrated", gold.get("dev"), train=gold.get("train")
        )
        engine, facts = own.engine(calibrator=False), calibrated.facts
        if own.path not in drawn:
            drawn[own.path] = [_draw(engine, own.kb, examples, draw) for draw in range(_DRAWS)]
        calibrator = calibrated.assets.calibrator
        assert calibrator is not None
        tests = {}
        for target in _TARGETS:
            chosen = best_threshold(calibrated.curve, target)
            if chosen is not None:
                each = [_test(calibrator, one, chosen.threshold) for one in drawn[own.path]]
                tests[str(target)] = {"threshold": chosen.threshold, **_summary(each)}
        found[name] = {"facts": facts, "tests": tests}
    mentions = sum(one.count for one in examples)
    return {"mentions": mentions, "ways": found, "machine": machine()}


def _halves(train: Path, workplace: Path) -> tuple[Path, Path]:
    """Split the documents in two: what is remembered must not be what is calibrated on."""
    lines = train.read_text(encoding="utf-8").splitlines(keepends=True)
    halves = (workplace / "remembered.jsonl", workplace / "rest.jsonl")
    middle = len(lines) // 2
    for path, own in zip(halves, (lines[:middle], lines[middle:]), strict=True):
        path.write_text("".join(own), encoding="utf-8")
    return halves


def _draw(engine: LinkingEngine, kb: KnowledgeBase, examples: list[Example], draw: int) -> Trials:
    """Remove a fifth of the concepts that are asked for, and rank."""
    concepts = sorted({row for one in examples for row in one.right})
    gone = np.random.default_rng(draw).permutation(concepts)[: round(NIL_SHARE * len(concepts))]
    removed = np.zeros(int(engine.name_concept.max()) + 1, dtype=np.bool_)
    removed[gone] = True
    rankings = engine.rank_within(
        [one.mention for one in examples], DEPTH, without(engine, removed)
    )
    left = [{row for row in one.right if not removed[row]} for one in examples]
    rows = [
        (ranking[0].row in own, bool(own), float(one.count), min(one.right, default=-number - 1))
        for number, (one, own, ranking) in enumerate(zip(examples, left, rankings, strict=True))
        if ranking
    ]
    columns = list(zip(*rows, strict=True))
    return Trials(
        features_of([one for one in rankings if one], names_of(engine, kb)),
        *(np.asarray(column) for column in columns),
    )


def _test(calibrator: RankingCalibrator, trials: Trials, threshold: float) -> dict[str, float]:
    probs = calibrator.estimate(trials.features)
    chosen = at_threshold(points(probs, trials), threshold)
    known = trials.known
    return {
        "precision": chosen.precision if chosen else 1.0,
        "coverage": chosen.coverage if chosen else 0.0,
        "linked": chosen.of_all if chosen else 0.0,
        "ece": calibration_error(probs, trials.right, trials.weights),
        "by_chance": _by_chance(probs, trials.weights),
        "acc@1": float(np.average(trials.right[known], weights=trials.weights[known])),
        "nil": float(np.average(~known, weights=trials.weights)),
    }


def _by_chance(probs: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Compute the calibration error of true probabilities on so many distinct mentions: the mean.

    A mention that comes several times is right every time, or never.
    """
    generator = np.random.default_rng(0)
    errors = [
        calibration_error(probs, generator.random(len(probs)) < probs, weights)
        for _ in range(_SIMULATIONS)
    ]
    return float(np.mean(errors))


def _summary(tests: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    columns = {name: [one[name] for one in tests] for name in _MEASURES}
    return {
        name: {
            "mean": round(float(np.mean(values)), _DIGITS),
            "least": round(min(values), _DIGITS),
            "most": round(max(values), _DIGITS),
        }
        for name, values in columns.items()
    }


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    lines = [
        "| calibrated on | target | threshold | precision | coverage | ECE | by chance | there |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    each = [
        (name, target, test, own["facts"])
        for name, own in results["ways"].items() for target, test in own["tests"].items()
    ]  # fmt: skip
    for name, target, test, facts in each:
        cells = [
            f"{test[one]['mean']:.3f} ({test[one]['least']:.3f} to {test[one]['most']:.3f})"
            for one in ("precision", "coverage", "ece")
        ]
        lines.append(
            f"| {name} | {target} | {test['threshold']:.3f} | {' | '.join(cells)} | "
            f"{test['by_chance']['mean']:.3f} | {facts['calibration_error']:.3f} |"
        )
    test = each[0][2]
    return "\n".join(
        [
            *lines,
            "",
            f"{results['mentions']:,} development mentions of {CORPORA[results['corpus']]}, "
            "MEDIC; a fifth of their concepts removed "
            f"({100 * test['nil']['mean']:.0f} % of the mentions), "
            f"{_DRAWS} draws: mean (least to most). The threshold was chosen where the calibrator "
            "was fitted: the lowest whose precision, its standard error off, reaches the target. "
            "Precision: right links of all links. Coverage: links, right or wrong, of the mentions "
            "whose concept is left. By chance: the calibration error (ECE) that true probabilities "
            "would show on so many distinct mentions, a mean of simulations; there: where it was "
            "fitted, cross-validated.",
        ]
    )


def main(
    assets: Annotated[Path, typer.Argument(help="Assets over MEDIC, without a memory.")],
    corpus: Annotated[str, typer.Option(help="ncbi_disease or bc5cdr.")] = "ncbi_disease",
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/nil.json"
    ),
) -> None:
    """Measure calibration and abstention."""
    with TemporaryDirectory() as place:
        train, dev = (diseases(corpus, part, Path(place)) for part in ("train", "dev"))
        results = {"corpus": corpus, **measure(assets, train, dev, Path(place))}
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

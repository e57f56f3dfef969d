"""The effect of each loss and of mining on accuracy: `python -m benchmarks.ablation WORK`.

all-MiniLM-L6-v2 is trained on the names of the Human Phenotype Ontology by each loss, with mining
and without. Settings are the defaults; learning rate, number of steps and batches are the same for
all. The trained weights are measured on held-out names, and are not mixed with those of the base.
Figures go to OUTPUT as JSON, and to a Markdown table beside it. A run that was cut off continues
with the results in WORK.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.measured import machine, write_results
from benchmarks.training import material
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.batch import LOSSES
from spacy_medlink.kb import KnowledgeBase
from training.pretraining import Pretraining
from training.recipe.reading import read_recipe
from training.recipe.settings import ObjectiveSettings, Recipe

_RESULTS = Path(__file__).parent / "results"
_CONFIGS = Path(__file__).parents[1] / "training" / "papers" / "configs"
_MINER = "hard_pairs"
_REMEMBERED = "all_names"
_KS = ("acc@1", "acc@5")


def measure(work: Path, steps: int, pairs: int, rate: float, among: int) -> dict[str, Any]:
    """Train with every loss, with mining and without.

    steps (int): of training. pairs (int): a batch. rate (float): the learning rate.
    among (int): number of names to search for the held-out ones.
    RETURNS (Dict): by loss, with mining and without, acc@k in per cent on the held-out names.
    """
    base, kb = material(work)
    recipe = read_recipe(
        _CONFIGS / "sapbert.cfg",
        {
            "encoder.pooling": "mean",
            "encoder.dropout": 0.0,
            "sampler.batch_pairs": pairs,
            "optimizer.learning_rate": rate,
            "optimizer.decay": "linear",
            "optimizer.warmup": 0.05,
            "training.eval_every": steps + 1,  # once, at the end
            "training.save_every": steps + 1,
            "holdout.among": among,
        },
    )
    first = _experiment(recipe, base, kb, work)
    yardstick = first.yardstick
    done = work / f"ablation_{steps}_{pairs}_{rate:g}_{among}.json"
    found: dict[str, Any] = json.loads(done.read_text("utf-8")) if done.is_file() else {}
    if "untrained" not in found:
        found["untrained"] = _pick(yardstick.fast(first._base))
    ways = [(loss, miner) for loss in LOSSES for miner in (_MINER, "none")]
    for loss, miner in [*ways, (_REMEMBERED, "none")]:
        column = "mined" if miner == _MINER else "not mined"
        if column in found.get(loss, {}):
            continue
        own = recipe.model_copy(update={"objective": ObjectiveSettings(miner=miner, loss=loss)})
        epoch = _experiment(own, base, kb, work)._sampler().steps_per_epoch
        training = recipe.training.model_copy(update={"epochs": steps / epoch})
        own = own.model_copy(update={"training": training})
        experiment = _experiment(own, base, kb, work)
        if loss != _REMEMBERED:  # which learns from the vectors of all names
            # Names, vectors and shortlist are shared: making them takes as long as training.
            experiment.__dict__["yardstick"] = yardstick
        trainer = experiment.trainer(work / "run")
        trainer.train()
        figures = {
            **_pick(yardstick.fast(experiment._encoder)),
            "names": trainer.progress.names,
            "names_per_s": round(trainer.progress.names / trainer.progress.training_seconds, 1),
        }
        found.setdefault(loss, {})[column] = figures
        done.write_text(json.dumps(found), encoding="utf-8")
        typer.echo(f"{loss}, {miner}: {figures}")
    return {
        "steps": steps, "pairs_a_batch": pairs, "learning_rate": rate, "found": found,
        "data": yardstick.facts(), "machine": machine(),
    }  # fmt: skip


def _experiment(recipe: Recipe, base: str, kb: Path, work: Path) -> Pretraining:
    return Pretraining(
        recipe, KnowledgeBase(kb), BiEncoder.load(base), prepared=work / "prepared"
    )  # fmt: skip


def _pick(figures: dict[str, float]) -> dict[str, float]:
    return {k: round(figures[k], 1) for k in _KS}


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    found = dict(results["found"])
    base = found.pop("untrained")
    lines = ["| loss | mined | not mined |", "|---|---:|---:|"]
    lines.append(f"| (untrained) | | {_cell(base)} |")
    lines += [
        f"| {loss} | {_cell(own.get('mined'))} | {_cell(own['not mined'])} |"
        for loss, own in found.items()
    ]
    data, facts = results["data"], results["machine"].items()
    lines += [
        "",
        f"acc@1 / acc@5 of {data['dev_queries']:,} held-out names of the Human Phenotype Ontology "
        f"among {data['shortlist']:,}, those that the untrained encoder takes for near ones; "
        f"{results['steps']} steps of {results['pairs_a_batch']} pairs at "
        f"{results['learning_rate']:g}; " + ", ".join(f"{key} {value}" for key, value in facts)
        + ".",
    ]  # fmt: skip
    return "\n".join(lines)


def _cell(figures: dict[str, float] | None) -> str:
    return " / ".join(f"{figures[k]:.1f}" for k in _KS) if figures else ""


def main(
    work: Annotated[Path, typer.Argument(help="Directory for base and names; kept.")],
    steps: Annotated[int, typer.Option(help="Of training, for each.")] = 40,
    pairs: Annotated[int, typer.Option(help="Pairs a batch.")] = 128,
    rate: Annotated[float, typer.Option(help="Learning rate.")] = 1e-4,
    among: Annotated[int, typer.Option(help="Names to look among.")] = 20_000,
    output: Annotated[Path, typer.Option(help="JSON; the table goes beside it as .md.")] = (
        _RESULTS / "ablation.json"
    ),
) -> None:
    """Measure and print."""
    results = measure(work, steps, pairs, rate, among)
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

"""Speed of SAP training, ours against the authors' way, on the same pairs in one run.

    python -m benchmarks.training WORK --seconds 60

The two take turns, so that other load on the machine slows both. WORK keeps base and names.
"""

import os
import platform
import statistics
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from torch.profiler import ProfilerActivity, profile

from benchmarks.measured import run_command, write_results
from benchmarks.training_reference import Reference
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.batch import LOSSES, MINERS, BatchObjective
from spacy_medlink.kb import KnowledgeBase
from training.embedded import place_model, place_ontology
from training.loop.learner import Learner
from training.loop.name_task import NameTask
from training.loop.ranks import ALONE
from training.pretraining import Pretraining
from training.recipe.reading import read_recipe

_RESULTS = Path(__file__).parent / "results"
_RECIPE = Path(__file__).parents[1] / "training" / "papers" / "configs" / "sapbert.cfg"
_WARM, _PROFILED = 2, 3  # steps
# Group of an operation, by a part of its name; the first that fits counts.
_GROUPS = {
    "matrix products": ("mm", "linear", "matmul", "einsum"),
    "attention": ("softmax", "attention"),
    "norms and activations": ("norm", "gelu", "relu", "dropout", "bernoulli"),
    "optimizer": ("adam", "lerp", "addcdiv", "addcmul", "optimizer"),
    "casts and copies": ("copy", "to_copy", "cat", "clone", "contiguous"),
    "mining and loss": ("where", "nonzero", "sort", "unique", "cdist", "logsumexp", "masked"),
    "embedding": ("embedding",),
}


def measure(work: Path, pairs: int, seconds: float, device: str) -> dict[str, Any]:
    """Measure all ways.

    work (Path): for base and knowledge base. pairs (int): a batch. seconds (float): for each way.
    """
    base, kb = material(work)
    experiment, ways = ways_of(kb, base, pairs, device)
    speeds = take_turns(ways, seconds)
    found = {name: round(speed, 1) for name, speed in speeds.items()}
    return {
        "names_per_s": found,
        "ratio": {
            name: round(found["ours"] / speed, 2) for name, speed in found.items() if name != "ours"
        },
        "pairs_a_batch": pairs,
        "encoder": "all-MiniLM-L6-v2",
        "precision": experiment._precision.name,
        "profile": {name: _profiled(way) for name, way in ways.items()},
        "machine": {
            "processor": platform.processor() or platform.machine(),
            "threads": torch.get_num_threads(),
            "load": round(os.getloadavg()[0], 2),
            "torch": torch.__version__,
            "device": device,
        },
    }


Way = Callable[[int], int]
"""Trains on a step. RETURNS the number of names that were encoded."""


def ways_of(kb: Path, base: str, pairs: int, device: str) -> tuple[Pretraining, dict[str, Way]]:
    """Make all ways, over the same pairs of the names of a knowledge base."""
    settings = {
        "sampler.batch_pairs": pairs,
        "encoder.dropout": 0.0,
        "training.sub_batches": 4,
    }
    recipe = read_recipe(_RECIPE, settings)
    experiment = Pretraining(recipe, KnowledgeBase(kb), BiEncoder.load(base), device)
    ways = {"ours": ours(experiment)}
    for precision in ("bf16", "fp32"):
        ways[f"reference, {precision}"] = reference(experiment, base, device, precision, kb)
    return experiment, ways


def material(work: Path) -> tuple[str, Path]:
    """Place the embedded base, and build the ontology, unless they are there."""
    base, ontology, kb = work / "base", work / "hp.obo", work / "hpo.kb"
    if not kb.is_file():
        place_model(base)
        place_ontology(ontology)
        run_command("kb", "build", "--output", str(kb), str(ontology), "--from", "obo")
    return str(base), kb


def ours(experiment: Pretraining) -> Way:
    """Train as this project does."""
    own = experiment._recipe.objective
    objective = BatchObjective(
        MINERS[own.miner].with_settings(own.miner_settings),
        LOSSES[own.loss].with_settings(own.loss_settings),
    )
    task = NameTask(experiment._encoder, experiment.names, experiment._sampler(), objective,
                    experiment._recipe.training, lambda encoder: {}, "")  # fmt: skip
    learner = Learner(task, experiment._recipe, experiment._precision, ALONE)
    return lambda step: learner.learn(step, 2e-5).names


def reference(experiment: Pretraining, base: str, device: str, precision: str, kb: Path) -> Way:
    """Train as the authors' code does, on the same pairs."""
    own, names = Reference(base, device, precision), experiment.names
    texts = {row: text.lower() for row, text in enumerate(KnowledgeBase(kb).iter_texts())}
    sampler: Any = experiment._sampler()

    def step(number: int) -> int:
        pairs = experiment.pairs[sampler._shuffle.part(number)]  # the pairs that ours trains on
        rows = names.rows[pairs].tolist()
        chosen = [(texts[first], texts[second]) for first, second in rows]
        return own.step(chosen, names.concepts[pairs[:, 0]].tolist())

    return step


def take_turns(ways: dict[str, Way], seconds: float) -> dict[str, float]:
    """Run the ways in turn. RETURNS the median names a second of each."""
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    number = 0
    for way in ways.values():
        for number in range(_WARM):
            way(number)
    wait_for_device()
    began = time.perf_counter()
    while time.perf_counter() - began < seconds * len(ways):
        number += 1
        for name, way in ways.items():
            start = time.perf_counter()
            names = way(number)
            wait_for_device()
            speeds[name].append(names / (time.perf_counter() - start))
    return {name: statistics.median(found) for name, found in speeds.items()}


def wait_for_device() -> None:
    """Wait until a GPU has finished, since only then is its time known."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _profiled(way: Way) -> dict[str, float]:
    """Divide the CPU time of some steps into groups, in milliseconds a step."""
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for number in range(_PROFILED):
            way(number)
    groups: Counter[str] = Counter()
    for entry in profiler.key_averages():
        groups[_group(entry.key.lower())] += entry.self_cpu_time_total / 1e3 / _PROFILED
    return {name: round(spent, 1) for name, spent in groups.most_common()}


def _group(operation: str) -> str:
    for name, signs in _GROUPS.items():
        if any(sign in operation for sign in signs):
            return name
    return "other"


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    speeds, profiles = results["names_per_s"], results["profile"]
    lines = ["| way | names/s | ours is faster by |", "|---|---:|---:|"]
    for name, speed in speeds.items():
        ratio = f"{results['ratio'][name]:.2f}" if name in results["ratio"] else ""
        lines.append(f"| {name} | {speed:,.0f} | {ratio} |")
    groups = sorted({group for found in profiles.values() for group in found})
    lines += ["", "Time of the processor, in milliseconds a step:", ""]
    lines += ["| | " + " | ".join(profiles) + " |", "|---|" + "---:|" * len(profiles)]
    for group in groups:
        cells = " | ".join(f"{found.get(group, 0.0):,.0f}" for found in profiles.values())
        lines.append(f"| {group} | {cells} |")
    machine = ", ".join(f"{key} {value}" for key, value in results["machine"].items())
    lines += ["", f"{results['encoder']}, {results['pairs_a_batch']} pairs a batch; {machine}."]
    return "\n".join(lines)


def main(
    work: Annotated[Path, typer.Argument(help="Directory for base and names; kept.")],
    pairs: Annotated[int, typer.Option(help="Pairs a batch.")] = 256,
    seconds: Annotated[float, typer.Option(help="For each way.")] = 60,
    device: Annotated[str, typer.Option(help="cpu, cuda ...")] = "cpu",
    output: Annotated[Path, typer.Option(help="JSON; the table goes beside it as .md.")] = (
        _RESULTS / "training.json"
    ),
) -> None:
    """Measure and print."""
    results = measure(work, pairs, seconds, device)
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

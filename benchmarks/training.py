"""What training on names costs and brings: `python -m benchmarks.training WORK`.

The embedded base (all-MiniLM-L6-v2) is trained on the names of the Human Phenotype Ontology, or of
`--kb`, by several recipes or losses at the same number of names. Measured: names a second, and
acc@k of held-out names that chose nothing. The last rows are the loop of SapBERT's authors (Liu et
al. 2021) over pairs of the same names: 25 word pieces, dropout, autocast, an AdamW that works
parameter by parameter, mining over all hard triplets.

    python -m benchmarks.training WORK --loss info_nce --loss circle --set sampler.batch_pairs=32
"""

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from pytorch_metric_learning.losses import MultiSimilarityLoss
from pytorch_metric_learning.miners import TripletMarginMiner

from benchmarks.measured import RESULTS, report, run_command
from spacy_medlink.encoders.loading import load_transformer
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.devices import AUTO, find_device
from training.embedded import place_model, place_ontology

_CONFIGS = Path(__file__).parents[1] / "training" / "configs"
_RECIPES = ("sap", "starter")  # self-alignment in the batch; all names
_KS = ("acc@1", "acc@5")
_LENGTH, _WARM = 25, 2  # word pieces; steps before the clock runs
Row = dict[str, Any]


def material(work: Path) -> tuple[Path, Path]:
    """Place the embedded base, and build the ontology, unless they are there."""
    base, ontology, kb = work / "base", work / "hp.obo", work / "hpo.kb"
    if not base.is_dir():
        place_model(base)
    if not kb.is_file():
        place_ontology(ontology)
        run_command("kb", "build", "--output", kb, ontology, "--from", "obo")
    return base, kb


def train(
    work: Path, kb: Path, base: Path, recipe: str, changes: dict[str, object], device: str
) -> tuple[Row, Row]:
    """Train by a recipe. RETURNS the row of the base, and that of what was trained."""
    output = work / "trained"
    settings = {"selection.interpolation": [1.0], "selection.min_gain": -100, **changes}
    options = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    run = run_command(
        _CONFIGS / f"{recipe}.cfg", "--kb", kb, "--base", base, "--output", output,
        "--device", device, "--overwrite", *options,
        module="training.train",
    )  # fmt: skip
    metrics = json.loads((output / "metrics.json").read_text("utf-8"))
    figures = metrics["training"]
    return {"trained by": "nothing", **_accuracy(metrics["base"])}, {
        "trained by": recipe, **_accuracy(metrics["shipped"]), "names": figures["names"],
        "names/s": figures["names_per_s"], "MB at most": run["peak_rss_mb"],
    }  # fmt: skip


def _accuracy(halves: dict[str, dict[str, float]]) -> Row:
    return {k: halves["test"][k] for k in _KS}


def authors_loop(
    kb: Path, base: Path, pairs: int, seconds: float, device: str, half: bool
) -> Row:  # fmt: skip
    """Train as the authors' code does.

    pairs (int): a batch. seconds (float): how long. half (bool): autocast to bf16.
    """
    tokenizer, module = load_transformer(base, attention=None)
    on = find_device(device)
    module = module.to(on).train()
    optimizer = torch.optim.AdamW(
        module.parameters(), lr=2e-5, weight_decay=0.01, foreach=False, fused=False
    )
    miner = TripletMarginMiner(margin=0.2, type_of_triplets="all")
    loss = MultiSimilarityLoss(alpha=2, beta=50, base=0.5)

    def encode(texts: list[str]) -> torch.Tensor:
        batch = tokenizer(texts, padding="max_length", max_length=_LENGTH, truncation=True,
                          return_tensors="pt").to(on)  # fmt: skip
        vectors: torch.Tensor = module(**batch).last_hidden_state[:, 0]
        return vectors

    names = start = 0.0
    for step, (firsts, seconds_, concepts) in enumerate(_pairs(kb, pairs)):
        if step == _WARM:
            _wait(on)
            names, start = 0, time.perf_counter()
        labels = torch.tensor(concepts * 2, device=on)
        with torch.autocast(on.type, dtype=torch.bfloat16, enabled=half):
            vectors = torch.cat([encode(firsts), encode(seconds_)])
            value = loss(vectors, labels, miner(vectors, labels))
        value.backward()
        optimizer.step()
        optimizer.zero_grad()
        names += len(labels)
        if step > _WARM and time.perf_counter() - start > seconds:
            break
    _wait(on)
    way = "the authors' loop, " + ("bf16" if half else "fp32")
    return {"trained by": way, "names/s": names / (time.perf_counter() - start)}


def _wait(device: torch.device) -> None:
    """Wait until a GPU has finished, since only then is its time known."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def _pairs(kb: Path, size: int) -> Iterator[tuple[list[str], list[str], list[int]]]:
    """Draw batches of two names of a concept each, without end. YIELDS names, names, concepts."""
    rng = random.Random(0)
    concepts = [texts for concept in KnowledgeBase(kb)
                if len(texts := [name.text.lower() for name in concept.names]) > 1]  # fmt: skip
    while True:
        rows = [rng.randrange(len(concepts)) for _ in range(size)]
        both = [rng.sample(concepts[row], 2) for row in rows]
        yield [first for first, _ in both], [second for _, second in both], rows


def main(
    work: Annotated[Path, typer.Argument(help="Directory for base and names; kept.")],
    kb: Annotated[Path | None, typer.Option(help="Names to train on; default: HPO.")] = None,
    names: Annotated[int, typer.Option(help="Names to train on, for each.")] = 8000,
    loss: Annotated[list[str] | None, typer.Option(help="LOSS or LOSS:MINER; by sap.cfg.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="For every recipe.")] = None,
    seconds: Annotated[float, typer.Option(help="For the authors' loop.")] = 30,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda ...")] = AUTO,
    output: Annotated[Path, typer.Option(help="JSON; a table beside it.")] = (
        RESULTS / "training.json"
    ),
) -> None:
    """Measure training on names."""
    work.mkdir(parents=True, exist_ok=True)
    base, own_kb = material(work)
    kb = kb or own_kb
    changes: dict[str, object] = {"training.names": names}
    changes |= dict(text.split("=", 1) for text in set_ or ())
    ways: dict[str, tuple[str, dict[str, object]]] = {name: (name, {}) for name in _RECIPES}
    for named in loss or ():
        of_loss = dict(zip(("objective.loss", "objective.miner"), named.split(":"), strict=False))
        ways[named] = ("sap", {**of_loss})
    rows: list[Row] = []
    for name, (recipe, more) in ways.items():
        untrained, row = train(work, kb, base, recipe, {**changes, **more}, device)
        rows += [row | {"trained by": name}] if rows else [untrained, row]
    rows += [authors_loop(kb, base, 64, seconds, device, half) for half in (True, False)]
    report(output, rows, "acc@k: per cent of the held-out names that chose nothing.")


if __name__ == "__main__":
    typer.run(main)

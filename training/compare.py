"""Compare the tiers and encoders on held-out names, in one table.

`python -m training.compare KB --holdout DIR --base DIR --trained DIR --output metrics/compare.json`
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, TypedDict

import typer

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.evaluation import Settings, load_gold, measure
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept
from spacy_medlink.util.devices import AUTO
from spacy_medlink.util.progress import show_progress

from .data.holdout import Holdout
from .run import FIGURES
from .verbs import Device, Outputs, Overwrite, as_table, per_cent, run_verb

RANKS = (1, 5, 20)
_TIERS = {"exact": "exact", "ngram": "n-gram", "dense": "base encoder"}


class Comparison(TypedDict):
    """How many names were looked for among how many, and a row for each system: acc@k."""

    queries: int
    names: int
    systems: list[dict[str, object]]


def compare(
    kb: Path, holdout: Path, base: Path, trained: Sequence[Path], device: str = AUTO
) -> Comparison:
    """Measure every tier, all encoders and the fusion on the test half of a hold-out.

    kb (Path): knowledge base with all names; held-out names are not searched.
    holdout (Path): directory of a `training.data.holdout.Holdout`. base (Path): the encoder before
    training. trained (Sequence[Path]): encoders in the order of training; the last one ships.
    device (str): where encoders compute.
    RETURNS (Comparison): what was measured.
    """
    knowledge = KnowledgeBase(kb)
    held_out = Holdout.load(holdout, knowledge)
    with TemporaryDirectory() as directory:
        work = Path(directory)
        build_kb(work / "kb.sqlite", _without(knowledge, set(held_out.rows)))
        build = partial(
            build_assets, kb=work / "kb.sqlite", device=device, progress=show_progress,
            calibrate=False, vectors=trained,
        )  # fmt: skip
        gold = holdout / "test.jsonl"
        made = build(work / "base", encoder=base)
        systems: list[dict[str, object]] = [
            {"system": shown, **_measured(made, gold, (tier,))} for tier, shown in _TIERS.items()
        ]
        before = BiEncoder.load(base).fingerprint()
        for number, encoder in enumerate(trained):
            now = BiEncoder.load(encoder).fingerprint()
            if now != before:
                made, before = build(work / str(number), encoder=encoder), now
            systems.append({"system": name_of(encoder), **_measured(made, gold, ("dense",))})
        systems.append({"system": "fused", **_measured(made, gold, (*_TIERS,))})
    return {"queries": len(held_out.test), "names": knowledge.n_names, "systems": systems}


def _without(kb: KnowledgeBase, rows: set[int]) -> Iterator[Concept]:
    for concept in kb:
        numbered = enumerate(concept.names, start=concept.first_name)
        yield replace(concept, names=tuple(name for row, name in numbered if row not in rows))


def _measured(assets: Assets, gold: Path, tiers: tuple[str, ...]) -> dict[str, float | None]:
    settings = Settings(ks=RANKS, tiers=tiers, lexicon=None, baselines=False)
    return per_cent(measure(assets, load_gold(gold, assets.kb), settings), RANKS)


def table(results: Comparison) -> str:
    """Write results as a table in Markdown."""
    queries, names = results["queries"], results["names"]
    note = f"{queries:,} held-out names as queries, ranks count concepts, {names:,} names."
    return f"{as_table(results['systems'])}\n\n{note}"


def name_of(encoder: Path) -> str:
    """Name a trained encoder after its objective and the names that it was trained on."""
    try:
        figures = json.loads((encoder / FIGURES).read_text("utf-8"))
        objective, training = figures["recipe"]["objective"], figures["training"]
    except (OSError, ValueError, KeyError):
        return "trained encoder"
    loss = objective["loss"]
    if loss == "multi_similarity" and objective["miner"] == "hard_pairs":
        loss = "SAP"
    if loss == "teacher":
        loss = "student"
    name = f"{loss}, {training['names']:,} names"
    if training["stopped_by"] == "minutes":
        name += " (stopped by the clock)"
    return name if figures["trained_part"] else f"{name} (its base was kept)"


def main(
    kb: Annotated[Path, typer.Argument(help="Knowledge base with all names.")],
    holdout: Annotated[Path, typer.Option(help="Directory of the held-out names.")],
    base: Annotated[Path, typer.Option(help="The encoder before training.")],
    trained: Annotated[
        list[Path],
        typer.Option(help="An encoder after training; of several the last one ships."),
    ],
    output: Annotated[Path, typer.Option(help="JSON file; the table goes beside it as .md.")],
    device: Device = AUTO,
    overwrite: Overwrite = False,
) -> None:
    """Compare tiers and encoders on held-out names."""
    inputs = [kb, holdout, base, *trained]
    outputs = Outputs(output, "a comparison", inputs, overwrite)
    results = compare(kb, holdout, base, trained, device)
    outputs.write(results, table(results))


if __name__ == "__main__":
    run_verb(main)

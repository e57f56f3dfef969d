"""Train an encoder on the names of a knowledge base (SAP), and ship it if it beats its base.

`python -m training.pretrain training/configs/starter.cfg --kb kb/hpo.kb --base models/base \
--output models/sap`
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.devices import AUTO, find_device, rank_device
from spacy_medlink.util.outputs import check_output

from .experiment import Experiment
from .loop.ranks import all_ranks
from .recipe.overrides import parse_overrides
from .recipe.reading import read_recipe
from .recipe.settings import Recipe
from .saving import ENCODER, save_result
from .verbs import Device, MaxMinutes, Overwrite, Resume, RunDirectory, Set, run, stoppable

HOLDOUT, PREPARED = "holdout", "prepared"


def _silent(line: str) -> None:
    pass


def pretrain(
    recipe: Recipe,
    *,
    kb: Path,
    base: str,
    output: Path,
    run: Path,
    resume: bool = False,
    device: str = AUTO,
    bitext: Path | None = None,
    prepared: Path | None = None,
    say: Callable[[str], None] = _silent,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Train by a recipe.

    output (Path): replaced as a whole at the end: a Hugging Face directory, with the hold-out
        (holdout/), the figures (metrics.json), and log of the training beside it.
    run (Path): directory for checkpoint and log while training.
    bitext (Optional[Path]): translations, tab-separated, for a recipe with an order in [bitext].
    prepared (Optional[Path]): directory where names and pairs are kept, ready for the next training
        with the same settings for them; in `run` if left out.
    overwrite (bool): replace OUTPUT even if it holds more than a trained encoder.
    Started by torchrun on several devices, each call trains a share, and the first one writes.

    RETURNS (Dict[str, Any]): what metrics.json holds; nothing but on the first rank.
    RAISES (MedlinkError): E1xx and E2xx for a bad knowledge base or base model, E5xx.
        (StoppedError): after Ctrl-C, when everything is saved in `run`.
    """
    inputs: list[Path | str | None] = [kb, base, bitext]
    check_output(output, ENCODER, inputs, overwrite=overwrite)
    place = find_device(rank_device(device))
    with all_ranks(place) as ranks:
        told = say if ranks.is_first else _silent
        experiment = Experiment(
            recipe,
            KnowledgeBase(kb),
            BiEncoder.load(base),
            place,
            told,
            ranks,
            bitext,
            prepared or run / PREPARED,
            [Path(base)],
        )
        result = experiment.run(run, resume)
    if result is None:
        return {}

    def also(path: Path) -> None:
        experiment.holdout.save(path / HOLDOUT)
        experiment.yardstick.store(path)

    save_result(result, output, run, also, inputs, overwrite)
    return result.figures


def main(
    config: Annotated[Path, typer.Argument(help="Recipe, such as training/configs/starter.cfg.")],
    kb: Annotated[Path, typer.Option(help="Knowledge base that `medlink kb build` wrote.")],
    base: Annotated[str, typer.Option(help="Encoder to start from: a directory, or a Hub name.")],
    output: Annotated[Path, typer.Option(help="Directory for encoder, hold-out and figures.")],
    run: RunDirectory = None,
    max_minutes: MaxMinutes = None,
    resume: Resume = False,
    device: Device = AUTO,
    bitext: Annotated[
        Path | None, typer.Option(help="Translations: a text, a tab, its translation a line.")
    ] = None,
    prepared: Annotated[
        Path | None, typer.Option(help="Directory for names and pairs, to be used by later runs.")
    ] = None,
    set_: Set = None,
    overwrite: Overwrite = False,
) -> None:
    """Train an encoder on the names of a knowledge base; ship it if it beats its base."""
    overrides = parse_overrides(set_, **{"training.max_minutes": max_minutes})
    with stoppable():
        pretrain(
            read_recipe(config, overrides),
            kb=kb,
            base=base,
            output=output,
            run=run or output.with_name(f"{output.name}_run"),
            resume=resume,
            device=device,
            bitext=bitext,
            prepared=prepared,
            say=typer.echo,
            overwrite=overwrite,
        )


if __name__ == "__main__":
    run(main)

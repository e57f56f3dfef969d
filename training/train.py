"""Train by a recipe, which says its kind: pretrain, finetune, distil or rerank.

`python -m training.train training/configs/starter.cfg --kb kb/hpo.kb --base models/base \
--output models/encoder`
"""

import os
from pathlib import Path
from typing import Annotated

import typer

from .verbs import Device, IfAny, Overwrite, Set, run_verb, stoppable

# By kind, the options that it needs, and those that it may have besides.
_NEEDS = {"pretrain": ["kb"], "finetune": ["kb", "train", "dev"], "distil": ["kb"], "rerank": []}
_MAY = {"pretrain": ["text"], "finetune": [], "distil": [], "rerank": ["train", "dev"]}


def main(
    config: Annotated[Path, typer.Argument(help="Recipe, such as training/configs/starter.cfg.")],
    base: Annotated[
        str,
        typer.Option(help="What to start from: encoder, teacher (distil) or assets (rerank)."),
    ],
    output: Annotated[Path, typer.Option(help="Directory for encoder and figures, or assets.")],
    kb: Annotated[
        Path | None, typer.Option(help="Knowledge base that `medlink kb build` wrote.")
    ] = None,
    train_: Annotated[
        Path | None, typer.Option("--train", help="Annotated text to train on (a gold file).")
    ] = None,
    dev: Annotated[Path | None, typer.Option(help="Gold file to choose the weights by.")] = None,
    text: Annotated[Path | None, typer.Option(help="Translations (pretrain).")] = None,
    run: Annotated[
        Path | None, typer.Option(help="Directory for the checkpoint; OUTPUT_run if left out.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Continue from the checkpoint.")] = False,
    device: Device = "auto",
    set_: Set = None,
    if_any: IfAny = False,
    overwrite: Overwrite = False,
) -> None:
    """Train by a recipe. Keep the base if the result does not beat it."""
    from .kinds.encoder_training import Inputs
    from .recipe.reading import parse_overrides, read_recipe  # these import torch
    from .run import train

    recipe = read_recipe(config, parse_overrides(set_))
    inputs = Inputs(base, output, kb, train_, dev, text, run)
    recipe_kind = recipe.recipe.kind
    for option in ("kb", "train", "dev", "text"):
        is_given = getattr(inputs, option) is not None
        if not is_given and option in _NEEDS[recipe_kind]:
            raise typer.BadParameter(f"a recipe of kind {recipe_kind} needs --{option}")
        if is_given and option not in _NEEDS[recipe_kind] + _MAY[recipe_kind]:
            raise typer.BadParameter(f"a recipe of kind {recipe_kind} does not use --{option}")
    if recipe_kind == "rerank" and int(os.environ.get("WORLD_SIZE", "1")) > 1:  # as torchrun counts
        raise typer.BadParameter("a recipe of kind rerank trains in one process")
    if dev is not None and train_ is None:
        raise typer.BadParameter("--dev needs --train")
    with stoppable():
        train(
            recipe, inputs, resume=resume, device=device, say=typer.echo, overwrite=overwrite,
            if_any=if_any,
        )  # fmt: skip


if __name__ == "__main__":
    run_verb(main)

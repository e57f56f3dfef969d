"""Fine-tune an encoder on annotated text, and ship it if it beats its base on a dev file.

`python -m training.finetune training/configs/finetune.cfg --kb kb/medic.kb --base models/base \
--train corpora/train.jsonl --dev corpora/dev.jsonl --output models/finetuned`
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.devices import AUTO
from spacy_medlink.util.outputs import check_output

from .data.mentions import why_nothing
from .finetuning import Finetuning
from .objectives.registered import OF_MENTIONS
from .recipe.overrides import parse_overrides
from .recipe.reading import read_recipe
from .recipe.settings import Recipe
from .saving import ENCODER, leave_out_training, save_result
from .verbs import Device, IfAny, MaxMinutes, Overwrite, Resume, RunDirectory, Set, run, stoppable


def finetune(
    recipe: Recipe,
    *,
    kb: Path,
    base: str,
    train: Path,
    dev: Path,
    output: Path,
    run: Path,
    resume: bool = False,
    device: str = AUTO,
    say: Callable[[str], None] = lambda line: None,
    overwrite: bool = False,
    if_any: bool = False,
) -> dict[str, Any]:
    """Train by a recipe on the mentions of a gold file.

    train, dev (Path): gold files. output (Path): replaced as a whole at the end: a Hugging Face
        directory with the figures (metrics.json), and the log of the training.
    run (Path): directory for checkpoint and log while training. overwrite (bool): replace OUTPUT
        even if it holds more than a trained encoder. if_any (bool): if a file has no usable
        mention, put the base into OUTPUT and say so.
    RETURNS (Dict[str, Any]): what metrics.json holds.
    RAISES (MedlinkError): E1xx and E2xx for a bad knowledge base or base model, E4xx for a gold
        file, E5xx. (StoppedError): after Ctrl-C, when everything is saved in `run`.
    """
    inputs: list[Path | str | None] = [kb, base, train, dev]
    check_output(output, ENCODER, inputs, overwrite=overwrite)
    knowledge = KnowledgeBase(kb)
    if if_any and (why := why_nothing(train, knowledge) or why_nothing(dev, knowledge)):
        say(f"Fine-tuning is left out: {why}.")
        return leave_out_training(base, output, why, inputs, overwrite)
    study = Finetuning(recipe, knowledge, BiEncoder.load(base), train, dev, device, say)
    result = study.run(run, resume)
    assert result is not None  # one process alone is the first rank
    save_result(result, output, run, inputs=inputs, overwrite=overwrite)
    return result.figures


def main(
    config: Annotated[Path, typer.Argument(help="Recipe, such as training/configs/finetune.cfg.")],
    kb: Annotated[Path, typer.Option(help="Knowledge base that `medlink kb build` wrote.")],
    base: Annotated[str, typer.Option(help="Encoder to start from: a directory, or a Hub name.")],
    train: Annotated[Path, typer.Option(help="Annotated text to train on (a gold file).")],
    dev: Annotated[Path, typer.Option(help="Annotated text to choose the weights by.")],
    output: Annotated[Path, typer.Option(help="Directory for encoder and figures.")],
    run: RunDirectory = None,
    max_minutes: MaxMinutes = None,
    resume: Resume = False,
    device: Device = AUTO,
    set_: Set = None,
    if_any: IfAny = False,
    overwrite: Overwrite = False,
) -> None:
    """Fine-tune an encoder on annotated text; ship it if it beats its base on the dev file."""
    overrides = parse_overrides(set_, **{"training.max_minutes": max_minutes})
    with stoppable():
        finetune(
            read_recipe(config, overrides, OF_MENTIONS),
            kb=kb,
            base=base,
            train=train,
            dev=dev,
            output=output,
            run=run or output.with_name(f"{output.name}_run"),
            resume=resume,
            device=device,
            say=typer.echo,
            overwrite=overwrite,
            if_any=if_any,
        )


if __name__ == "__main__":
    run(main)

"""Make a smaller encoder from a larger one, and ship it if its accuracy hardly falls.

`python -m training.distil training/configs/distil.cfg --teacher models/base --student 3 \
--kb kb/hpo.kb --output models/small`
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_medlink.assets.layout import ENCODER as IN_ASSETS
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.devices import AUTO, CPU
from spacy_medlink.util.outputs import check_output

from .distillation import Distillation
from .objectives.registered import OF_TEACHER
from .recipe.overrides import parse_overrides
from .recipe.reading import read_recipe
from .recipe.settings import Recipe
from .saving import ENCODER, save_result
from .verbs import Device, MaxMinutes, Overwrite, Resume, RunDirectory, Set, run, stoppable

HOLDOUT = "holdout"


def distil(
    recipe: Recipe,
    *,
    kb: Path,
    teacher: str,
    student: str,
    output: Path,
    run: Path,
    text: Path | None = None,
    resume: bool = False,
    device: str = AUTO,
    say: Callable[[str], None] = lambda line: None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Train a student by a recipe.

    teacher (str): an encoder, or assets that hold one. student (str): a number of the teacher's
        layers, "static", or an encoder. text (Optional[Path]): text to learn from, beside names.
        output (Path): replaced as a whole at the end: a Hugging Face directory, with the hold-out
        (holdout/), the figures (metrics.json), and log and picture of the training.
        run (Path): directory for checkpoint and log while training.
        overwrite (bool): replace OUTPUT even if it holds more than a trained encoder.
    RETURNS (Dict[str, Any]): what metrics.json holds.
    RAISES (MedlinkError): E1xx and E2xx for the inputs, E302 layers that the teacher lacks,
        E541 where the student loses more than the recipe allows, E5xx. (StoppedError): after
        Ctrl-C, when everything is saved in `run`.
    """
    inside = Path(teacher) / IN_ASSETS
    source = str(inside) if inside.is_dir() else teacher
    inputs: list[Path | str | None] = [kb, teacher, text]
    inputs += [student] if Path(student).exists() else []
    check_output(output, ENCODER, inputs, overwrite=overwrite)
    knowledge, own = KnowledgeBase(kb), BiEncoder.load(source)
    study = Distillation(recipe, knowledge, own, student, device, text, [Path(source)], say)
    result = study.run(run, resume)
    result.encoder.move(CPU)

    def also(path: Path) -> None:
        study.holdout.save(path / HOLDOUT)

    save_result(result, output, run, also, inputs, overwrite)
    return result.figures


def main(
    config: Annotated[Path, typer.Argument(help="Recipe, such as training/configs/distil.cfg.")],
    teacher: Annotated[str, typer.Option(help="Assets with an encoder, or an encoder.")],
    student: Annotated[
        str,
        typer.Option(help="Layers of the teacher to begin with, `static`, or an encoder."),
    ],
    kb: Annotated[Path, typer.Option(help="Knowledge base that `medlink kb build` wrote.")],
    output: Annotated[Path, typer.Option(help="Directory for encoder, hold-out and figures.")],
    text: Annotated[
        Path | None, typer.Option(help="Text to learn from, beside the names: a plain file.")
    ] = None,
    run: RunDirectory = None,
    max_minutes: MaxMinutes = None,
    resume: Resume = False,
    device: Device = AUTO,
    set_: Set = None,
    overwrite: Overwrite = False,
) -> None:
    """Make a smaller encoder of a larger one; ship it if it loses no more than the recipe says."""
    overrides = parse_overrides(set_, **{"training.max_minutes": max_minutes})
    with stoppable():
        distil(
            read_recipe(config, overrides, OF_TEACHER),
            kb=kb,
            teacher=teacher,
            student=student,
            output=output,
            run=run or output.with_name(f"{output.name}_run"),
            text=text,
            resume=resume,
            device=device,
            say=typer.echo,
            overwrite=overwrite,
        )


if __name__ == "__main__":
    run(main)

"""Reproduce a table of a paper, ours beside the published figures.

    python -m training.papers training/papers/layouts/medical_crossing.cfg --corpus cantemist \
        --kb kb/icdo3.kb --gold cantemist.test.jsonl --train cantemist.train.jsonl \
        --encoder BERT=models/mbert --encoder SapBERT=models/sapbert_xlmr \
        --encoder SapBERT+target=models/target --work models/tables --output metrics/cantemist.json

A name that published.tsv has gets the published figures under its own. Baselines need no name.
Encoders of one name, trained with several seeds, are one row: mean and standard deviation.
"""

from pathlib import Path
from typing import Annotated

import typer

from spacy_medlink.errors import Errors
from spacy_medlink.util.devices import AUTO

from ..verbs import Device, Overwrite, run
from .layout import read_layout
from .measuring import Material, Source, measure_systems
from .outputs import Outputs
from .published import read_published
from .table import as_markdown, averaged, make_table


def main(
    layout: Annotated[Path, typer.Argument(help="A file of training/papers/layouts.")],
    output: Annotated[Path, typer.Option(help="JSON file; the table goes beside it as .md.")],
    kb: Annotated[Path, typer.Option(help="Knowledge base.")],
    gold: Annotated[Path, typer.Option(help="Gold mentions.")],
    corpus: Annotated[str, typer.Option(help="As the published figures name it.")] = "",
    train: Annotated[str, typer.Option(help="Training mentions, to filter by.")] = "",
    gold_scheme: Annotated[str, typer.Option(help="Vocabulary of the gold ids.")] = "",
    type: Annotated[str, typer.Option(help="Only mentions of this type.")] = "",
    encoder: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=DIR",
            help="An encoder, measured alone; again for more. NAME again: mean and deviation.",
        ),
    ] = None,
    linker: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=ASSETS", help="A linker with all its tiers; again for more."),
    ] = None,
    pooling: Annotated[
        str, typer.Option(help="mean or cls, of encoders that do not say; else the layout's.")
    ] = "",
    note: Annotated[str, typer.Option(help="To stand under the table, after the layout's.")] = "",
    work: Annotated[Path, typer.Option(help="Keeps the assets that are built.")] = Path(
        "models/tables"
    ),
    device: Device = AUTO,
    overwrite: Overwrite = False,
) -> None:
    """Measure systems by a paper's protocol, and print its table with ours beside it."""
    outputs = Outputs(output, [layout, kb, gold, train or None], overwrite)
    laid = read_layout(layout, pooling, note)
    linkers = _named(linker, "--linker")
    # An encoder may be the name of one on the Hub.
    for path in (*(path for _, path in linkers), *([Path(train)] if train else [])):
        if not path.exists():
            raise Errors.source_missing(path=path)
    sources = [Source(*one) for one in _named(encoder, "--encoder")]
    sources += [Source(*one, is_linker=True) for one in linkers]
    if not sources:
        raise typer.BadParameter("Give at least one --encoder or --linker.")
    material = Material(kb, gold, train, gold_scheme, type)
    rows = averaged(measure_systems(laid, material, sources, work, _say, device))
    table = make_table(laid, corpus or "corpus", rows, read_published(laid.paper, corpus or "?"))
    text = as_markdown(table)
    outputs.write({**table}, text)
    typer.echo(text)


def _named(given: list[str] | None, option: str) -> list[tuple[str, Path]]:
    found = []
    for one in given or []:
        name, sign, path = one.partition("=")
        if not sign or not name or not path:
            raise typer.BadParameter(f"{one!r} is not NAME=PATH.", param_hint=option)
        found.append((name, Path(path)))
    return found


def _say(line: str) -> None:
    typer.echo(line, err=True)


if __name__ == "__main__":
    run(main)

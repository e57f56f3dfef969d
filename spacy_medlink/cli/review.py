"""`medlink review`: opens the page on a gold file, with what is worth a correction first."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import Errors
from .opening import AUTO, Device, Verify, verify_assets
from .serve import listen

_HOST = "127.0.0.1"


def command(
    gold: Annotated[
        Path,
        typer.Argument(
            metavar="GOLD", help="Gold file, or corrections: its texts are shown, and added to."
        ),
    ],
    assets: Annotated[
        str,
        typer.Option(
            metavar="ASSETS_OR_PIPELINE",
            help="What links them: assets, saved pipeline, pipeline package, or starter.",
        ),
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Show the page in a browser.")] = True,
    lang: Annotated[str, typer.Option(help="Language of the texts, for assets: en, es.")] = "en",
    device: Device = AUTO,
    verify: Verify = False,
) -> None:
    """Review the links of a gold file in the browser: uncertain, frequent and different ones first.

    Corrections are added to the file, and are in force at once, as `medlink serve` has it.
    """
    try:
        from ..serve import CorrectionFile, Desk, Limits, make_app
    except ModuleNotFoundError as error:
        raise Errors.extra_missing(
            what="`medlink review`", package=error.name, extra="serve"
        ) from error
    if not gold.is_file():
        raise Errors.source_missing(path=gold)
    file = CorrectionFile(gold)
    notes = file.notes()
    if not notes:
        raise Errors.nothing_to_review(path=gold)
    if verify:
        verify_assets(assets)
    desk = Desk(Path(assets).name, assets, lang, device, corrections=file, notes=notes)
    longest = max(Limits().length, *map(len, notes))
    listen(make_app([desk], Limits(length=longest)), _HOST, port, launch=browser)

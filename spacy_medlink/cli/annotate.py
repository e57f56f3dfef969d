"""`medlink annotate`: links the mentions of many documents."""

from pathlib import Path
from typing import Annotated

import typer

from ..pipelines import STARTER
from .opening import Verify, verify_assets
from .parsing import choices


def command(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="Documents: .jsonl, .csv, .tsv (plain or .gz), .parquet, or a directory of .txt.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="Where links go: .jsonl, .jsonl.gz or .parquet."),
    ],
    assets: Annotated[
        str,
        typer.Option(
            metavar="ASSETS_OR_PIPELINE",
            help="Directory of assets, saved pipeline, installed pipeline package, or starter.",
        ),
    ] = STARTER,
    text_column: Annotated[str, typer.Option(help="Column or field of the text.")] = "text",
    id_column: Annotated[
        str, typer.Option(help='Column or field of the id; "" numbers the documents.')
    ] = "doc_id",
    lang: Annotated[str, typer.Option(help="Language of the texts, for assets: en, es.")] = "en",
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Links that score less are NIL.")
    ] = None,
    cui_scheme: Annotated[str | None, typer.Option(help="Vocabulary of `cui`: UMLS.")] = None,
    candidates: Annotated[
        int, typer.Option(min=0, help="Candidates to write beside each link.")
    ] = 0,
    keep_text: Annotated[
        bool, typer.Option("--keep-text", help="Write the texts of the documents, too.")
    ] = False,
    max_length: Annotated[
        int | None, typer.Option(min=1, help="Longest document, in characters.")
    ] = None,
    engine: Annotated[str, typer.Option(help="local, or ray (Ray Data).")] = "local",
    n_process: Annotated[int, typer.Option(min=1, help="Processes that link.")] = 1,
    part_size: Annotated[
        int, typer.Option(min=1, help="Documents that are linked and written together.")
    ] = 500,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what is at OUT when all is done.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Throw away what a killed run has done.")
    ] = False,
    verify: Verify = False,
) -> None:
    """Find and link the mentions of many documents; run again after a kill, it goes on."""
    choices(engine, ("local", "ray"), "--engine")
    from ..annotate import Columns, Shape, annotate_file
    from ..progress import show_progress

    if verify:
        verify_assets(assets)
    settings: dict[str, object] = {"top_k": max(candidates, 1)}
    if threshold is not None:
        settings["threshold"] = threshold
    if cui_scheme is not None:
        settings["cui_scheme"] = cui_scheme
    done = annotate_file(
        assets,
        path,
        out,
        columns=Columns(text_column, id_column),
        lang=lang,
        settings=settings,
        shape=Shape(candidates, keep_text),
        max_length=max_length,
        engine=engine,
        n_process=n_process,
        part_size=part_size,
        overwrite=overwrite,
        restart=restart,
        progress=show_progress,
    )
    typer.echo(f"{done.linked:,} documents linked: {out}")
    if done.aside is not None:
        typer.echo(f"{done.set_aside:,} set aside, with the reason: {done.aside}", err=True)

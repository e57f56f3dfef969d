"""`medlink build`: from a knowledge base and an encoder to the assets of a linker."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..components.pipelines import STARTER
from ..encoders.preparation import POOLINGS
from .opening import AUTO, Device
from .output import Overwrite
from .parsing import one_of
from .reports import build_report

if TYPE_CHECKING:
    pass


def command(
    kb_path: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base, or starter.")],
    output: Annotated[Path, typer.Option(help="The directory of assets to write.")],
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Directory of a Hugging Face model, or the name of one to download from the Hub. "
            "Without an encoder, only the exact and n-gram tiers are built."
        ),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(
            show_default="by the number of names", help="faiss factory string, such as HNSW32,SQ8."
        ),
    ] = None,
    pooling: Annotated[
        str | None,
        typer.Option(help="mean, mean_all, cls or pooler; by default as the encoder's files say."),
    ] = None,
    runtime: Annotated[
        str | None,
        typer.Option(
            show_default="that of --update, else torch",
            help="onnx exports the encoder: linking then needs no torch and is faster on a CPU. "
            "The build checks that the links are those of torch.",
        ),
    ] = None,
    update: Annotated[
        Path | None,
        typer.Option(
            help="Earlier assets. Their names are not encoded again; their encoder and kind of "
            "index are the defaults."
        ),
    ] = None,
    memory: Annotated[
        list[Path] | None,
        typer.Option(
            help="Gold mentions to remember: equal mentions are linked in the same way. May be "
            "given several times. By default, what the assets of --update remember."
        ),
    ] = None,
    dev: Annotated[
        Path | None,
        typer.Option(
            help="At least 50 gold mentions, used to choose the weights of the tiers and to fit "
            "the probabilities."
        ),
    ] = None,
    device: Device = AUTO,
    overwrite: Overwrite = False,
) -> None:
    """Encode all names, build the tiers, and replace the assets at --output at the end."""
    from ..assets import build_assets
    from ..util.progress import show_progress

    encoder = encoder or None  # a workflow says "" for none
    kb = None if str(kb_path) == STARTER and not kb_path.exists() else kb_path
    if pooling is not None:
        one_of(pooling, POOLINGS, "--pooling")
    if runtime is not None:
        one_of(runtime, ("torch", "onnx"), "--runtime")
    _check_dense(
        encoder is None and update is None,
        index=index,
        pooling=pooling,
        runtime=runtime,
    )
    if _helps_another(output, kb, encoder, pooling, update, device):
        return
    began = time.perf_counter()
    if kb is None:
        from ..assets.starter import starter_assets

        kb = starter_assets().kb.path
    if encoder is not None or _has_encoder(update):  # nothing else needs torch
        from ..util.devices import rank_device

        device = rank_device(device)
    assets = build_assets(
        output,
        kb,
        encoder,
        index=index,
        pooling=pooling,
        runtime=runtime,
        update=update,
        memory=memory or (),
        dev=dev,
        device=device,
        progress=show_progress,
        overwrite=overwrite,
    )
    typer.echo(build_report(assets, time.perf_counter() - began))
    if "dense" not in assets.tiers:
        typer.echo("No --encoder was given: there is no dense tier.", err=True)


def _has_encoder(update: Path | None) -> bool:
    from ..assets import Assets

    return update is not None and Assets(update).manifest["encoder"] is not None


def _helps_another(
    out: Path,
    kb: Path | None,
    encoder: str | None,
    pooling: str | None,
    update: Path | None,
    device: str,
) -> bool:
    """Encode a share of the names, if torchrun started this process beside the first one.

    An update encodes little, and the starter nothing, so the first process then works alone.
    """
    from ..assets.shares import Share, encode_share

    if Share.of_process().is_first:
        return False
    if kb is not None and encoder is not None and update is None:
        from ..util.devices import rank_device

        encode_share(out, kb, encoder, pooling, rank_device(device))
    return True


def _check_dense(is_missing: bool, **settings: object) -> None:
    """Refuse settings of the dense tier where there will be no dense tier."""
    for name in (name for name, value in settings.items() if value is not None and is_missing):
        hint = f"--{name.replace('_', '-')}"
        raise typer.BadParameter("has no effect without --encoder or --update.", param_hint=hint)

"""`medlink build`: from a knowledge base and an encoder to the assets of a linker."""

import time
from pathlib import Path
from typing import Annotated

import typer

import spacy_medlink

from ..assets.settings import BuildSettings
from ..util.progress import show_progress
from .opening import AUTO, Device
from .options import with_options
from .output import Overwrite
from .reports import build_report

_STARTER = "starter"


@with_options
def command(
    kb_path: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base, or starter.")],
    output: Annotated[Path, typer.Option(help="The directory of assets to write.")],
    settings: BuildSettings,
    device: Device = AUTO,
    overwrite: Overwrite = False,
) -> None:
    """Encode all names, build the tiers, and replace the assets at --output at the end."""
    kb = None if str(kb_path) == _STARTER and not kb_path.exists() else kb_path
    _check_dense(settings)
    if _helps_another(output, kb, settings, device):
        return
    began = time.perf_counter()
    if kb is None:
        from ..assets.starter import starter_assets

        kb = starter_assets().kb.path
    if settings.encoder is not None or _has_encoder(settings.update):  # nothing else needs torch
        from ..util.devices import rank_device

        device = rank_device(device)
    assets = spacy_medlink.build_assets(
        output, kb, **dict(settings), device=device, progress=show_progress, overwrite=overwrite
    )
    typer.echo(f"{build_report(assets)}, built in {time.perf_counter() - began:,.1f} s")
    if "dense" not in assets.tiers:
        typer.echo("No --encoder was given: there is no dense tier.", err=True)


def _has_encoder(update: Path | None) -> bool:
    return update is not None and spacy_medlink.Assets(update).manifest["encoder"] is not None


def _helps_another(out: Path, kb: Path | None, settings: BuildSettings, device: str) -> bool:
    """Encode a share of the names, if torchrun started this process beside the first one.

    An update encodes little, and the starter nothing, so the first process then works alone.
    """
    from ..assets.shares import Share, encode_share

    if Share.of_process().is_first:
        return False
    if kb is not None and settings.encoder is not None and settings.update is None:
        from ..util.devices import rank_device

        encode_share(out, kb, settings.encoder, settings.pooling, rank_device(device))
    return True


def _check_dense(settings: BuildSettings) -> None:
    """Refuse settings of the dense tier where there will be no dense tier."""
    if settings.encoder is None and settings.update is None:
        for name in ("index", "pooling", "runtime"):
            if getattr(settings, name) is not None:
                problem = "has no effect without --encoder or --update."
                raise typer.BadParameter(problem, param_hint=f"--{name}")

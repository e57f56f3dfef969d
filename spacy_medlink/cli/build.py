"""`medlink build`: from a knowledge base and an encoder to the assets of a linker."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .output import table

if TYPE_CHECKING:
    from ..assets import Assets
    from ..types import Progress

_PLACES = {"exact": ("exact/",), "ngram": ("ngram/",), "dense": ("dense.faiss", "encoder/")}


def command(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The directory of assets to write.")],
    kb: Annotated[Path | None, typer.Option(help="The knowledge base.")] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Directory of a Hugging Face model, or its name on the Hub, which is then "
            "fetched. Without it, only the exact and n-gram tiers are built."
        ),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(help="faiss factory string, such as HNSW32,SQ8. [default: Flat]"),
    ] = None,
    pooling: Annotated[
        str | None, typer.Option(help="mean or cls; by default what the encoder says.")
    ] = None,
    update: Annotated[
        Path | None,
        typer.Option(
            help="Assets built before: names that they have are not encoded again. Their encoder "
            "and kind of index are the default."
        ),
    ] = None,
    starter: Annotated[
        bool, typer.Option("--starter", help="Take the built-in starter knowledge base.")
    ] = False,
) -> None:
    """Encode all names, build the tiers, write assets; what is at OUT is replaced at the end."""
    from ..progress import show_progress

    if starter == (kb is not None):
        raise typer.BadParameter("give either --kb or --starter.", param_hint="--kb")
    if pooling not in (None, "mean", "cls"):
        raise typer.BadParameter(f"{pooling!r} is not mean or cls.", param_hint="--pooling")
    began = time.perf_counter()
    assets = build_linker_assets(
        out=out,
        kb=kb,
        encoder=encoder,
        index=index,
        pooling=pooling,
        update=update,
        progress=show_progress,
    )
    typer.echo(_summary(assets, time.perf_counter() - began))
    if "dense" not in assets.tiers:
        typer.echo("No --encoder was given: there is no dense tier.", err=True)
    for tier, why in assets.manifest["left_out"].items():
        typer.echo(f"There is no {tier} tier: {why}.", err=True)


def build_linker_assets(
    *,
    out: Path,
    kb: Path | None,
    encoder: str | None = None,
    index: str | None = None,
    pooling: str | None = None,
    update: Path | None = None,
    progress: "Progress | None" = None,
) -> "Assets":
    """Build the assets of a linker.

    kb (Optional[Path]): the knowledge base; None takes the starter's.
    encoder (Optional[str]): directory or Hub name; None takes that of `update`, or builds no dense
        tier. index, pooling (Optional[str]): see `build_assets`.
    update (Optional[Path]): assets built before, whose vectors are reused.
    RETURNS (Assets): the new assets, opened.
    RAISES (MedlinkError): E1xx and E2xx, for what is wrong with the parts or the disk.
    """
    from ..building import build_assets
    from ..progress import no_progress

    if kb is None:
        from ..starter import starter_assets

        kb = starter_assets().kb.path
    return build_assets(
        out,
        kb,
        encoder,
        index=index,
        pooling=pooling,
        update=update,
        progress=progress or no_progress,
    )


def _summary(assets: "Assets", seconds: float) -> str:
    facts = assets.manifest
    files = facts["files"]
    sizes = {
        tier: sum(entry["size"] for name, entry in files.items() if name.startswith(places))
        for tier, places in _PLACES.items()
    }
    rows = [
        (tier, f"weight {assets.weights.get(tier, 0):.3f}", f"{sizes[tier] / 1e6:,.1f} MB")
        for tier in assets.tiers
    ]
    chosen = facts["fusion"]["chosen_on"]
    how = f"chosen on {chosen['names']:,} names" if chosen else "the default"
    return "\n".join(
        [
            *_reused(facts["update"]),
            f"{assets.path}: {facts['kb']['concepts']:,} concepts, {facts['kb']['names']:,} names",
            table(rows),
            f"fusion weights: {how}",
            f"{assets.size / 1e6:,.1f} MB in all, built in {seconds:,.1f} s",
        ]
    )


def _reused(update: dict[str, Any] | None) -> list[str]:
    """Say what an update used of the assets before."""
    if update is None:
        return []
    if update["why_not"]:
        return [f"{update['name']}: nothing could be reused, since {update['why_not']}"]
    counts = f"{update['reused']:,} names reused, {update['encoded']:,} encoded"
    return [f"{update['name']}: {counts}, {update['dropped']:,} strings are gone"]

"""`medlink fit-ranker`: learn from annotated text which of the candidates is right."""

from pathlib import Path
from typing import Annotated

import typer

from .opening import AUTO, LEARNT, Device, Improvable, Improved, Verify, verify_assets
from .orders import train_given
from .output import Overwrite

_AGAIN = {
    "reranker": "Train it again with `python -m training.rerank`.",
    "calibrator": "Fit it again with `medlink calibrate`.",
}


def command(
    assets: Improvable,
    gold: Annotated[
        Path | None,
        LEARNT,
    ] = None,
    train: Annotated[Path | None, typer.Option(hidden=True)] = None,
    top: Annotated[
        int, typer.Option(help="Candidates to order; with more, higher places gain, at some time.")
    ] = 10,
    output: Improved = None,
    overwrite: Overwrite = False,
    device: Device = AUTO,
    verify: Verify = False,
) -> None:
    """Fit a small model that orders candidates; it is left out where it does not help."""
    from ..assets import Assets
    from ..fitting.ranker import fit_ranker
    from ..util.progress import show_progress

    if verify:
        verify_assets(assets)
    train = train_given(gold, train)
    own = Assets(assets, device=device)
    had = [part for part in ("reranker", "calibrator") if own.manifest.get(part) is not None]
    fitted = fit_ranker(
        own, output or assets, train, top=top, progress=show_progress, overwrite=overwrite
    )
    facts = fitted.facts
    typer.echo(
        f"{facts['mentions']:,} mentions of {facts['documents']:,} documents, each judged by a "
        "model that had not seen its document:"
    )
    for name in ("retrieval", "ranked"):
        figures = facts[name]
        shares = ", ".join(f"{key} {100 * figures[key]:.1f}" for key in ("acc@1", "acc@5"))
        typer.echo(f"{name:<10}{shares}, mrr {figures['mrr']:.4f}")
    if not fitted.kept:
        why = fitted.assets.manifest["left_out"]["ranker"]
        typer.echo(f"The ranker is left out: {why}.")
    for part in had:
        if fitted.assets.manifest.get(part) is None:
            typer.echo(f"The {part} is left out: scores have changed. {_AGAIN[part]}")
    typer.echo(str(fitted.assets.path))

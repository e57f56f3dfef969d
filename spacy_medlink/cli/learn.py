"""`medlink learn`: fits all that annotated text allows without training, in one command."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import spacy_medlink

from ..assets.settings import LearnSettings
from ..util.progress import show_progress
from .opening import AUTO, Device
from .options import with_options
from .output import Overwrite
from .reports import build_report, links_report

if TYPE_CHECKING:
    from ..assets.learn import Learned


@with_options
def command(
    assets: Annotated[
        Path, typer.Argument(metavar="ASSETS", help="The directory of assets to improve.")
    ],
    train: Annotated[
        Path,
        typer.Argument(
            metavar="TRAIN",
            help="Gold mentions to learn from. Do not give those that the encoder was fine-tuned "
            "on.",
        ),
    ],
    settings: LearnSettings,
    output: Annotated[Path | None, typer.Option(help="New directory of assets.")] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Replace ASSETS itself.")] = False,
    overwrite: Overwrite = False,
    device: Device = AUTO,
) -> None:
    """Learn names, corrections, a ranker and probabilities from annotated text."""
    if (output is None) != in_place:
        raise typer.BadParameter("Say either --output DIRECTORY, or --in-place to replace ASSETS.")
    done = spacy_medlink.learn(
        spacy_medlink.Assets(assets, device=device), output or assets, train, **dict(settings),
        progress=show_progress, overwrite=overwrite,
    )  # fmt: skip
    typer.echo(f"{done.names:,} mentions became names")
    typer.echo("\n".join(gain_report(done)))
    typer.echo(build_report(done.assets))
    for part, why in done.left_out.items():
        typer.echo(f"{part}: left out, {why}")


def gain_report(done: "Learned") -> Iterator[str]:
    """Compare the links at the thresholds before and after, and the first candidates."""
    before, after = done.before, done.after
    in_kb = max(1, int(after.in_kb.sum()))
    places = "on each fifth of the documents after learning from the others"
    first = [100 * int(links.first.sum()) / in_kb for links in (before, after)]
    yield f"gain: acc@1 {first[0]:.1f} to {first[1]:.1f} of {in_kb:,} mentions, {places}"
    yield from links_report({"before": before.facts(), "after": after.facts()}, "mentions")

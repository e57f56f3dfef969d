"""The order of arguments of all verbs: `VERB ASSETS_OR_PIPELINE INPUT --output OUT`.

The old order, mostly recognised by the missing `--output`, is accepted for one more release.
"""

import warnings
from pathlib import Path

import typer

from ..assets.layout import MANIFEST
from ..components.pipelines import STARTER
from ..errors import Warnings


def told(old: str, new: str) -> None:
    """Warn that a command is written in the old order."""
    warnings.warn(Warnings.old_order.format(old=old, new=new), stacklevel=2)


def output_missing(what: str) -> typer.BadParameter:
    """Make the usage error for a verb without an output."""
    return typer.BadParameter(f"name {what} to write.", param_hint="--output")


def sources_and_output(places: list[Path], output: Path | None) -> tuple[list[Path], Path]:
    """Read `SOURCE... --output OUT`, or as it was `OUT SOURCE...`.

    RAISES (typer.BadParameter): for neither.
    """
    if output is not None:
        return places, output
    if len(places) < 2:
        raise output_missing("the knowledge base")
    told("medlink kb build OUT SOURCE...", "medlink kb build SOURCE... --output OUT")
    return places[1:], places[0]


def gold_and_output(
    kb: Path, gold: list[Path], output: Path | None
) -> tuple[Path, list[Path], Path]:
    """Read `KB GOLD... --output OUT`, or as it was `OUT KB GOLD...`.

    RAISES (typer.BadParameter): for neither.
    """
    if output is not None:
        return kb, gold, output
    if len(gold) < 2:
        raise output_missing("the knowledge base")
    new = "medlink kb add-mentions KB GOLD... --output OUT"
    told("medlink kb add-mentions OUT KB GOLD...", new)
    return gold[0], gold[1:], kb


def kb_and_output(
    place: Path | None, output: Path | None, kb: Path | None, starter: bool
) -> tuple[Path | None, Path]:
    """Read `KB --output OUT`, or as it was `OUT --kb KB` or `OUT --starter`.

    RETURNS (Tuple[Optional[Path], Path]): the knowledge base, None for the starter's; the output.
    RAISES (typer.BadParameter): for neither.
    """
    if starter and kb is not None:
        raise typer.BadParameter("give either --kb or --starter.", param_hint="--kb")
    is_old = starter or kb is not None
    if is_old:
        if (place is None) == (output is None):
            raise typer.BadParameter("is given twice, or OUT is not.", param_hint="KB")
        told("medlink build OUT --kb KB", "medlink build KB --output OUT")
        return kb, output or place or Path()
    if place is None:
        raise typer.BadParameter(f"give a knowledge base, or {STARTER}.", param_hint="KB")
    if output is None:
        raise output_missing("the directory")
    return (None if str(place) == STARTER and not place.exists() else place), output


def documents_and_output(
    source: str, path: Path, output: Path | None, assets: str
) -> tuple[str, Path, Path]:
    """Read `ASSETS_OR_PIPELINE IN --output OUT`, or as it was `IN OUT --assets ASSETS_OR_PIPELINE`.

    assets (str): what `--assets` names, "" without it.
    RAISES (typer.BadParameter): for neither.
    """
    if output is not None:
        if assets:
            raise typer.BadParameter("is given twice.", param_hint="ASSETS_OR_PIPELINE")
        return source, path, output
    if not assets and (source == STARTER or _is_linker(Path(source))):
        raise output_missing("the file")
    new = "medlink annotate ASSETS_OR_PIPELINE IN --output OUT"
    told("medlink annotate IN OUT --assets ASSETS_OR_PIPELINE", new)
    return assets or STARTER, Path(source), path


def train_given(gold: Path | None, train: Path | None) -> Path:
    """Read `ASSETS TRAIN`, or as it was `ASSETS --train TRAIN`.

    RAISES (typer.BadParameter): for neither, or both.
    """
    if (gold is None) == (train is None):
        raise typer.BadParameter("give one file of gold mentions.", param_hint="TRAIN")
    if train is not None:
        told("medlink fit-ranker ASSETS --train TRAIN", "medlink fit-ranker ASSETS TRAIN")
    return gold or train or Path()


def _is_linker(path: Path) -> bool:
    return (path / MANIFEST).is_file() or any(
        next(path.glob(place), None) for place in ("config.cfg", "*/config.cfg")
    )

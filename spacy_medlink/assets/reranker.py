"""Puts a reranker into assets, or notes there why it was left out."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..fitting.calibrate import fit_on_names_of
from ..types import Data
from .assets import Assets
from .manifest import CALIBRATOR, RERANKER
from .variant import left_out, write_variant

if TYPE_CHECKING:
    from ..encoders.cross_encoder import CrossEncoder

_SAMPLE = 100  # concepts whose names calibrate; few, since reranking is slow


def store_reranker(
    assets: Assets,
    out: str | Path,
    encoder: "CrossEncoder",
    figures: Data,
    overwrite: bool = False,
) -> Assets:
    """Write the assets with a reranker; it replaces any earlier one.

    Their calibrator, if they have one, was fitted to other scores, so a new one is fitted to names.
    Names have no context: calibrate on gold mentions where there are some.

    out (Path): directory to write, which may be that of the assets. figures (Dict): for the
        manifest. overwrite (bool): also delete other files in `out`.
    RAISES (MedlinkError): E214 if it was made for other assets, E109 the disk, E120-E123.
    """
    assets.check_reranker(encoder, Path(out) / RERANKER)
    about = {"fingerprint": encoder.fingerprint(), "top": encoder.settings.top,
             "weight": encoder.settings.weight, **figures}  # fmt: skip

    def add(path: Path) -> None:
        (path / RERANKER).mkdir()
        encoder.save(path / RERANKER)

    entries = {RERANKER: about, "left_out": left_out(assets, RERANKER)}
    return _with_other_scores(assets, Path(out), entries, add, overwrite)


def leave_out_reranker(
    assets: Assets, out: str | Path, why: str, overwrite: bool = False
) -> Assets:
    """Write the assets without a reranker; the manifest's "left_out" says why."""
    entries = {RERANKER: None, "left_out": left_out(assets, RERANKER, why)}
    if not assets.has("reranker"):
        return write_variant(assets, Path(out), entries, overwrite=overwrite)
    return _with_other_scores(assets, Path(out), entries, lambda path: None, overwrite)


def _with_other_scores(
    assets: Assets, out: Path, entries: Data, add: Callable[[Path], None], overwrite: bool
) -> Assets:
    """Write the assets with another reranker or none, and fit their calibrator anew."""
    without = (RERANKER, CALIBRATOR)
    entries = {**entries, "calibrator": None}
    made = write_variant(assets, out, entries, without=without, add=add, overwrite=overwrite)
    fit = fit_on_names_of(made, sample=_SAMPLE) if assets.has("calibrator") else None
    if fit is None:
        return made
    calibrator = fit.calibrator

    def save(path: Path) -> None:
        calibrator.save(path / CALIBRATOR)

    return write_variant(made, out, {"calibrator": fit.entry}, add=save, overwrite=overwrite)

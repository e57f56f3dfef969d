"""Puts a reranker into assets, or notes there why it was left out."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..fitting.calibrate import fit_on_names_of
from ..types import Data
from ..util.files import replacing_directory
from .assets import Assets
from .manifest import ASSETS, CALIBRATOR, RERANKER
from .variant import add_calibrator, describe_anew, left_out

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
    return _write(assets, Path(out), encoder, about, "", overwrite)


def leave_out_reranker(
    assets: Assets, out: str | Path, why: str, overwrite: bool = False
) -> Assets:
    """Write the assets without a reranker; the manifest's "left_out" says why."""
    return _write(assets, Path(out), None, None, why, overwrite)


def _write(
    assets: Assets,
    out: Path,
    encoder: "CrossEncoder | None",
    about: Data | None,
    why: str,
    overwrite: bool,
) -> Assets:
    entries = {RERANKER: about, "left_out": left_out(assets, RERANKER, why)}
    changes = about is not None or assets.manifest.get(RERANKER) is not None  # the scores
    source = assets.path
    with replacing_directory(out, ASSETS, improves=source, overwrite=overwrite) as path:
        for name in assets.files[1:]:
            if name.split("/")[0] != RERANKER and not (changes and name == CALIBRATOR):
                assets.put(name, path / name)
        if encoder is not None:
            (path / RERANKER).mkdir()
            encoder.save(path / RERANKER)
        if not changes:
            describe_anew(assets, path, entries)
        else:
            describe_anew(assets, path, {**entries, "calibrator": None}, (RERANKER, CALIBRATOR))
            if assets.manifest["calibrator"] is not None:
                made = Assets(path, device=assets.device)
                made = add_calibrator(path, made, fit_on_names_of(made, sample=_SAMPLE))
                describe_anew(made, path, {}, [CALIBRATOR])
    return Assets(out, device=assets.device)

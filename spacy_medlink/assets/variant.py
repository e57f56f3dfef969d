"""Writes assets with parts added, replaced or left out."""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from ..fitting.calibrate import CalibratorFit
from ..fitting.ranker import RankerFit
from ..types import Facts
from ..util.files import replacing_directory
from ..util.outputs import PathLike
from .assets import Assets
from .manifest import ASSETS, CALIBRATOR, RANKER_FILE, write_manifest

_OWN = ("schema", "files")  # set when a manifest is written


def write_variant(
    assets: Assets,
    out: Path,
    entries: Facts,
    *,
    without: Collection[str] = (),
    add: Callable[[Path], None] = lambda path: None,
    inputs: Iterable[PathLike | None] = (),
    overwrite: bool = False,
) -> Assets:
    """Write a copy of assets with changed parts; unchanged files are shared if possible.

    out (Path): directory to write, which may be that of the assets. entries (Mapping): of the
        manifest, to replace. without (Collection[str]): files or directories at the top to leave
        out. add (Callable[[Path], None]): writes new ones into the directory.
    inputs (Iterable[Path]): other inputs of the caller. overwrite (bool): also delete other files
        in `out`.
    RAISES (MedlinkError): E109 the disk, E120-E123 for what `out` holds.
    """
    source = assets.path
    with replacing_directory(out, ASSETS, inputs, improves=source, overwrite=overwrite) as path:
        for name in assets.files[1:]:
            if name.split("/")[0] not in without:
                assets.put(name, path / name)
        add(path)
        describe_anew(assets, path, entries, without)
    return Assets(out, device=assets.device)


def describe_anew(
    assets: Assets, path: Path, entries: Facts, changed: Collection[str] = ()
) -> None:
    """Write the manifest of a directory that has the files of assets, but for some.

    entries (Mapping): of the manifest, to replace. changed (Collection[str]): files or
        directories at the top that are no longer those of the assets.
    """
    unchanged = {
        name: entry
        for name, entry in assets.manifest["files"].items()
        if name.split("/")[0] not in changed
    }
    kept = {name: fact for name, fact in assets.manifest.items() if name not in _OWN}
    write_manifest(path, {**kept, **entries}, unchanged)


def add_ranker(path: Path, assets: Assets, fit: RankerFit) -> Assets:
    """Write a ranker that helps into the directory of new assets, but not yet the manifest."""
    assert fit.ranker is not None
    (path / RANKER_FILE).unlink(missing_ok=True)  # that of the build; others may be linked to it
    fit.ranker.save(path / RANKER_FILE)
    return assets.refitted({"ranker": fit.entry})


def add_calibrator(path: Path, assets: Assets, fit: CalibratorFit | None) -> Assets:
    """Write a calibrator, if there is one, into the directory of new assets; see `add_ranker`."""
    if fit is not None:
        fit.calibrator.save(path / CALIBRATOR)
    return assets.refitted({"calibrator": fit.entry if fit is not None else None})


def left_out(assets: Assets, part: str, why: str = "") -> dict[str, str]:
    """Make the manifest's "left_out" with the reason for a missing part; "" removes its entry."""
    others = {k: v for k, v in (assets.manifest.get("left_out") or {}).items() if k != part}
    return {**others, part: why} if why else others

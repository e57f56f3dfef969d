"""The sources of a component's assets: a directory, a pipeline, a package, or the starter."""

from pathlib import Path

from spacy.util import get_package_path, is_package

from ..assets import Assets
from ..assets.manifest import MANIFEST
from ..assets.parts import CPU
from ..assets.starter import starter_assets
from ..errors import Errors
from ..util.outputs import resolved
from .pipe import SAVED_ASSETS

_INSTALLED = frozenset({"site-packages", "dist-packages"})


def open_assets(source: str | Path | None, device: str = CPU) -> Assets:
    """Open the assets that a config names.

    source (Optional[str]): a directory of assets; a saved pipeline, or the name of an installed
        pipeline package, that has a medical_linker; None for the built-in starter.
    device (str): device of the networks, see `Assets`.
    Checksums are compared if the assets are within an installed package.
    RAISES (MedlinkError): E201-E204 for the assets, E201 when none are found.
    """
    if source is None:
        return starter_assets()
    if source == SAVED_ASSETS:
        raise Errors.assets_stayed_behind()
    path = _path_of(source)
    if (path / MANIFEST).exists() or not path.is_dir():
        if path.is_dir() or len(path.parts) > 1:
            return Assets(path, is_installed(path), device)
        raise Errors.assets_missing(path=str(source))
    directory = next(iter(_saved_in(path)), path)
    return Assets(directory, is_installed(directory), device)


def assets_in(source: str | Path) -> list[Assets]:
    """Open all assets of a source: a directory of assets, or a pipeline with several linkers."""
    path = _path_of(source)
    direct = [path] if (path / MANIFEST).exists() else []
    return [Assets(directory) for directory in (*direct, *_saved_in(path))]


def _path_of(source: str | Path) -> Path:
    path = Path(source)
    try:
        exists = path.exists()
    except (OSError, ValueError) as error:  # too long, or not possible as a file name
        raise Errors.assets_missing(path=str(source)[:80]) from error
    return get_package_path(str(source)) if not exists and is_package(str(source)) else path


def _saved_in(path: Path) -> list[Path]:
    """List the assets of a saved pipeline: <component>/assets, in a package a level further down.

    The nearer ones come first.
    """
    manifests = sorted(path.glob(f"*/assets/{MANIFEST}")) + sorted(
        path.glob(f"*/*/assets/{MANIFEST}")
    )
    return [manifest.parent for manifest in manifests]


def is_installed(path: Path) -> bool:
    """Tell whether a path is within an installed package, whose files others have made."""
    return not _INSTALLED.isdisjoint(resolved(path).parts)

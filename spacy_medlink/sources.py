"""Where a component's assets come from: a directory, a pipeline, a package, or the starter."""

from pathlib import Path

from spacy.util import get_package_path, is_package

from .assets import Assets
from .errors import Errors
from .manifest import MANIFEST


def open_assets(source: str | Path | None) -> Assets:
    """Open the assets that a config names.

    source (Optional[str]): a directory of assets; a saved pipeline, or the name of an installed
        pipeline package, that has a medical_linker; None for the built-in starter.
    RAISES (MedlinkError): E201-E204 for the assets, E305 when there are none to be found.
    """
    if source is None:
        from .starter import starter_assets

        return starter_assets()
    path = Path(source)
    try:
        exists = path.exists()
    except (OSError, ValueError) as error:  # too long, or nothing that a file could be called
        raise Errors.unknown_assets_source(value=str(source)[:80]) from error
    if not exists and is_package(str(source)):
        path = get_package_path(str(source))
    if (path / MANIFEST).exists() or not path.is_dir():
        if path.is_dir() or len(path.parts) > 1:
            return Assets(path)
        raise Errors.unknown_assets_source(value=str(source))
    # A pipeline keeps a linker's assets at <component>/assets, a package one level further down.
    found = sorted(path.glob(f"*/assets/{MANIFEST}")) or sorted(path.glob(f"*/*/assets/{MANIFEST}"))
    return Assets(found[0].parent) if found else Assets(path)

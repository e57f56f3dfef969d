"""Where a knowledge base comes from: what its manifest says of its sources."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import Errors
from ..util.files import sha256_of
from . import readers
from .filters import Filters


def facts_of(
    sources: Sequence[tuple[str, Path]], filters: Filters, id_scheme: str
) -> dict[str, Any]:
    """List where the knowledge base comes from: names without their directories, which differ."""
    described = [_describe(format, path) for format, path in sources]
    facts: dict[str, Any] = {
        "source": ", ".join(one["name"] for one in described),
        "format": ", ".join(dict.fromkeys(format for format, _ in sources)),
        "version": ", ".join(one["version"] for one in described if one["version"]),
        "sources": described,
        "filters": filters.as_manifest(),
    }
    if id_scheme:
        facts["id_scheme"] = id_scheme
    return facts


def _describe(format: str, path: Path) -> dict[str, Any]:
    readers.get_reader(format)
    if not path.exists():
        raise Errors.source_missing(path=path)
    module = import_module(f"{readers.__name__}.{readers.FORMATS[format]}")
    release_of = getattr(module, "release_of", None)
    files_of = getattr(module, "files_of", _all_files)
    return {
        "name": path.resolve().name,
        "format": format,
        "version": release_of(path) if release_of else "",
        "sha256": {
            file.name if file == path else file.relative_to(path).as_posix(): sha256_of(file)
            for file in files_of(path)
        },
    }


def _all_files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())

"""The manifest of an assets directory: the inputs of its build, and the checksum of every file."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ..errors import Errors
from ..types import Data, Facts
from ..util.files import sha256_of
from ..util.outputs import DirectoryKind, read_json
from .layout import KB_FILE, MANIFEST

SCHEMA = 1
_FACTS = ("kb", "tiers", "encoder", "fusion", "files")
_SHOWN = 40  # characters of a value
NO_FILES: Mapping[str, Facts] = MappingProxyType({})


def _files_of(path: Path) -> list[str] | None:
    """List the files of assets of any schema; None for a directory of something else."""
    manifest = read_json(path / MANIFEST)
    if not isinstance(manifest, dict) or not {"schema", *_FACTS} <= manifest.keys():
        return None
    return [*manifest["files"], MANIFEST] if isinstance(manifest["files"], dict) else None


# A writer may replace only this kind.
ASSETS = DirectoryKind("a directory of assets", _files_of, database=f"/{KB_FILE}")


def parse_manifest(path: Path, text: bytes) -> Data:
    """Read the manifest of the assets at `path`, and check it as a whole.

    RAISES (MedlinkError): E202 a damaged manifest, E103 another schema.
    """
    from .facts import problem_of

    try:
        manifest: Data = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Errors.assets_incomplete(path=path, problem=f"{MANIFEST}: {error}") from error
    if not isinstance(manifest, dict):
        raise Errors.assets_incomplete(path=path, problem=f"{MANIFEST} is not an object")
    schema = manifest.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        raise Errors.other_schema(path=path, found=_short(schema), expected=SCHEMA, verb="build")
    if absent := [fact for fact in _FACTS if fact not in manifest]:
        problem = f"{MANIFEST} lacks {', '.join(absent)}"
        raise Errors.assets_incomplete(path=path, problem=problem)
    if problem := problem_of(manifest):
        raise Errors.assets_incomplete(path=path, problem=f"{MANIFEST}: {problem}")
    return manifest


def write_manifest(path: Path, facts: Facts, unchanged: Mapping[str, Facts] = NO_FILES) -> None:
    """Write the manifest of a finished directory, with size and SHA-256 of every file.

    unchanged (Mapping): files that have not changed since an earlier manifest, with what it said.
    """
    files = {
        name: unchanged.get(name) or {"size": file.stat().st_size, "sha256": sha256_of(file)}
        for file in sorted(path.rglob("*"))
        if file.is_file() and (name := file.relative_to(path).as_posix()) != MANIFEST
    }
    manifest = {"schema": SCHEMA, **facts, "files": files}
    text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    (path / MANIFEST).write_text(text, encoding="utf-8")


def _short(value: object) -> str:
    if isinstance(value, int) and abs(value) >> 64:
        return "a huge number"
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."

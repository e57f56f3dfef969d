"""The manifest of an assets directory: what it was built from, and the checksum of every file."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import Errors
from .files import sha256_of
from .outputs import DirectoryKind, read_json

SCHEMA = 1
MANIFEST = "manifest.json"
_FACTS = ("kb", "tiers", "encoder", "fusion", "files")


def _files_of(path: Path) -> list[str] | None:
    """List the files of assets, of any schema; None in a directory of something else."""
    found = read_json(path / MANIFEST)
    if not isinstance(found, dict) or not {"schema", *_FACTS} <= found.keys():
        return None
    return [*found["files"], MANIFEST] if isinstance(found["files"], dict) else None


ASSETS = DirectoryKind("a directory of assets", _files_of)  # what a writer of them may replace


def kb_fingerprint(kb: Mapping[str, Any]) -> str:
    """Identify a knowledge base by its manifest."""
    text = json.dumps(kb, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_manifest(path: Path) -> dict[str, Any]:
    """Read the manifest of an assets directory.

    RAISES (MedlinkError): E201 no directory, E202 no readable manifest, E203 of another schema.
    """
    if not path.is_dir():
        raise Errors.assets_missing(path=path)
    try:
        manifest: dict[str, Any] = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise Errors.assets_incomplete(path=path, problem="no manifest.json") from error
    except (OSError, ValueError) as error:
        raise Errors.assets_incomplete(path=path, problem=f"manifest.json: {error}") from error
    if not isinstance(manifest, dict):
        raise Errors.assets_incomplete(path=path, problem="manifest.json is not an object")
    found = manifest.get("schema")
    if found != SCHEMA:
        raise Errors.assets_schema(path=path, found=found, expected=SCHEMA)
    if absent := [fact for fact in _FACTS if fact not in manifest]:
        problem = f"manifest.json lacks {', '.join(absent)}"
        raise Errors.assets_incomplete(path=path, problem=problem)
    return manifest


def write_manifest(path: Path, facts: Mapping[str, Any]) -> None:
    """Write the manifest of a finished directory, with size and SHA-256 of every file."""
    files = {
        file.relative_to(path).as_posix(): {"size": file.stat().st_size, "sha256": sha256_of(file)}
        for file in sorted(path.rglob("*"))
        if file.is_file() and file.name != MANIFEST
    }
    manifest = {"schema": SCHEMA, **facts, "files": files}
    text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    (path / MANIFEST).write_text(text, encoding="utf-8")


def check_files(path: Path, manifest: Mapping[str, Any], verify: bool) -> None:
    """Check that the files of a manifest are there, of their size and, if `verify`, unchanged.

    RAISES (MedlinkError): E202.
    """
    for name, expected in manifest["files"].items():
        file = path / name
        if not file.is_file():
            raise Errors.assets_incomplete(path=path, problem=f"{name} is missing")
        size = file.stat().st_size
        if size != expected["size"]:
            problem = f"{name} has {size} bytes, expected {expected['size']}"
            raise Errors.assets_incomplete(path=path, problem=problem)
        if verify and sha256_of(file) != expected["sha256"]:
            raise Errors.assets_incomplete(path=path, problem=f"{name} has a wrong checksum")

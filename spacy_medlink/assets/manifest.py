"""The files of an assets directory: their names, and the manifest with the checksum of each."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ..retrieval.tier import DENSE
from ..types import Facts
from ..util.files import sha256_of
from ..util.outputs import DirectoryKind, read_json

MANIFEST = "manifest.json"
KB_FILE = "kb.sqlite"
NAME_CONCEPT = "name_concept"
DENSE_FILE, ENCODER = "dense.faiss", "encoder"
FACETS, MEMORY, CALIBRATOR = "facets", "memory", "calibrator.json"
RERANKER, RUNTIME = "reranker", "runtime"
RANKER_FILE = "ranker.json"


def files_of_tier(tier: str) -> tuple[str, ...]:
    """Say how the names of a tier's files begin; the encoder belongs to the dense tier."""
    return (DENSE_FILE, f"{ENCODER}/", f"{RUNTIME}/") if tier == DENSE else (f"{tier}/",)


SCHEMA = 1
FACTS = ("kb", "tiers", "encoder", "fusion", "files")
NO_FILES: Mapping[str, Facts] = MappingProxyType({})


def _files_of(path: Path) -> list[str] | None:
    """List the files of assets of any schema; None for a directory of something else."""
    manifest = read_json(path / MANIFEST)
    if not isinstance(manifest, dict) or not {"schema", *FACTS} <= manifest.keys():
        return None
    return [*manifest["files"], MANIFEST] if isinstance(manifest["files"], dict) else None


# A writer may replace only this kind.
ASSETS = DirectoryKind("a directory of assets", _files_of, database=f"/{KB_FILE}")


def write_manifest(path: Path, entries: Facts, unchanged: Mapping[str, Facts] = NO_FILES) -> None:
    """Write the manifest of a finished directory, with size and SHA-256 of every file.

    unchanged (Mapping): files that have not changed since an earlier manifest, with what it said.
    """
    files = {
        name: unchanged.get(name) or {"size": file.stat().st_size, "sha256": sha256_of(file)}
        for file in sorted(path.rglob("*"))
        if file.is_file() and (name := file.relative_to(path).as_posix()) != MANIFEST
    }
    manifest = {"schema": SCHEMA, **entries, "files": files}
    text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    (path / MANIFEST).write_text(text, encoding="utf-8")

"""Material prepared once, as arrays on disk that later runs map into memory.

With millions of names, memory then holds only the pages in use.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.files import replacing_directory
from spacy_medlink.util.outputs import DirectoryKind, read_json

from .holdout import Holdout
from .material import Material, Wanted, hold_out, pair_up, translations
from .names import COLUMNS, TokenTable, TrainingNames, name_parts

_FORMAT = 3
_MANIFEST, _HOLDOUT, _PAIRS = "manifest.json", "holdout", "pairs.npy"
_FLAT, _LENGTHS, _OFFSETS = "flat", "lengths", "offsets"
_MATERIAL = DirectoryKind("prepared names and pairs")


def prepare(kb: KnowledgeBase, encoder: BiEncoder, wanted: Wanted, parent: Path) -> Path:
    """Prepare the material on disk, unless it is there.

    Complete material of the same knowledge base, tokenizer and settings is used again.

    parent (Path): gets a directory for each such combination.
    RETURNS (Path): directory for `open_material`.
    RAISES (MedlinkError): E530 too few names, E401 bitext, E109 no space.
    """
    made_of = {
        "format": _FORMAT,
        "kb": _stamp(kb),
        "tokenizer": _cutting(encoder),
        "wanted": wanted.facts(),
    }
    key = hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()
    directory = parent / key[:16]
    if not _is_whole(directory, key):
        with replacing_directory(directory, _MATERIAL) as path:
            n_kb = _write(kb, encoder, wanted, path)
            files = {file.name: file.stat().st_size for file in path.iterdir() if file.is_file()}
            manifest = {"key": key, "made_of": made_of, "n_kb": n_kb, "files": files}
            (path / _MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    return directory


def open_material(directory: Path, kb: KnowledgeBase) -> Material:
    """Map what `prepare` wrote into memory."""
    manifest = json.loads((directory / _MANIFEST).read_text("utf-8"))
    names = _open_names(directory)
    holdout = Holdout.load(directory / _HOLDOUT, kb, trusted=True)
    pairs = np.load(directory / _PAIRS, mmap_mode="r", allow_pickle=False)
    return Material(names, pairs, holdout, manifest["n_kb"])


def _open_names(directory: Path) -> TrainingNames:
    rows, concepts, strings, trainable = (
        np.memmap(directory / name, dtype, "r") for name, dtype in COLUMNS.items()
    )
    flat = np.memmap(directory / _FLAT, np.int32, "r")
    tokens = TokenTable(flat, np.memmap(directory / _OFFSETS, np.int64, "r"))
    return TrainingNames(rows, concepts, strings, trainable, tokens)


def _write(kb: KnowledgeBase, encoder: BiEncoder, wanted: Wanted, path: Path) -> int:
    """Write all files but the manifest. RETURNS the number of names of the knowledge base."""
    holdout = hold_out(kb, wanted)
    holdout.save(path / _HOLDOUT)
    skip = frozenset(holdout.rows)
    n_kb = _append(name_parts(kb, encoder.tokenize, wanted.data, skip), path)
    _append(translations(kb, encoder.tokenize, wanted), path)
    lengths = np.memmap(path / _LENGTHS, np.int64, "r")
    offsets = np.memmap(path / _OFFSETS, np.int64, "w+", shape=(len(lengths) + 1,))
    np.cumsum(lengths, out=offsets[1:])
    offsets.flush()
    np.save(path / _PAIRS, pair_up(kb, _open_names(path), wanted), allow_pickle=False)
    return n_kb


def _append(parts: Iterable[TrainingNames], path: Path) -> int:
    """Append names to raw columns, one file each. RETURNS the number of names."""
    count = 0
    for part in parts:
        count += len(part)
        columns = {name: getattr(part, name) for name in COLUMNS}
        columns |= {_LENGTHS: part.tokens.lengths(), _FLAT: part.tokens.flat}
        for name, values in columns.items():
            with (path / name).open("ab") as file:
                values.tofile(file)
    return count


def _cutting(encoder: BiEncoder) -> str:
    """Hash all that decides about the word pieces of a string."""
    tokenizer = encoder.tokenizer._tokenizer.to_str()
    text = f"{encoder.max_length} {encoder.preparation} {tokenizer}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _stamp(kb: KnowledgeBase) -> dict[str, Any]:
    """Identify a knowledge base without reading all of it."""
    file = kb.path.stat()
    return {"manifest": kb.manifest, "bytes": file.st_size, "changed": file.st_mtime_ns}


def _is_whole(directory: Path, key: str) -> bool:
    manifest = read_json(directory / _MANIFEST)
    try:
        sizes = {name: (directory / name).stat().st_size for name in manifest["files"]}
        return bool(manifest["key"] == key and sizes == manifest["files"])
    except (OSError, KeyError, TypeError):
        return False

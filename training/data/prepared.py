"""Material prepared once, by several processes, as arrays on disk that later runs map into memory.

With millions of names, memory then holds only the pages in use.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.files import replacing_directory
from spacy_medlink.util.outputs import DirectoryKind

from ..recipe.settings import DataSettings
from .cutting import Cutter
from .holdout import Holdout
from .material import Material, Wanted, hold_out, pair_up, translations
from .names import Block, TokenTable, TrainingNames, empty_block, name_blocks

_FORMAT = 1
_MANIFEST, _HOLDOUT, _PAIRS, _OFFSETS = "manifest.json", "holdout", "pairs.npy", "offsets.npy"
_MATERIAL = DirectoryKind("prepared names and pairs")
_ALONE = 200_000  # with fewer names, starting processes costs more than it gains
_MOST_PROCESSES = 8
_COPY = 1 << 22  # items


class _Job(NamedTuple):
    """A part of the names for one process."""

    kb: Path
    cutter: Cutter
    reading: DataSettings
    skip: frozenset[int]
    first: int
    last: int
    part: Path


def prepare(
    kb: KnowledgeBase, cutter: Cutter, wanted: Wanted, place: Path, processes: int | None = None
) -> Path:
    """Prepare the material on disk, unless it is there.

    Complete material of the same knowledge base, tokenizer and settings is used again.

    place (Path): gets a directory for each such combination.
    processes (Optional[int]): None decides by the numbers of processors and names. The result
        is the same with any number.
    RETURNS (Path): directory for `open_material`.
    RAISES (MedlinkError): E503 too few names, E516 bitext, E109 no space.
    """
    facts = {
        "format": _FORMAT,
        "kb": _stamp(kb),
        "tokenizer": cutter.fingerprint(),
        "wanted": wanted.facts(),
    }
    key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    directory = place / key[:16]
    if not _is_whole(directory, key):
        with replacing_directory(directory, _MATERIAL) as path:
            n_kb = _write(kb, cutter, wanted, path, processes or _processes(kb))
            files = {file.name: file.stat().st_size for file in path.glob("*.npy")}
            manifest = {"key": key, "made_of": facts, "n_kb": n_kb, "files": files}
            (path / _MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    return directory


def open_material(directory: Path, kb: KnowledgeBase) -> Material:
    """Map what `prepare` wrote into memory."""
    manifest = json.loads((directory / _MANIFEST).read_text("utf-8"))
    names, languages = _open_names(directory)
    holdout = Holdout.load(directory / _HOLDOUT, kb, known=True)
    return Material(names, languages, _mapped(directory / _PAIRS), holdout, manifest["n_kb"])


def _open_names(directory: Path) -> tuple[TrainingNames, NDArray[np.int16]]:
    columns = {name: _mapped(directory / f"{name}.npy") for name in _columns()}
    names = TrainingNames(
        columns["rows"],
        columns["concepts"],
        columns["strings"],
        columns["trainable"],
        TokenTable(columns["flat"], _mapped(directory / _OFFSETS)),
    )
    return names, columns["languages"]


def _write(kb: KnowledgeBase, cutter: Cutter, wanted: Wanted, path: Path, processes: int) -> int:
    """Write all files but the manifest. RETURNS the number of names of the knowledge base."""
    holdout = hold_out(kb, wanted)
    holdout.save(path / _HOLDOUT)
    skip = frozenset(holdout.rows)
    bounds = _bounds(kb, processes)
    jobs = [
        _Job(kb.path, cutter, wanted.data, skip, first, last, path / f"part{number}")
        for number, (first, last) in enumerate(pairwise(bounds))
    ]
    counts = list(_all_done(jobs))
    parts = [job.part for job in jobs]
    if wanted.bitext:
        parts.append(path / "bitext")
        _append(translations(kb, cutter, wanted), parts[-1])
    for name, kind in _columns().items():
        _join([part / name for part in parts], path / f"{name}.npy", kind)
    lengths = _mapped(path / "lengths.npy")
    offsets = np.lib.format.open_memmap(
        path / _OFFSETS, mode="w+", dtype=np.int64, shape=(len(lengths) + 1,)
    )
    np.cumsum(lengths, out=offsets[1:])
    offsets.flush()
    for part in parts:
        part.rmdir()
    names, _ = _open_names(path)
    np.save(path / _PAIRS, pair_up(kb, names, wanted), allow_pickle=False)
    return sum(counts)


def _all_done(jobs: Sequence[_Job]) -> Iterable[int]:
    if len(jobs) == 1:
        return [_do(jobs[0])]
    # Not forked: the threads of a tokenizer or of torch would not survive a fork.
    with ProcessPoolExecutor(len(jobs), get_context("spawn")) as pool:
        return list(pool.map(_do_alone, jobs))


def _do_alone(job: _Job) -> int:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the processes already use all processors
    return _do(job)


def _do(job: _Job) -> int:
    """Write the names of a part. RETURNS their number."""
    kb = KnowledgeBase(job.kb)
    return _append(
        name_blocks(kb, job.cutter, job.reading, job.skip, job.first, job.last), job.part
    )


def _append(blocks: Iterator[Block], part: Path) -> int:
    """Write blocks as raw columns, one file each. RETURNS the number of names."""
    part.mkdir()
    files = [(part / name).open("wb") for name in Block._fields]
    count = 0
    try:
        for block in blocks:
            count += len(block.rows)
            for file, name in zip(files, Block._fields, strict=True):
                getattr(block, name).tofile(file)
    finally:
        for file in files:
            file.close()
    return count


def _join(parts: Sequence[Path], target: Path, kind: np.dtype[Any]) -> None:
    """Join raw files into one .npy file, a few megabytes at a time, and delete them."""
    sizes = [part.stat().st_size // kind.itemsize for part in parts]
    whole = np.lib.format.open_memmap(target, mode="w+", dtype=kind, shape=(sum(sizes),))
    place = 0
    for part in parts:
        with part.open("rb") as file:
            while len(some := np.fromfile(file, dtype=kind, count=_COPY)):
                whole[place : place + len(some)] = some
                place += len(some)
        part.unlink()
    whole.flush()


def _columns() -> dict[str, np.dtype[Any]]:
    empty = empty_block()
    return {name: getattr(empty, name).dtype for name in Block._fields}


def _mapped(path: Path) -> NDArray[Any]:
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def _bounds(kb: KnowledgeBase, parts: int) -> list[int]:
    """Divide the name rows into ranges that end with a concept."""
    rows = {0, kb.n_names}
    for number in range(1, parts):
        row = kb.n_names * number // parts
        for concept, _ in kb.iter_names(row, row + 1):
            rows.add(kb.concept_at(concept).first_name)
    return sorted(rows)


def _processes(kb: KnowledgeBase) -> int:
    if kb.n_names < _ALONE:
        return 1
    return min(os.cpu_count() or 1, _MOST_PROCESSES)


def _stamp(kb: KnowledgeBase) -> dict[str, Any]:
    """Identify a knowledge base without reading all of it."""
    file = kb.path.stat()
    return {"manifest": kb.manifest, "bytes": file.st_size, "changed": file.st_mtime_ns}


def _is_whole(directory: Path, key: str) -> bool:
    try:
        manifest = json.loads((directory / _MANIFEST).read_text("utf-8"))
        sizes = {name: (directory / name).stat().st_size for name in manifest["files"]}
        return bool(manifest["key"] == key and sizes == manifest["files"])
    except (OSError, ValueError, KeyError):
        return False

"""Opens the parts of assets from the files of a build, and checks them before use.

The checks prevent crashes of native code and rows that do not exist: types and shapes of arrays,
ranges of rows, the counts of the manifest.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, Warnings
from ..kb import KnowledgeBase
from ..linking.calibrator import RankingCalibrator
from ..linking.facts import name_facts
from ..linking.ranker import CandidateRanker
from ..retrieval.arrays import check, check_below, load_arrays
from ..retrieval.memory import MentionMemory, Remembered
from ..types import Encoder, Facts
from ..util.extras import CPU as CPU
from ..util.extras import how_to_install, is_installed, is_processor, lacking
from ..util.files import sha256_of
from ..util.held import Held
from ..util.telling import tell
from .manifest import (
    CALIBRATOR,
    DENSE_FILE,
    ENCODER,
    KB_FILE,
    NAME_CONCEPT,
    RANKER_FILE,
    RUNTIME,
)

if TYPE_CHECKING:  # faiss and torch are loaded where there is a dense tier
    import torch

    from ..retrieval.dense import DenseIndex

_WEIGHTS = f"{ENCODER}/model.safetensors"  # for torch


def open_kb(held: Held, manifest: Facts) -> KnowledgeBase:
    """Open the knowledge base. RAISES (MedlinkError): E101-E103, E204 for another build."""
    kb = KnowledgeBase(held.path / KB_FILE, held.part(KB_FILE))
    expected = manifest["kb"]
    if kb.manifest != expected:
        problem = (
            f"kb.sqlite, of {kb.n_names} names, is not the one of {expected['names']} names "
            "that the rest was built from"
        )
        raise Errors.assets_mismatch(path=held.path, problem=problem)
    return kb


def open_rows(directory: Path, manifest: Facts) -> NDArray[np.int32]:
    """Map the concept row of every name. RAISES (MedlinkError): E202."""
    (rows,) = load_arrays(directory, **{NAME_CONCEPT: np.int32})
    names, concepts = manifest["kb"]["names"], manifest["kb"]["concepts"]
    check(directory, NAME_CONCEPT, len(rows) == names, f"{len(rows)} names, expected {names}")
    check_below(directory, NAME_CONCEPT, rows, concepts)
    check(directory, NAME_CONCEPT, bool((rows[1:] >= rows[:-1]).all()), "does not ascend")
    return rows


def open_dense(directory: Path, manifest: Facts, device: str) -> "DenseIndex":
    """Map the index; on a GPU, copy its vectors there where that is possible.

    RAISES (MedlinkError): E202, E204 for another build, E508 no such device.
    """
    from ..retrieval.dense import DenseIndex

    index = DenseIndex.load(directory / DENSE_FILE)
    names, dim = manifest["kb"]["names"], manifest["encoder"]["dim"]
    if len(index) != names:
        problem = f"the index holds {len(index)} vectors for {names} names of another build"
        raise Errors.assets_mismatch(path=directory, problem=problem)
    if index.dim != dim:
        problem = f"the index holds vectors of {index.dim} dimensions, the encoder's have {dim}"
        raise Errors.assets_mismatch(path=directory, problem=problem)
    if not is_processor(device):
        index.move(torch_device(device))
    return index


def open_encoder(held: Held, manifest: Facts, device: str) -> Encoder:
    """Open the encoder on a device; on the processor without torch, if it is static or exported.

    Where the runtime is not installed, torch runs the encoder, with a warning (W243).
    RAISES (MedlinkError): E202 another export, E206, E204 if another encoder made the index, E508
        no such device. (ImportError): neither runtime nor torch is installed.
    """
    made_by = manifest["encoder"]
    runtime = made_by.get("runtime")
    if (runtime or made_by.get("static")) and _computes_here(device):
        try:
            return _open_checked(held, manifest)
        except ImportError as error:
            if runtime is None or not is_installed("torch"):
                raise
            name = runtime["name"]
            fields = {"path": held.path, "runtime": name, "remedy": how_to_install(name)}
            fields["lacking"] = lacking(error)
            tell(Warnings.runtime_missing.format(**fields))
    from ..encoders.opening import open_to_encode

    encoder, fingerprint = open_to_encode(held.source / ENCODER, torch_device(device))
    if fingerprint != made_by["fingerprint"] or encoder.dim != made_by["dim"]:
        problem = "the index was made by another encoder than the one in encoder/"
        raise Errors.assets_mismatch(path=held.path, problem=problem)
    return encoder


def _computes_here(device: str) -> bool:
    """Tell whether a device is the processor; torch, if installed, resolves "auto"."""
    return is_processor(device) or torch_device(device).type == CPU


def torch_device(name: str) -> "torch.device":
    """Find a device of torch, which is not imported before. RAISES (MedlinkError): E508."""
    from ..util.devices import find_device

    return find_device(name)


def _open_checked(held: Held, manifest: Facts) -> Encoder:
    """Open an export or a static encoder; the files must be those of the build."""
    from ..encoders.runtime import RuntimeEncoder

    is_export = manifest["encoder"].get("runtime") is not None
    for name, expected in manifest["files"].items():
        is_used = name.startswith((f"{RUNTIME}/", f"{ENCODER}/"))
        is_idle = is_export and name == _WEIGHTS
        if is_used and not is_idle and sha256_of(held.source / name) != expected["sha256"]:
            problem = f"{name} is not the one of the build"
            raise Errors.assets_incomplete(path=held.path, problem=problem)
    return RuntimeEncoder(held.part(RUNTIME) if is_export else None, held.part(ENCODER))


def make_memory(lines: Sequence[Remembered], kb: KnowledgeBase) -> MentionMemory:
    """Make the memory of corrections, without concepts that the knowledge base lacks."""
    ids = {line.id for line in lines}
    return MentionMemory.of(lines, {id: kb.row_of(id) for id in ids if id in kb})


def open_ranker(
    directory: Path,
    manifest: Facts,
    kb: KnowledgeBase,
    name_concept: NDArray[np.int32],
    lines: Sequence[Remembered],
) -> CandidateRanker:
    """Open the ranker. RAISES (MedlinkError): E202, E214 for another version."""
    facts_of_names = name_facts(kb, _built(name_concept, manifest), lines)
    return CandidateRanker.load(directory / RANKER_FILE, facts_of_names)


def open_calibrator(
    directory: Path, manifest: Facts, kb: KnowledgeBase, name_concept: NDArray[np.int32]
) -> RankingCalibrator:
    """Open the calibrator. RAISES (MedlinkError): E202, E214 for another version, E302."""
    threshold = manifest["calibrator"].get("threshold", 0.0)
    facts_of_names = name_facts(kb, _built(name_concept, manifest))
    return RankingCalibrator.load(directory / CALIBRATOR, facts_of_names, threshold)


def _built(name_concept: NDArray[np.int32], manifest: Facts) -> NDArray[np.int32]:
    """Leave out the names of an overlay, which are not in the order of concepts."""
    return name_concept[: manifest["kb"]["names"]]

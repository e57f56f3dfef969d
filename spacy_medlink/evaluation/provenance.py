"""The conditions of a measurement: files, settings, versions, time and memory."""

import platform
import sys
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .. import __version__
from ..kb import KnowledgeBase
from ..kb.overlay import OverlaidKb
from ..linking import Linker, LinkSettings
from ..linking.asset_parts import AssetParts
from ..util.files import sha256_of
from .gold_set import GoldSet
from .outcome import Metrics
from .settings import Settings

if sys.platform != "win32":
    import resource

_LIBRARIES = (
    "numpy", "scipy", "scikit-learn", "rapidfuzz", "faiss-cpu", "torch", "transformers", "spacy",
    "onnxruntime",
)  # fmt: skip
_LINKER = ("top_k", "threshold", "exact_first", "force_within_filter", "memory", "composite")
_BUILT = ("encoder", "index", "fusion", "ranker", "reranker", "calibrator", "memory", "versions")


def describe_kb(kb: KnowledgeBase) -> Metrics:
    """List what identifies a knowledge base in a report."""
    manifest = kb.manifest
    origin = {
        name: manifest[name] for name in ("source", "format", "version") if manifest.get(name)
    }
    return {**origin, "concepts": len(kb), "names": kb.n_names}


def describe_run(assets: AssetParts, gold: GoldSet, settings: Settings, linker: Linker) -> Metrics:
    """List the inputs: files by name and checksum (never by path), settings, versions."""
    given = settings.model_dump(mode="json")
    given["train"] = [Path(name).name for name in settings.train]
    given["against"] = settings.against and settings.against.name
    train = settings.train_file
    built = {name: assets.manifest[name] for name in _BUILT if assets.manifest.get(name)}
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "gold": describe_file(gold.path),
        **({"train": describe_file(train)} if train else {}),
        "assets": {"name": assets.path.name, "tiers": assets.tiers, **built},
        "settings": given,
        "linker": describe_linker(linker),
        "versions": describe_versions(),
        "machine": platform.machine(),
    }


def describe_versions() -> dict[str, str]:
    """List the versions of this package, Python and the libraries that are installed."""
    versions = {"spacy-medlink": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        with suppress(PackageNotFoundError):
            versions[library] = version(library)
    return versions


def describe_linker(linker: Linker) -> Metrics:
    """List the settings of a linker that differ from the default, its filters and overlay rules."""
    settings, default = linker.settings, LinkSettings()
    described = {
        name: getattr(settings, name)
        for name in _LINKER
        if getattr(settings, name) != getattr(default, name)
    }
    if filters := " and ".join(map(str, linker.scope("").selection)):
        described["filters"] = filters
    if isinstance(linker.parts.kb, OverlaidKb):
        described["overlay"] = linker.parts.kb.counts
    return described


def describe_file(path: Path) -> dict[str, str]:
    """Identify a file by its name and checksum."""
    return {"name": path.name, "sha256": sha256_of(path)}


def peak_memory() -> int:
    """Get the highest resident memory of this process, in bytes; 0 where it is unknown."""
    if sys.platform == "win32":
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def speed(count: int, what: str, seconds: float) -> Metrics:
    """Report the speed of a number of things: "seconds", "{what}_per_s", "peak_rss_mb"."""
    return {
        "seconds": round(seconds, 3),
        f"{what}_per_s": round(count / seconds, 1) if seconds else None,
        "peak_rss_mb": round(peak_memory() / 1e6, 1),
    }

"""What was measured on what: all that is needed to measure it again."""

import platform
from dataclasses import asdict
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .. import __version__
from ..assets import Assets
from ..kb import KnowledgeBase
from ..util.files import sha256_of
from .gold_set import GoldSet
from .settings import Settings

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "rapidfuzz", "faiss-cpu", "torch", "spacy")
_BUILT = ("encoder", "index", "fusion", "ranker", "reranker", "calibrator", "memory", "versions")


def describe_kb(kb: KnowledgeBase) -> dict[str, Any]:
    """List what identifies a knowledge base in a report."""
    facts = kb.manifest
    known = {name: facts[name] for name in ("source", "format", "version") if facts.get(name)}
    return {**known, "concepts": len(kb), "names": kb.n_names}


def describe_run(assets: Assets, gold: GoldSet, settings: Settings) -> dict[str, Any]:
    """List what was measured: files by name and checksum (never by place), settings, versions."""
    given = asdict(settings)
    given.update({name: list(given[name]) for name in ("ks", "tiers")})
    for file in ("train", "reference", "base"):
        given[file] = Path(given[file]).name
    built = {name: assets.manifest[name] for name in _BUILT if assets.manifest.get(name)}
    return {
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "gold": describe_file(gold.path),
        **({"train": describe_file(Path(settings.train_file))} if settings.train_file else {}),
        "assets": {"name": assets.path.name, "tiers": assets.tiers, **built},
        "settings": given,
        "versions": {
            "spacy-medlink": __version__,
            "python": platform.python_version(),
            **{library: version(library) for library in _LIBRARIES},
        },
        "machine": platform.machine(),
    }


def describe_file(path: Path) -> dict[str, str]:
    """Tell a file by its name and checksum."""
    return {"name": path.name, "sha256": sha256_of(path)}

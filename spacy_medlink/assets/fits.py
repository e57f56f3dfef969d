"""What was fitted to the names of older assets, and stays while nearly all names do.

Fitting costs most of a small update. What it finds hardly depends on a few names, and probabilities
that change a little from release to release help nobody. Each part counts the names that have
changed since it was fitted, so that many small updates do not add up unnoticed.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..kb import KnowledgeBase
from ..linking.linear import difference
from ..retrieval.tier import tiers_of_names
from ..text.normalisation import hash_keys
from ..types import Data, Facts, Hashes1d
from ..util.files import sha256_of
from .assets import Assets
from .manifest import CALIBRATOR, RUNTIME
from .update import CHANGED, MOST_CHANGED, Update, text_hashes

# Recall is a result of the index, not a setting.
_OF_INDEX = ("spec", "search")


class KeptFits:
    """The calibrator, the gate and the exported encoder of older assets.

    old (Optional[Assets]): None keeps nothing. changed (int): names that are not in both
        (`count_changed`). path (Path): directory of the new assets. facts (Mapping): of their
        manifest. conditions (Mapping): what their scores depend on.
    """

    def __init__(
        self, old: Assets | None, changed: int, path: Path, manifest: Facts,
        conditions: Facts,
    ) -> None:  # fmt: skip
        is_same = old is not None and _has_same_setup(old, path, manifest)
        self._old, self._changed, self._path = old if is_same else None, changed, path
        self._names, self._conditions = manifest["kb"]["names"], conditions

    def calibrator(self) -> Data | None:
        """Take the calibrator over, and get its facts; None where it must be fitted anew."""
        entry = self._old.manifest.get("calibrator") if self._old is not None else None
        if self._old is None or entry is None or not _is_whole(self._old, CALIBRATOR):
            return None
        kept = self._kept(entry, json.loads(self._old.file(CALIBRATOR).read_bytes())["fitted_for"])
        if kept is not None:
            self._old.put(CALIBRATOR, self._path / CALIBRATOR)
        return kept

    def gate(self) -> Data | None:
        """Get the gate; None where it must be fitted anew."""
        gate = self._old.manifest.get("gate") if self._old is not None else None
        return self._kept(gate, gate["fitted_for"]) if gate is not None else None

    def export(self, runtime: str) -> Data | None:
        """Take the exported encoder over, and get its facts; None where it must be exported."""
        entry = (self._old.manifest["encoder"] or {}).get("runtime") if self._old else None
        if self._old is None or entry is None or entry["name"] != runtime:
            return None
        files = [name for name in self._old.files if name.startswith(f"{RUNTIME}/")]
        if not files or not _is_whole(self._old, *files):
            return None
        kept = self._kept(entry, self._conditions)
        for name in files if kept is not None else ():
            self._old.put(name, self._path / name)
        return kept

    def _kept(self, entry: Facts, fitted_for: Facts) -> Data | None:
        """Add the names that have changed; None if these are too many, or conditions differ."""
        if difference(fitted_for, self._conditions):
            return None
        changed = entry.get(CHANGED, 0) + self._changed
        return {**entry, CHANGED: changed} if changed < MOST_CHANGED * self._names else None


def kept_fusion(old: Assets | None, reuse: Update | None, tiers: Sequence[str]) -> Data | None:
    """Get the old fusion weights, if they are valid for the new assets too.

    They are if tiers, encoder and most names are the same. Only reused vectors show the share of
    equal names; without a dense tier it is assumed. To choose anew would only change every score a
    little from release to release.
    """
    if old is None or list(tiers) != old.tiers:
        return None
    vectors = reuse.known if reuse is not None else None
    if "dense" in tiers and (vectors is None or vectors.reused < vectors.encoded):
        return None
    return dict(old.manifest["fusion"])


def count_changed(old: KnowledgeBase, new: KnowledgeBase) -> int:
    """Count the names that only one of two knowledge bases has, or has for another concept."""
    before, after = _hashes(old), _hashes(new)
    return _count_absent(before, after) + _count_absent(after, before)


def _hashes(kb: KnowledgeBase) -> Hashes1d:
    """Hash each name together with the id of its concept: (n_names,), ascending."""
    ids, concepts = hash_keys(kb.iter_ids()), kb.name_concepts()
    hashes = text_hashes(kb)
    hashes ^= ids[concepts]
    hashes.sort()
    return hashes


def _count_absent(ascending: Hashes1d, others: Hashes1d) -> int:
    """Count the hashes that the first array lacks; in order, each is searched near the last one."""
    if not len(ascending):
        return len(others)
    at = np.minimum(np.searchsorted(ascending, others), len(ascending) - 1)
    return int((ascending[at] != others).sum())


def _has_same_setup(old: Assets, path: Path, manifest: Facts) -> bool:
    """Tell whether assets have all in common that a fit depends on, except names and conditions."""
    tiers = tiers_of_names()
    written = [f"{name}/{file.name}" for name in tiers for file in (path / name).iterdir()]
    starts = tuple(f"{name}/" for name in tiers)
    is_same_kind = {*written} == {name for name in old.files if name.startswith(starts)}
    return is_same_kind and _setup(old.manifest) == _setup(manifest)


def _setup(manifest: Facts) -> list[object]:
    index = manifest.get("index") or {}
    return [
        manifest["tiers"],
        manifest["fusion"],
        (manifest["encoder"] or {}).get("fingerprint"),
        [index.get(name) for name in _OF_INDEX],
        (manifest.get("memory") or {}).get("sources"),
        (manifest.get("versions") or {}).get("spacy-medlink"),
    ]


def _is_whole(assets: Assets, *names: str) -> bool:
    """Tell whether files are there, and as they were written."""
    sums = assets.manifest["files"]
    return all(
        name in sums and sha256_of(assets.file(name)) == sums[name]["sha256"] for name in names
    )

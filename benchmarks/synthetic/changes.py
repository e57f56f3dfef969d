"""What changes from one release of the Metathesaurus to the next, decided before it is written."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from benchmarks.synthetic.draws import Flags, Ints, SmallInts

CUIS = 10_000_000  # a CUI has seven digits
DROPPED, MOVED, IN_NEW_CONCEPTS = 0.3, 0.2, 0.3  # of the changed names; the rest are synonyms


@dataclass
class Census:
    """What there is in the old release.

    cuis, counts (SmallInts): CUIs, ascending, and how many names each has, (n_concepts,).
    synonym (Flags): names that are not the preferred one of a language, (n_names,).
    last_atom (int): highest AUI.
    parent (SmallInts): a parent by CUI, 0 if there is none, (CUIS,).
    leaf (Flags): whether a CUI is no concept's parent, (CUIS,).
    """

    cuis: SmallInts
    counts: SmallInts
    synonym: Flags
    last_atom: int
    parent: SmallInts
    leaf: Flags


def take_census(names: Iterable[str], relations: Iterable[str]) -> Census:
    """Read the old release once.

    names (Iterable[str]): rows of MRCONSO, by CUI. relations (Iterable[str]): rows of MRREL.
    RETURNS (Census): what there is.
    """
    cuis, counts, synonym = array("i"), array("i"), bytearray()
    current, last_atom = "", ""
    for row in names:
        if row[:8] != current:
            current = row[:8]
            cuis.append(int(current[1:]))
            counts.append(0)
        counts[-1] += 1
        synonym.append(row[13] == "S")
        last_atom = max(last_atom, row.split("|", 8)[7])
    parent, leaf = array("i", bytes(4 * CUIS)), bytearray(b"\1" * CUIS)
    for row in relations:
        one, _, _, rel, two, _ = row.split("|", 5)
        if rel == "PAR":
            parent[int(one[1:])] = int(two[1:])
        if rel in ("PAR", "RB"):
            leaf[int(two[1:])] = 0
    return Census(
        np.frombuffer(cuis, dtype=np.int32),
        np.frombuffer(counts, dtype=np.int32),
        np.frombuffer(synonym, dtype=bool),
        int(last_atom[1:]),
        np.frombuffer(parent, dtype=np.int32),
        np.frombuffer(leaf, dtype=bool),
    )


@dataclass
class Changes:
    """What changes. Rows are counted from 0 in the old MRCONSO.

    heirs (dict[int, int]): CUIs that end, and the CUI that each is merged into, or 0.
    targets (dict[int, int]): rows that leave their concept, and the CUI they move to, or 0.
    models (list[int]): rows of which new synonyms are made.
    parents (list[int]): a CUI for each new concept.
    new_names (int): how many names the new concepts have.
    """

    heirs: dict[int, int] = field(default_factory=dict)
    targets: dict[int, int] = field(default_factory=dict)
    models: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    new_names: int = 0

    def summary(self) -> dict[str, int]:
        """Count the changes.

        RETURNS (dict[str, int]): dropped + moved + added names is what was asked for.
        """
        merged = sum(1 for heir in self.heirs.values() if heir)
        moved = sum(1 for target in self.targets.values() if target)
        return {
            "dropped": len(self.targets) - moved,
            "moved": moved,
            "added": self.new_names + len(self.models),
            "retired": len(self.heirs) - merged,
            "merged": merged,
            "new_concepts": len(self.parents),
        }


def plan_changes(census: Census, fraction: float, seed: int) -> Changes:
    """Decide what changes.

    census (Census): the old release. fraction (float): of the names dropped, moved or added.
    seed (int): which future.
    RETURNS (Changes): the decisions.
    """
    random = np.random.default_rng(seed)
    total = round(fraction * len(census.synonym))
    dropped, moved = round(DROPPED * total), round(MOVED * total)
    ends = np.cumsum(census.counts, dtype=np.int64)
    changes = Changes()
    dead = _end_concepts(changes, census, ends, dropped // 2, moved // 2, random)
    alive = ~np.repeat(dead, census.counts)
    # Whole concepts took up to half of the budget; single synonyms take the rest.
    gone = len(changes.targets)
    free = np.flatnonzero(alive & census.synonym)
    chosen = random.choice(free, min(dropped + moved - gone, len(free)), replace=False)
    already = sum(1 for target in changes.targets.values() if not target)
    cut = min(dropped - already, len(chosen))
    changes.targets.update(dict.fromkeys(chosen[:cut].tolist(), 0))
    _move(changes, chosen[cut:], census.cuis[~dead], ends, census.cuis, random)
    added = total - len(changes.targets)
    changes.new_names = round(IN_NEW_CONCEPTS / (1 - DROPPED - MOVED) * added)
    changes.parents = random.choice(census.cuis[~dead], -(-changes.new_names // 3)).tolist()
    alive[chosen] = False
    del free, chosen
    models = random.choice(np.flatnonzero(alive), added - changes.new_names, replace=True)
    changes.models = sorted(models.tolist())
    return changes


def _end_concepts(
    changes: Changes,
    census: Census,
    ends: Ints,
    dropped: int,
    moved: int,
    random: np.random.Generator,
) -> Flags:
    """Retire some leaves, and merge some into a parent: neither makes an orphan or a cycle."""
    able = census.leaf[census.cuis] & (census.parent[census.cuis] > 0)
    order = random.permutation(np.flatnonzero(able))
    sums = np.concatenate([[0], np.cumsum(census.counts[order], dtype=np.int64)])
    retired = int(np.searchsorted(sums, dropped, side="right")) - 1
    merged = int(np.searchsorted(sums, sums[retired] + moved, side="right")) - 1
    for place, concept in enumerate(order[:merged].tolist()):
        cui = int(census.cuis[concept])
        heir = int(census.parent[cui]) if place >= retired else 0
        changes.heirs[cui] = heir
        rows = range(int(ends[concept] - census.counts[concept]), int(ends[concept]))
        changes.targets.update(dict.fromkeys(rows, heir))
    dead = np.zeros(len(census.cuis), dtype=bool)
    dead[order[:merged]] = True
    return dead


def _move(
    changes: Changes,
    rows: Ints,
    targets: SmallInts,
    ends: Ints,
    cuis: SmallInts,
    random: np.random.Generator,
) -> None:
    """Send rows to other concepts that live on."""
    homes = cuis[np.searchsorted(ends, rows, side="right")]
    places = random.integers(len(targets), size=len(rows))
    places = np.where(targets[places] == homes, (places + 1) % len(targets), places)
    changes.targets.update(zip(rows.tolist(), targets[places].tolist(), strict=True))

"""Examples to calibrate on: mentions whose right concepts are known, and how a linker ranks them.

A linker must also be seen to fail. Concepts are dealt into as many parts as make one the wanted
share. Every mention is ranked twice: with the part of its own concept removed, when nothing can be
right (NIL), and with another part removed. Both count as much as the share says, so that every
mention teaches both. `name_examples` makes examples of names.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation import load_gold
from ..evaluation.gold_set import Case
from ..kb import KnowledgeBase
from ..linking import Linker
from ..ranking.calibrator import calibrator_features
from ..ranking.facts import NameFacts, name_facts
from ..ranking.features import Features
from ..ranking.linear import Floats
from ..retrieval.mask import Mask
from ..text.normalisation import hash_key
from ..types import Candidate, Mention, Progress
from ..util.progress import no_progress

NIL_SHARE = 0.2
DEPTH = 5  # candidates of each, as a linker has by default
_BATCH = 512
_LEAST_PARTS = 2

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Example:
    """A mention to link.

    right (FrozenSet[int]): concept rows that are right; empty where the gold file says NIL, or its
        concept is not in the knowledge base.
    count (int): how often the mention occurs.
    """

    mention: Mention
    right: frozenset[int]
    count: int = 1


class RankedExamples(NamedTuple):
    """Examples that have a first candidate, as a calibrator sees them.

    features (Features): of `calibrator_features`, (n, n_features).
    right (Flags): whether the first candidate is, (n,). known (Flags): whether any could be, (n,).
    weights (Floats): how much each counts, (n,).
    groups (NDArray[int64]): examples of one group, such as mentions of one concept, stand and fall
        together, and are never on both sides of a split, (n,).
    not_found (Tuple[float, float]): weight of the examples for which there is no candidate; of
        those among them that are known.
    """

    features: Features
    right: Flags
    known: Flags
    weights: Floats
    groups: NDArray[np.int64]
    not_found: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of(
        cls,
        rankings: Sequence[Sequence[Candidate]],
        right: Sequence[Set[int]],
        weights: Floats,
        groups: Sequence[int],
        facts: NameFacts,
    ) -> "RankedExamples":
        """Describe rankings, of which some may be empty. right (Sequence[Set[int]]): rows."""
        found = np.asarray([bool(one) for one in rankings], dtype=np.bool_)
        known = np.asarray([bool(one) for one in right], dtype=np.bool_)
        first = [
            bool(ranking) and ranking[0].row in wanted
            for ranking, wanted in zip(rankings, right, strict=True)
        ]
        return cls(
            calibrator_features(filter(None, rankings), facts),
            np.asarray(first, dtype=np.bool_)[found],
            known[found],
            weights[found],
            np.asarray(groups, dtype=np.int64)[found],
            (float(weights[~found].sum()), float(weights[~found & known].sum())),
        )

    @classmethod
    def together(cls, parts: "Sequence[RankedExamples]") -> "RankedExamples":
        """Unite what was ranked in several parts."""
        nothing, known = zip(*(one.not_found for one in parts), strict=True)
        return cls(
            np.concatenate([one.features for one in parts]),
            np.concatenate([one.right for one in parts]),
            np.concatenate([one.known for one in parts]),
            np.concatenate([one.weights for one in parts]),
            np.concatenate([one.groups for one in parts]),
            (sum(nothing), sum(known)),
        )

    def part(self, chosen: Flags) -> "RankedExamples":
        """Take some of the examples."""
        return RankedExamples(
            self.features[chosen],
            self.right[chosen],
            self.known[chosen],
            self.weights[chosen],
            self.groups[chosen],
        )


def gold_examples(path: str | Path, kb: KnowledgeBase, with_context: bool = False) -> list[Example]:
    """Read the mentions of a gold file, equal ones once.

    with_context (bool): keep what stands around them, for a reranker.
    RAISES (MedlinkError): E107, E401-E404, E407 for the file.
    """
    return examples_of(load_gold(path, kb).cases(), with_context)


def examples_of(cases: Iterable[Case], with_context: bool = False) -> list[Example]:
    """Make examples of annotated mentions, equal ones once."""
    counts: Counter[tuple[Mention, frozenset[int]]] = Counter(
        (_asked(case.mention, with_context), case.right)
        for case in cases
        if case.mention.text.strip()
    )
    return [Example(mention, right, count) for (mention, right), count in counts.items()]


def _asked(mention: Mention, with_context: bool) -> Mention:
    """Leave out what the document says that the mention is: no threshold is asked for that."""
    left, right = (mention.left, mention.right) if with_context else ("", "")
    return mention._replace(left=left, right=right, identifiers=())


def count_concepts(examples: Iterable[Example]) -> int:
    """Count the concepts that are right for any."""
    return len({row for one in examples for row in one.right})


class _Round(NamedTuple):
    """What is ranked with the same names: examples, their weights, and rows that may be right."""

    mask: Mask
    examples: list[tuple[Example, float, frozenset[int]]]


def rank_examples(
    engine: Linker,
    kb: KnowledgeBase,
    examples: Sequence[Example],
    nil_share: float = NIL_SHARE,
    progress: Progress = no_progress,
    gone: Sequence[int] = (),
) -> RankedExamples:
    """Rank candidates for examples, with and without the concepts that they are about.

    nil_share (float): share of the concepts that is removed; 0 removes none, and only what the
        gold file calls NIL is. gone (Sequence[int]): name rows that are out of it all the time.
    """
    rounds = list(_rounds(engine, list(kb.iter_ids()), examples, nil_share, gone))
    facts = name_facts(kb, engine.name_concept)
    batches = [
        (one.mask, one.examples[start : start + _BATCH])
        for one in rounds for start in range(0, len(one.examples), _BATCH)
    ]  # fmt: skip
    parts = [RankedExamples.of([], [], np.zeros(0), [], facts)]
    for mask, batch in progress(batches, len(batches), "asking"):
        own, weights, right = zip(*batch, strict=True)
        rankings = engine.rank_within([one.mention for one in own], DEPTH, mask)
        groups = list(map(_group, own))
        parts.append(RankedExamples.of(rankings, right, np.asarray(weights), groups, facts))
    return RankedExamples.together(parts)


def parts_of(ids: Iterable[str], parts: int) -> NDArray[np.int64]:
    """Deal concepts into parts, by a hash of their ids: (n_concepts,)."""
    return np.fromiter((hash_key(f"nil {id}") % parts for id in ids), dtype=np.int64)


def without(engine: Linker, removed: Flags, hidden: Sequence[int] = ()) -> Mask:
    """Make the mask of the names that are left.

    removed (Flags): concepts that go, (n_concepts,). hidden (Sequence[int]): name rows that go.
    """
    left = ~removed[engine.name_concept]
    left[list(hidden)] = False
    return Mask.of(left)


def _rounds(
    engine: Linker,
    ids: Sequence[str],
    examples: Sequence[Example],
    nil_share: float,
    gone: Sequence[int],
) -> Iterator[_Round]:
    """Deal out the examples."""
    parts = max(_LEAST_PARTS, round(1 / nil_share)) if nil_share else 1
    part = parts_of(ids, parts) if nil_share else np.full(len(ids), -1, dtype=np.int64)
    own = [_part_of(one, part, parts) for one in examples]
    for number in range(parts):
        removed = part == number
        shared = []
        for example, place in zip(examples, own, strict=True):
            left = frozenset(row for row in example.right if not removed[row])
            if place == number:
                # A mention that is NIL in any case is ranked in one part only.
                share = nil_share if example.right and nil_share else 1.0
                shared.append((example, share * example.count, left))
            elif example.right and (place + 1) % parts == number:
                share = (1 - nil_share) * example.count
                shared.append((example, share, left))
        yield _Round(without(engine, removed, gone), shared)


def _part_of(example: Example, part: NDArray[np.int64], parts: int) -> int:
    if example.right:
        return max(0, int(part[min(example.right)]))
    return hash_key(example.mention.text) % parts


def _group(example: Example) -> int:
    """Number what stands and falls together: of the concept, or of the text of what is NIL."""
    # Both fit into 63 bits and differ, since rows of concepts are small.
    return min(example.right) if example.right else hash_key(example.mention.text) >> 1

"""Examples to calibrate on: mentions with known right concepts, ranked by a linker.

A calibrator needs links that are wrong too. Concepts are split into parts, each as large as the
NIL share. Every mention is ranked twice: once without the part of its own concept, so that no
candidate can be right (NIL), and once without another part. The weights of both follow the share.
`name_examples` makes examples of names.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation.gold_set import Case
from ..kb import KnowledgeBase
from ..linking import Linker
from ..linking.calibrator import calibrator_features
from ..linking.facts import NameFacts, name_facts
from ..linking.features import Features
from ..linking.linear import Floats
from ..retrieval.mask import Mask
from ..text.normalisation import hash_key
from ..types import Candidate, Mention, Progress
from ..util.progress import no_progress

NIL_SHARE = 0.2  # of the concepts, whose mentions are ranked without them
_PARTS = 5  # of the concepts, each of this share
DEPTH = 5  # candidates of each ranking, a linker's default
_BATCH = 512

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Example:
    """A mention to link.

    right (FrozenSet[int]): rows of the right concepts; empty where the gold file says NIL, or the
        knowledge base lacks the concept.
    count (int): occurrences of the mention.
    """

    mention: Mention
    right: frozenset[int]
    count: int = 1


class RankedExamples(NamedTuple):
    """Examples with a first candidate, as features.

    features (Features): of `calibrator_features`, (n, n_features).
    right (Flags): whether the first candidate is right, (n,). in_kb (Flags): whether any candidate
        could be right, (n,). weights (Floats): of the examples, (n,).
    groups (NDArray[int64]): group of each example, such as the mentions of one concept; a split
        never divides a group, (n,).
    not_found (Tuple[float, float]): weight of the examples without any candidate, and of the known
        ones among them.
    """

    features: Features
    right: Flags
    in_kb: Flags
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
        facts_of_names: NameFacts,
    ) -> "RankedExamples":
        """Make features of rankings, which may be empty. right (Sequence[Set[int]]): rows."""
        has_candidates = np.asarray([bool(ranking) for ranking in rankings], dtype=np.bool_)
        is_in_kb = np.asarray([bool(wanted) for wanted in right], dtype=np.bool_)
        first = [
            bool(ranking) and ranking[0].row in wanted
            for ranking, wanted in zip(rankings, right, strict=True)
        ]
        return cls(
            calibrator_features(filter(None, rankings), facts_of_names),
            np.asarray(first, dtype=np.bool_)[has_candidates],
            is_in_kb[has_candidates],
            weights[has_candidates],
            np.asarray(groups, dtype=np.int64)[has_candidates],
            (
                float(weights[~has_candidates].sum()),
                float(weights[~has_candidates & is_in_kb].sum()),
            ),
        )

    @classmethod
    def together(cls, parts: "Sequence[RankedExamples]") -> "RankedExamples":
        """Join the examples of several parts."""
        *columns, nothing = zip(*parts, strict=True)
        empty, empty_in_kb = map(sum, zip(*nothing, strict=True))
        return cls._make([*map(np.concatenate, columns), (empty, empty_in_kb)])

    def part(self, chosen: Flags) -> "RankedExamples":
        """Select some of the examples."""
        return RankedExamples._make([*(column[chosen] for column in self[:-1]), (0.0, 0.0)])


def examples_of(cases: Iterable[Case], with_context: bool = False) -> list[Example]:
    """Make examples of annotated mentions; equal ones become one example.

    with_context (bool): keep their context, for a reranker.
    """
    counts: Counter[tuple[Mention, frozenset[int]]] = Counter(
        (_asked(case.mention, with_context), case.right)
        for case in cases
        if case.mention.text.strip()
    )
    return [Example(mention, right, count) for (mention, right), count in counts.items()]


def _asked(mention: Mention, with_context: bool) -> Mention:
    """Remove the identifiers of a mention: links by identifiers need no threshold."""
    left, right = (mention.left, mention.right) if with_context else ("", "")
    return mention._replace(left=left, right=right, identifiers=())


def count_concepts(examples: Iterable[Example]) -> int:
    """Count the concepts that are right for some example."""
    return len({row for example in examples for row in example.right})


class _Round(NamedTuple):
    """Examples to rank with the same names, their weights, and rows that may be right."""

    mask: Mask
    examples: list[tuple[Example, float, frozenset[int]]]


def rank_examples(
    engine: Linker,
    kb: KnowledgeBase,
    examples: Sequence[Example],
    progress: Progress = no_progress,
    gone: Sequence[int] = (),
) -> RankedExamples:
    """Rank candidates for examples, with and without the right concepts.

    gone (Sequence[int]): name rows that are always left out.
    """
    rounds = list(_rounds(engine, kb, examples, gone))
    facts_of_names = name_facts(kb, engine.name_concept)
    batches = [
        (round_.mask, round_.examples[start : start + _BATCH])
        for round_ in rounds for start in range(0, len(round_.examples), _BATCH)
    ]  # fmt: skip
    parts = [RankedExamples.of([], [], np.zeros(0), [], facts_of_names)]
    for mask, batch in progress(batches, len(batches), "asking"):
        part, weights, right = zip(*batch, strict=True)
        rankings = engine.rank([example.mention for example in part], DEPTH, mask)
        groups = list(map(_group, part))
        parts.append(
            RankedExamples.of(rankings, right, np.asarray(weights), groups, facts_of_names)
        )
    return RankedExamples.together(parts)


def parts_of(ids: Iterable[str], parts: int) -> NDArray[np.int64]:
    """Split concepts into parts by a hash of their ids: (n_concepts,)."""
    return np.fromiter((hash_key(f"nil {id}") % parts for id in ids), dtype=np.int64)


def without(engine: Linker, removed: Flags, hidden: Sequence[int] = ()) -> Mask:
    """Make the mask of the remaining names.

    removed (Flags): concepts to remove, (n_concepts,). hidden (Sequence[int]): name rows to remove.
    """
    left = ~removed[engine.name_concept]
    left[list(hidden)] = False
    return Mask.of(left)


def _rounds(
    engine: Linker,
    kb: KnowledgeBase,
    examples: Sequence[Example],
    gone: Sequence[int],
) -> Iterator[_Round]:
    """Distribute the examples over the rounds, each without a part of the concepts."""
    part_of_row = parts_of(kb.iter_ids(), _PARTS)
    parts = [_part_of(example, part_of_row) for example in examples]
    for removed_part in range(_PARTS):
        removed = part_of_row == removed_part
        shared = []
        for example, part in zip(examples, parts, strict=True):
            left = frozenset(row for row in example.right if not removed[row])
            if part == removed_part:
                # A mention that is always NIL is ranked in one part only.
                share = NIL_SHARE if example.right else 1.0
                shared.append((example, share * example.count, left))
            elif example.right and (part + 1) % _PARTS == removed_part:
                shared.append((example, (1 - NIL_SHARE) * example.count, left))
        yield _Round(without(engine, removed, gone), shared)


def _part_of(example: Example, part_of_row: NDArray[np.int64]) -> int:
    if example.right:
        return int(part_of_row[min(example.right)])
    return hash_key(example.mention.text) % _PARTS


def _group(example: Example) -> int:
    """Get the group of an example: its concept, or its text if it is NIL."""
    # Both are in 63 bits and differ, since rows of concepts are small.
    return min(example.right) if example.right else hash_key(example.mention.text) >> 1

"""What a linker says of mentions whose concept it lacks: concepts are removed, and it is asked.

Concepts are dealt into as many parts as make one the wanted share. Every mention is asked twice:
with the part of its own concept removed, when nothing can be right (NIL), and with another part
removed. The two answers count as much as the share says, so that every mention teaches both.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..linking import Linker
from ..ranking.calibrator import calibrator_features
from ..ranking.facts import name_facts
from ..retrieval.mask import Mask
from ..text.normalisation import hash_key
from ..types import Candidate, Progress
from ..util.progress import no_progress
from .examples import Example
from .trials import Flags, Trials

NIL_SHARE = 0.2
DEPTH = 5  # candidates asked for, as the linker does by default
_BATCH = 512
_LEAST_PARTS = 2


class Asked(NamedTuple):
    """What was asked, and what came of it.

    trials (Trials): of the examples that were answered at all.
    unanswered (Tuple[float, float]): weight of examples for which nothing was found; of those
        among them that could have been answered.
    """

    trials: Trials
    unanswered: tuple[float, float]

    @classmethod
    def together(cls, parts: "Sequence[Asked]") -> "Asked":
        """Unite what was asked in several parts."""
        columns = zip(*(one.trials for one in parts), strict=True)
        trials = Trials(*(np.concatenate(column) for column in columns))
        nothing, answerable = zip(*(one.unanswered for one in parts), strict=True)
        return cls(trials, (sum(nothing), sum(answerable)))


class _Round(NamedTuple):
    """Questions that are asked with the same names: with what weight, and which may be right."""

    mask: Mask
    examples: list[tuple[Example, float, frozenset[int]]]


def ask(
    engine: Linker,
    kb: KnowledgeBase,
    examples: Sequence[Example],
    nil_share: float = NIL_SHARE,
    progress: Progress = no_progress,
    gone: Sequence[int] = (),
) -> Asked:
    """Ask examples of an engine, with and without the concepts that they are about.

    nil_share (float): share of the concepts that is removed; 0 removes none, and only what the
        gold file calls NIL is. gone (Sequence[int]): name rows that are out of it all the time.
    """
    rounds = list(_rounds(engine, list(kb.iter_ids()), examples, nil_share, gone))
    facts = name_facts(kb, engine.name_concept)
    batches = [
        (one.mask, one.examples[start : start + _BATCH])
        for one in rounds for start in range(0, len(one.examples), _BATCH)
    ]  # fmt: skip
    features, rows, unanswered = [], [], [0.0, 0.0]
    for mask, batch in progress(batches, len(batches), "asking"):
        rankings = engine.rank_within([one.mention for one, _, _ in batch], DEPTH, mask)
        features.append(calibrator_features(filter(None, rankings), facts))
        for (example, weight, right), ranking in zip(batch, rankings, strict=True):
            if ranking:
                rows.append(_row(ranking, example, weight, right))
            else:
                unanswered[0] += weight
                unanswered[1] += weight if right else 0.0
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    trials = Trials(
        np.vstack(features),
        np.asarray(columns[0], np.bool_),
        np.asarray(columns[1], np.bool_),
        np.asarray(columns[2], np.float64),
        np.asarray(columns[3], np.int64),
    )
    return Asked(trials, (unanswered[0], unanswered[1]))


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
        asked = []
        for example, place in zip(examples, own, strict=True):
            left = frozenset(row for row in example.right if not removed[row])
            if place == number:
                # Of what is NIL anyway there is one answer only.
                share = nil_share if example.right and nil_share else 1.0
                asked.append((example, share * example.count, left))
            elif example.right and (place + 1) % parts == number:
                share = (1 - nil_share) * example.count
                asked.append((example, share, left))
        yield _Round(without(engine, removed, gone), asked)


def _part_of(example: Example, part: NDArray[np.int64], parts: int) -> int:
    if example.right:
        return max(0, int(part[min(example.right)]))
    return hash_key(example.mention.text) % parts


def _row(
    ranking: Sequence[Candidate], example: Example, weight: float, right: frozenset[int]
) -> tuple[bool, bool, float, int]:
    """RETURNS: right, known, weight, group: of the concept, or of the text of what is NIL."""
    # Both fit into 63 bits, and do not meet: rows of concepts are small.
    group = min(example.right) if example.right else hash_key(example.mention.text) >> 1
    return ranking[0].row in right, bool(right), weight, group

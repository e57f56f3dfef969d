"""fit_gate: finds out by examples which answers of memory and exact tier the dense one changes.

Answers of a kind pass where, with 95 % confidence, at most 3 of 1,000 such links would be others if
the dense tier were asked, too (one-sided bound of Clopper and Pearson 1934).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kb import KnowledgeBase
from ..linking import Linker
from ..linking.forms import Forms
from ..ranking.gate import ANSWERS, Gate, kind_of
from ..types import Mention

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_CHANGED = 0.003  # of the links
CONFIDENCE = 0.95
_SAMPLE = 2000  # names; of each kind of answer at most so many examples
_SEEN = 2  # concepts looked up: enough to know whether a second one has the name
_TOGETHER = 1024
_SEED = 1


def fit_gate(
    linker: Linker,
    kb: KnowledgeBase,
    conditions: Mapping[str, Any],
    gold: Sequence[Mention] = (),
) -> dict[str, Any] | None:
    """Count the links that the dense tier changes, by the kind of answer, for a manifest.

    linker (Linker): as it will link, without a gate. kb (KnowledgeBase): whose names are examples.
    conditions (Mapping): what the linker's scores depend on. gold (Sequence[Mention]): more
        examples, such as what the memory remembers.
    RETURNS (Optional[Dict]): None without an exact or a dense tier.
    """
    if linker.exact is None or linker.dense is None:
        return None
    names = [*gold, *(Mention(text) for text in _texts(kb))]
    kinds = _kinds(linker, names)
    examples = _examples(names, kinds)
    changed = _changed(linker, [names[place] for place in examples])
    counts = {kind: [0, 0] for kind in ANSWERS}
    for place, is_changed in zip(examples, changed, strict=True):
        own = counts[kinds[place]]
        own[0] += 1
        own[1] += is_changed
    return {
        "max_changed": MAX_CHANGED,
        "confidence": CONFIDENCE,
        "answers": {
            kind: {"examples": n, "changed": k, "at_most": _at_most(k, n)}
            for kind, (n, k) in counts.items()
        },
        "fitted_for": dict(conditions),
    }


def _texts(kb: KnowledgeBase) -> list[str]:
    """Draw names as they are, and written in another way that the exact tier takes for the same."""
    generator = np.random.default_rng(_SEED)
    size = min(kb.n_names, _SAMPLE)
    rows = np.sort(generator.choice(kb.n_names, size, replace=False))
    texts = kb.texts_at(rows.tolist())
    return [*texts, *(_rewritten(text, generator) for text in texts)]


def _rewritten(text: str, generator: "Generator") -> str:
    """Write a name in another way: as within a sentence, in the plural, at its beginning."""
    ways = [text.lower(), f"{text}s", text[:1].upper() + text[1:].lower(), text.replace("-", " ")]
    others = [way for way in ways if way != text]
    return others[int(generator.integers(len(others)))] if others else text


def _kinds(linker: Linker, mentions: Sequence[Mention]) -> list[str]:
    """Tell the kind of the answer that memory and exact tier give; "" for none."""
    asked: dict[str, dict[str, None]] = {}
    for one in mentions:
        asked.setdefault(one.label, {})[_form(one)] = None
    found = {
        label: linker.retrieval.rank_exact(list(forms), linker.scopes.of(label), _SEEN)
        for label, forms in asked.items()
    }
    ranked = (found[one.label][_form(one)] for one in mentions)
    return [kind_of(own) if own else "" for own in ranked]


def _form(mention: Mention) -> str:
    """Get the text of a mention as it is looked up."""
    return Forms.of(mention).text


def _examples(mentions: Sequence[Mention], kinds: Sequence[str]) -> list[int]:
    """Choose the first examples of each kind, each text once: their places."""
    chosen: dict[str, dict[tuple[str, str], int]] = {kind: {} for kind in ANSWERS}
    for place, (mention, kind) in enumerate(zip(mentions, kinds, strict=True)):
        own = chosen.get(kind)
        if own is not None and len(own) < _SAMPLE:
            own.setdefault((mention.text, mention.label), place)
    return sorted(place for own in chosen.values() for place in own.values())


def _changed(linker: Linker, mentions: Sequence[Mention]) -> Iterable[bool]:
    """Tell which links are others where all tiers are asked."""
    every = linker.using(exact_first=False)
    alone = linker.with_parts(gate=Gate(frozenset(ANSWERS))).using(exact_first=None)
    for start in range(0, len(mentions), _TOGETHER):
        own = mentions[start : start + _TOGETHER]
        for one, other in zip(alone.decide(own), every.decide(own), strict=True):
            yield (one.link.row if one.link else -1) != (other.link.row if other.link else -1)


def _at_most(changed: int, examples: int) -> float:
    """Bound the share of changed links from above."""
    from scipy.stats import beta

    if changed >= examples:
        return 1.0
    return round(float(beta.ppf(CONFIDENCE, changed + 1, examples - changed)), 6)

"""fit_gate: finds the kinds of answers of memory and exact tier that the dense tier rarely changes.

A kind of answer passes if, with 95 % confidence, the dense tier would change at most 3 of 1,000 of
its links (one-sided bound of Clopper and Pearson 1934).
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..kb import KnowledgeBase
from ..linking import Linker
from ..linking.forms import Lookup
from ..linking.gate import ANSWERS, Gate, kind_of
from ..types import Data, Facts, Mention

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_CHANGED = 0.003  # share of the links
CONFIDENCE = 0.95
_SAMPLE = 2000  # names; also most examples of each kind of answer
_SEEN = 2  # concepts to look up: a second one shows that the name is shared
_TOGETHER = 1024
_SEED = 1


def fit_gate(
    linker: Linker,
    kb: KnowledgeBase,
    conditions: Facts,
    gold: Sequence[Mention] = (),
) -> Data | None:
    """Count the links that the dense tier changes, by the kind of answer, for a manifest.

    linker (Linker): as it will link, without a gate. kb (KnowledgeBase): its names are examples.
    conditions (Mapping): what the linker's scores depend on. gold (Sequence[Mention]): more
        examples, such as mentions of the memory.
    RETURNS (Optional[Dict]): None without an exact or a dense tier.
    """
    if linker.parts.exact is None or not linker.parts.asks_vectors:
        return None
    names = [*gold, *(Mention(text) for text in _texts(kb))]
    kinds = _kinds(linker, names)
    examples = _examples(names, kinds)
    changed = _changed(linker, [names[at] for at in examples])
    counts = {kind: [0, 0] for kind in ANSWERS}
    for at, is_changed in zip(examples, changed, strict=True):
        count = counts[kinds[at]]
        count[0] += 1
        count[1] += is_changed
    return {
        "max_changed": MAX_CHANGED,
        "confidence": CONFIDENCE,
        "answers": {
            kind: {"examples": n, "changed": k, "at_most": at_most(k, n)}
            for kind, (n, k) in counts.items()
        },
        "fitted_for": dict(conditions),
    }


def _texts(kb: KnowledgeBase) -> list[str]:
    """Draw names, as they are and in another form that has the same key."""
    generator = np.random.default_rng(_SEED)
    size = min(kb.n_names, _SAMPLE)
    rows = np.sort(generator.choice(kb.n_names, size, replace=False))
    texts = kb.texts_at(rows.tolist())
    return [*texts, *(_rewritten(text, generator) for text in texts)]


def _rewritten(text: str, generator: "Generator") -> str:
    """Write a name in another form: in lower case, in the plural, or with a capital."""
    ways = [text.lower(), f"{text}s", text[:1].upper() + text[1:].lower(), text.replace("-", " ")]
    others = [way for way in ways if way != text]
    return others[int(generator.integers(len(others)))] if others else text


def _kinds(linker: Linker, mentions: Sequence[Mention]) -> list[str]:
    """Get the kinds of the answers of memory and exact tier; "" for none."""
    asked: dict[str, dict[str, None]] = {}
    for mention in mentions:
        asked.setdefault(mention.label, {})[_form(mention)] = None
    answers = {
        label: linker.retrieval.rank_exact(list(forms), linker.scope(label), _SEEN)
        for label, forms in asked.items()
    }
    ranked = (answers[mention.label][_form(mention)] for mention in mentions)
    return [kind_of(ranking) if ranking else "" for ranking in ranked]


def _form(mention: Mention) -> str:
    """Get the text of a mention as it is looked up."""
    return Lookup.of(mention).text


def _examples(mentions: Sequence[Mention], kinds: Sequence[str]) -> list[int]:
    """Select the first examples of each kind, each text once: their positions."""
    chosen: dict[str, dict[tuple[str, str], int]] = {kind: {} for kind in ANSWERS}
    for at, (mention, kind) in enumerate(zip(mentions, kinds, strict=True)):
        of_kind = chosen.get(kind)
        if of_kind is not None and len(of_kind) < _SAMPLE:
            of_kind.setdefault((mention.text, mention.label), at)
    return sorted(at for of_kind in chosen.values() for at in of_kind.values())


def _changed(linker: Linker, mentions: Sequence[Mention]) -> Iterable[bool]:
    """Tell which links change if all tiers are asked."""
    every = linker.using(exact_first=False)
    alone = linker.with_parts(gate=Gate(frozenset(ANSWERS))).using(exact_first=None)
    for start in range(0, len(mentions), _TOGETHER):
        batch = mentions[start : start + _TOGETHER]
        for gated, other in zip(alone.decide(batch), every.decide(batch), strict=True):
            yield (gated.link.row if gated.link else -1) != (other.link.row if other.link else -1)


def at_most(changed: int, examples: int) -> float:
    """Compute the upper bound of the share of changed links."""
    from scipy.stats import beta

    if changed >= examples:
        return 1.0
    return round(float(beta.ppf(CONFIDENCE, changed + 1, examples - changed)), 6)

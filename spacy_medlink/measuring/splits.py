"""Parts of a gold file that are fairer than the whole: what a system cannot know by heart."""

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..evaluation import near_references
from ..kb import KnowledgeBase
from ..kb.gold import read_gold
from ..kb.resolve import find_ids
from .gold_set import Case
from .labels import Seen, is_seen_code
from .settings import Settings

FULL = "full"


class Splits(NamedTuple):
    """Which cases each split keeps, and what the training mentions hold (None without any)."""

    keep: dict[str, list[bool]]
    seen: Seen | None


def make_splits(kb: KnowledgeBase, cases: Sequence[Case], settings: Settings) -> Splits:
    """Tell for each split which cases it keeps.

    RETURNS (Splits): "full"; for each reference, "filtered_REFERENCE" without the mentions that it
        holds, and "filtered_0.2_REFERENCE" also without those nearer than that (Alekseev et al.,
        2022, section 2.6); with training mentions "unseen_codes" (Gallego et al., 2024) too, the
        mentions of concepts that were not trained on. {} without a reference.
    """
    keep: dict[str, list[bool]] = {}
    seen = None
    texts = {case.mention.text for case in cases}
    if settings.train_file:
        strings, ids = _training(Path(settings.train_file))
        near = near_references(texts, iter(strings), settings.min_distance)
        keep.update(_filtered(near, cases, settings.min_distance, "train"))
        rows = (found.rows for found in find_ids(kb, ids).values())
        known = frozenset(text for text, exact in near.items() if exact)
        seen = Seen(known, frozenset(ids), frozenset(chain.from_iterable(rows)))
        keep["unseen_codes"] = [not is_seen_code(case, seen) for case in cases]
    if settings.by_dictionary:
        near = near_references(texts, kb.iter_texts(), settings.min_distance)
        keep.update(_filtered(near, cases, settings.min_distance, "dictionary"))
    if keep:
        keep = {FULL: [True] * len(cases), **keep}
    return Splits(keep, seen)


def _filtered(
    near: dict[str, bool], cases: Sequence[Case], distance: float, reference: str
) -> dict[str, list[bool]]:
    is_new: dict[str, Callable[[str], bool]] = {
        f"filtered_{reference}": lambda text: near.get(text) is not True,
        f"filtered_{distance:g}_{reference}": lambda text: text not in near,
    }
    return {name: [passes(case.mention.text) for case in cases] for name, passes in is_new.items()}


def _training(path: Path) -> tuple[dict[str, None], set[str]]:
    """Read the distinct mentions and gold ids of a file of training mentions."""
    texts: dict[str, None] = {}
    ids: set[str] = set()
    for document in read_gold(path):
        for mention in document.mentions:
            texts[mention.text] = None
            ids.update(mention.ids)
    return texts, ids

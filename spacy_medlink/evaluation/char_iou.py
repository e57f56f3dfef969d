"""The scorer of the SNOMED CT entity-linking challenge: intersection over union of characters.

Hardman et al. 2023, "SNOMED CT Entity Linking Challenge" (PhysioNet). A character has one concept;
of spans that overlap, the last one in the file has it.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..kb.annotated_notes import Annotation
from .outcome import Metrics


def char_iou(gold: Iterable[Annotation], predicted: Iterable[Annotation]) -> Metrics:
    """Score predicted annotations against gold ones.

    A concept's IoU is the number of characters that it has in both, by that of characters that it
    has in either.

    RETURNS (Metrics): "macro" (mean over all concepts of gold or predictions), "weighted" (mean
        weighted by the gold characters of each concept), "concepts", "gold" and "predicted"
        (counts of annotations); "macro" and "weighted" are None without any concept or gold.
    """
    wanted, made = list(gold), list(predicted)
    index_of = {
        concept: index
        for index, concept in enumerate(
            dict.fromkeys(annotation.concept_id for annotation in (*wanted, *made))
        )
    }
    both, union, support = (np.zeros(len(index_of)) for _ in range(3))
    spans = _by_note(wanted), _by_note(made)
    for note in {*spans[0], *spans[1]}:
        length = max(end for by_note in spans for _, end, _ in by_note.get(note, ()))
        right, made_at = (_characters(by_note.get(note, ()), length, index_of) for by_note in spans)
        for counts, characters in (
            (both, right[right == made_at]), (union, right), (union, made_at[right != made_at]),
            (support, right),
        ):  # fmt: skip
            counts += np.bincount(characters[characters >= 0], minlength=len(index_of))
    shown = union > 0  # a span that others cover has no character
    iou = both[shown] / union[shown]
    total = float(support.sum())
    return {
        "macro": float(iou.mean()) if len(iou) else None,
        "weighted": float((iou * support[shown]).sum() / total) if total else None,
        "concepts": int(shown.sum()),
        "gold": len(wanted),
        "predicted": len(made),
    }


def _by_note(annotations: Iterable[Annotation]) -> dict[str, list[tuple[int, int, str]]]:
    spans: dict[str, list[tuple[int, int, str]]] = {}
    for note_id, start, end, concept_id in annotations:
        spans.setdefault(note_id, []).append((start, end, concept_id))
    return spans


def _characters(
    spans: Iterable[tuple[int, int, str]], length: int, index_of: dict[str, int]
) -> NDArray[np.int64]:
    """Give each character of a note the number of its concept, -1 for none: (length,)."""
    characters = np.full(length, -1, dtype=np.int64)
    for start, end, concept in spans:
        characters[start:end] = index_of[concept]
    return characters

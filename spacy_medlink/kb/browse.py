"""Browsing a knowledge base: search by name, and everything known about a concept."""

import heapq
import string
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..errors import Errors, MedlinkError
from ..text.normalisation import key
from ..types import ISA, Concept, Retired
from .knowledge_base import KnowledgeBase


class Found(NamedTuple):
    """A concept, the name that matched, and how.

    how (str): "exact", case, accents and plural aside; "part" of the name; or "near" it, where it
        is misspelled.
    """

    id: str
    name: str
    matched: str
    how: str


def search_concepts(kb: KnowledgeBase, text: str, limit: int = 20) -> list[Found]:
    """Find concepts by name.

    RETURNS (List[Found]): exact matches, then names that begin with the text, then others; where
        there are none, names that are a few letters away.
    """
    found: dict[str, Found] = {}
    for concept in kb.find(text):
        names = [name.text for name in concept.names if key(name.text) == key(text)]
        matched = text if text in names else names[0] if names else concept.name
        found[concept.id] = Found(concept.id, concept.name, matched, "exact")
    if len(found) < limit:
        for concept, name in kb.search(text.strip(), limit):
            found.setdefault(concept.id, Found(concept.id, concept.name, name.text, "part"))
    if not found:
        near = near_names(kb, text, limit)
        return [Found(one.concept.id, one.concept.name, one.name, "near") for one in near]
    return list(found.values())[:limit]


def describe_concept(kb: KnowledgeBase, id: str) -> dict[str, Any]:
    """Read everything known about a concept.

    RETURNS (Dict[str, Any]): "id", "retired" (the steps from a retired id to its successor, each
        with "id", "replaced_by", "reason"), "name", "names" (with language, source, term type),
        "types", "definition", "codes", "maps" (codes with a "relation", "source" or "note"),
        "parents", "children", "ancestors" (id, name, levels up) and "relations" (id, name,
        relation, source, and "inverse": True where the other concept is the subject; from the
        hierarchy only the relations to parents).
    RAISES (MedlinkError): E106 when there is no such concept, E640 when it is retired and the
        knowledge base has no successor.
    """
    steps = kb.history(id)
    found = steps[-1].replaced_by if steps else id
    if found not in kb:
        raise _missing(kb, id, steps)
    concept = kb[found]
    return {
        "id": concept.id,
        "retired": [step._asdict() for step in steps],
        "name": concept.name,
        "types": list(concept.types),
        "definition": concept.definition,
        "codes": {name: list(codes) for name, codes in concept.codes.items()},
        "maps": [one._asdict() for one in kb.maps(concept.id) if any(one[2:])],
        "names": [name._asdict() for name in concept.names],
        "parents": [_named(kb, parent) for parent in concept.parents],
        "children": [_named(kb, child) for child in kb.children(concept.id)],
        "ancestors": [
            {**_named(kb, ancestor), "levels": levels}
            for ancestor, levels in kb.ancestors(concept.id).items()
        ],
        "relations": [
            {**_named(kb, one.id), **one._asdict()}
            for inverse in (False, True)
            for one in kb.relations(concept.id, inverse=inverse)
            if not (inverse and one.relation == ISA)
        ],
    }


def say_step(step: Retired) -> str:
    """Say what became of a retired id."""
    why = f" ({step.reason})" if step.reason else ""
    return f"{step.id} is retired{why}, " + (
        f"replaced by {step.replaced_by}" if step.replaced_by else "and nothing replaces it"
    )


def _missing(kb: KnowledgeBase, id: str, steps: Sequence[Retired]) -> MedlinkError:
    if not steps:
        return Errors.unknown_concept(path=kb.path, id=id)
    fate = "; ".join(map(say_step, steps))
    if steps[-1].replaced_by:
        fate += ", which this knowledge base does not have"
    return Errors.retired_for_good(path=kb.path, fate=fate)


def _named(kb: KnowledgeBase, id: str) -> dict[str, Any]:
    # The filters may have left a parent out.
    return {"id": id, "name": kb[id].name if id in kb else ""}


_SCANNED = 1_000_000  # names that are compared one by one, in about two seconds
_LIKE = 80.0  # the least similarity, of 100 (insertions and deletions by length)
_LONGEST = 200  # characters of a text that may be a misspelled name


class Near(NamedTuple):
    """A concept and the one of its names that is most similar to a text."""

    concept: Concept
    name: str


def near_names(kb: KnowledgeBase, text: str, limit: int = 20) -> list[Near]:
    """Find names that differ from a text in a few letters, the most similar first.

    In a large knowledge base, comparing all names would take too long. There, only names that are
    one edit away are found: one letter added, deleted or replaced, or two neighbours swapped.

    limit (int): the greatest number of concepts.
    """
    text = text.strip()
    if not 3 <= len(text) <= _LONGEST:
        return []
    best: dict[str, Near] = {}  # by concept
    for one in _scan(kb, text, limit) if kb.n_names <= _SCANNED else _look_up(kb, text):
        best.setdefault(one.concept.id, one)
    return list(best.values())[:limit]


def one_edit_away(text: str) -> set[str]:
    """List the texts that are one edit away, with the text's own letters and with Latin ones."""
    letters = {*string.ascii_lowercase, *text, " "}
    halves = [(text[:place], text[place:]) for place in range(len(text) + 1)]
    return {
        *(left + right[1:] for left, right in halves if right),
        *(left + right[1] + right[0] + right[2:] for left, right in halves if len(right) > 1),
        *(left + letter + right[1:] for left, right in halves if right for letter in letters),
        *(left + letter + right for left, right in halves for letter in letters),
    } - {text}


def _scan(kb: KnowledgeBase, text: str, limit: int) -> Iterator[Near]:
    from rapidfuzz import fuzz, process, utils

    like = process.extract_iter(
        text, kb.iter_texts(), scorer=fuzz.ratio, processor=utils.default_process,
        score_cutoff=_LIKE,
    )  # fmt: skip
    # A concept may have several such names, so more names than concepts are asked for.
    best = heapq.nsmallest(
        10 * limit, ((-score, len(name), row, name) for name, score, row in like)
    )
    concepts = kb.name_concepts() if best else ()
    return (Near(kb.concept_at(int(concepts[row])), name) for _, _, row, name in best)


def _look_up(kb: KnowledgeBase, text: str) -> Iterator[Near]:
    for variant in sorted(one_edit_away(key(text))):
        for concept in kb.find(variant):
            names = [name.text for name in concept.names if key(name.text) == variant]
            yield Near(concept, names[0] if names else concept.name)

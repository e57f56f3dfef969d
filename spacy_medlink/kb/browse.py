"""Looking around in a knowledge base: search by name, and all that is known of a concept."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import Errors, MedlinkError
from ..text.normalisation import key
from ..types import ISA, Retired
from .knowledge_base import KnowledgeBase
from .near import near_names


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
    """Read all that is known of a concept.

    RETURNS (Dict[str, Any]): "id", "retired" (of a retired id what became of it, step by step, each
        with "id", "replaced_by", "reason"), "name", "names" (with language, source, term type),
        "types", "definition", "codes", "maps" (codes of which more is said: "relation", "source",
        "note"), "parents", "children", "ancestors" (id, name, levels up) and "relations" (id, name,
        relation, source, and whether it is what the other one is to the concept, "inverse"; of the
        hierarchy only those to parents).
    RAISES (MedlinkError): E106 when there is no such concept, E640 when it is retired and the
        knowledge base has nothing that replaces it.
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
    # A parent may be outside of what the filters kept.
    return {"id": id, "name": kb[id].name if id in kb else ""}

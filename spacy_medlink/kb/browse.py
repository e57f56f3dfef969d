"""What people ask of a knowledge base: names, concepts, whether it is whole."""

import heapq
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from rapidfuzz import fuzz, process, utils

from ..errors import Errors
from ..text.normalisation import key
from ..types import ISA, Concept, Retired
from .knowledge_base import KnowledgeBase
from .resolve import IdResolver, has_code

_LIKE = 80.0  # the least similarity, of 100 (insertions and deletions by length)
_LONGEST = 200  # characters of a text that may be a misspelled name
_CODE = re.compile(r"(?=.*\d)\S{2,64}")  # may be an id or a code
_BEGUN = 256  # names with the beginnings of words, of which the best are shown
_LONGEST, _MOST_WORDS = 5000, 32  # characters and words of a text with which all names are compared

Beginning = Callable[[str, int], Sequence[tuple[int, int]]]
"""Gives (name row, concept row) of at most so many names whose words begin as those of a text."""
# Each query with what it counts. All counts must be 0.
_MUST_BE_NONE = (
    ("SELECT count(*) FROM name LEFT JOIN concept ON concept.row = name.concept"
     " WHERE concept.row IS NULL OR name.row < first_name OR name.row >= first_name + n_names",
     "names without their concept"),
    ("SELECT count(*) FROM lookup LEFT JOIN name ON name.row = lookup.name"
     " WHERE name.row IS NULL", "entries of the exact tier without a name"),
    ("SELECT count(*) FROM edge LEFT JOIN concept AS above ON above.row = edge.parent"
     " LEFT JOIN concept AS below ON below.row = edge.child"
     " WHERE above.row IS NULL OR below.row IS NULL", "steps of the hierarchy that lead nowhere"),
    ("SELECT count(*) FROM relation LEFT JOIN concept AS one ON one.row = subject"
     " LEFT JOIN concept AS other ON other.row = object LEFT JOIN label ON label.row = relation"
     " WHERE one.row IS NULL OR other.row IS NULL OR label.row IS NULL",
     "relations that lead nowhere"),
    ("SELECT count(*) FROM map LEFT JOIN concept ON concept.row = map.concept"
     " WHERE concept.row IS NULL", "maps of no concept"),
    ("SELECT abs(count(*) - (SELECT length(edges) / 8 FROM hierarchy)) FROM edge",
     "steps of the hierarchy that its array has not, or alone has"),
)  # fmt: skip


class SearchHit(NamedTuple):
    """A concept, the name that matched, and how.

    how (str): "exact", case, accents and plural aside; "part" of the name; "near" it, where it is
        misspelled; or "code", where an id or a code begins with the text.
    """

    id: str
    name: str
    matched: str
    how: str


def search_concepts(
    kb: KnowledgeBase, text: str, limit: int = 20, beginning: Beginning | None = None
) -> list[SearchHit]:
    """Find concepts by id, name or code.

    beginning (Optional[Beginning]): finds names by an index; without it all names are read.
    RETURNS (List[SearchHit]): the concept of an id, exact names, then names that begin with the
        text, then others with its words; where there are none, ids and codes that begin with it,
        or else names that are a few letters away.
    """
    hits: dict[str, SearchHit] = {}
    for concept in kb.find(text):
        names = [name.text for name in concept.names if key(name.text) == key(text)]
        matched = text if text in names else names[0] if names else concept.name
        hits[concept.id] = SearchHit(concept.id, concept.name, matched, "exact")
    if (id := text.strip()) in kb:
        hits = {id: SearchHit(id, kb[id].name, kb[id].name, "exact")} | hits
    if len(hits) < limit:
        rows = (beginning or partial(_names_with, kb))(text, _BEGUN)
        for hit in _begun(kb, text, rows, limit):
            hits.setdefault(hit.id, hit)
    if not hits and _CODE.fullmatch(id):
        coded = kb.briefs_at(kb.search_codes(id, limit))
        hits = {concept: SearchHit(concept, name, name, "code") for concept, name, _ in coded}
    near = () if hits or beginning is not None else near_names(kb, text, limit)
    return [
        *list(hits.values())[:limit],
        *(SearchHit(concept.id, concept.name, name, "near") for concept, name in near),
    ]


def _begun(
    kb: KnowledgeBase, text: str, rows: Sequence[tuple[int, int]], limit: int
) -> Iterator[SearchHit]:
    """Make hits of names, one a concept: those that begin with a text first, then short ones.

    rows (Sequence[Tuple[int, int]]): of names and of their concepts.
    """
    wanted = text.strip().casefold()
    texts = kb.texts_at([name for name, _ in rows])
    ordered = sorted(
        (not name.casefold().startswith(wanted), len(name), name, concept)
        for name, (_, concept) in zip(texts, rows, strict=True)
    )
    matched = {concept: name for *_, name, concept in reversed(ordered)}
    best = list(dict.fromkeys(concept for *_, concept in ordered))[:limit]
    for concept, (id, name, _) in zip(best, kb.briefs_at(best), strict=True):
        words, how = matched[concept].casefold(), "part"
        if not all(word in words for word in wanted.split()):
            how = "near"
        yield SearchHit(id, name, matched[concept], how)


def _names_with(kb: KnowledgeBase, text: str, most: int) -> list[tuple[int, int]]:
    """Find names that have all words of a text by reading all: (name row, concept row)."""
    wanted = text.strip().casefold()
    words = dict.fromkeys(wanted.split())
    if not words or len(text) > _LONGEST or len(words) > _MOST_WORDS:
        return []
    best = heapq.nsmallest(
        most,
        (
            (not name.startswith(wanted), len(name), row)
            for row, name in enumerate(map(str.casefold, kb.iter_texts()))
            if all(word in name for word in words)
        ),
    )
    concepts = kb.name_concepts() if best else ()
    return [(row, int(concepts[row])) for *_, row in best]


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
    id_in_use = steps[-1].replaced_by if steps else id
    if id_in_use not in kb:
        if not steps:
            raise Errors.unknown_concept(path=kb.path, id=id)
        absent = ", which this knowledge base does not have" if id_in_use else ""
        raise Errors.retired_for_good(path=kb.path, fate="; ".join(map(say_step, steps)) + absent)
    concept = kb[id_in_use]
    relations = kb.relations(concept.id) + [
        relation for relation in kb.relations(concept.id, inverse=True) if relation.relation != ISA
    ]
    return {
        "id": concept.id,
        "retired": [step._asdict() for step in steps],
        "name": concept.name,
        "types": list(concept.types),
        "definition": concept.definition,
        "codes": {vocabulary: list(codes) for vocabulary, codes in concept.codes.items()},
        "maps": [code._asdict() for code in kb.maps(concept.id) if any(code[2:])],
        "names": [name._asdict() for name in concept.names],
        "parents": [_named(kb, parent) for parent in concept.parents],
        "children": [_named(kb, child) for child in kb.children(concept.id)],
        "ancestors": [
            {**_named(kb, ancestor), "levels": levels}
            for ancestor, levels in kb.ancestors(concept.id).items()
        ],
        "relations": [{**_named(kb, other.id), **other._asdict()} for other in relations],
    }


def resolve_code(
    kb: KnowledgeBase, resolver: IdResolver, code: str
) -> tuple[list[str], dict[str, str]]:
    """Find the concepts that have this very id or code, and say whether it is in use.

    RETURNS (Tuple[List[str], Dict[str, str]]): their ids, and "asked", "status" ("current", "code",
        "replaced", "retired" or "unknown") and, where there are none, the "reason".
    """
    steps = kb.history(code)
    ids = [code] if steps or code in kb else [
        concept.id
        for concept in map(kb.concept_at, sorted(resolver.rows(code)))
        if has_code(concept, code)
    ]  # fmt: skip
    if steps and steps[-1].replaced_by not in kb:
        reason = "; ".join(map(say_step, steps))
        return [], {"asked": code, "status": "retired", "reason": reason}
    if not ids:
        reason = "no concept of this terminology has this id or code"
        return [], {"asked": code, "status": "unknown", "reason": reason}
    status = "code" if code not in ids else "current" if code in kb else "replaced"
    return ids, {"asked": code, "status": status}


def say_step(step: Retired) -> str:
    """Say what became of a retired id."""
    why = f" ({step.reason})" if step.reason else ""
    return f"{step.id} is retired{why}, " + (
        f"replaced by {step.replaced_by}" if step.replaced_by else "and nothing replaces it"
    )


def _named(kb: KnowledgeBase, id: str) -> dict[str, object]:
    # The filters may have left a parent out.
    return {"id": id, "name": kb[id].name if id in kb else ""}


def near_names(kb: KnowledgeBase, text: str, limit: int = 20) -> list[tuple[Concept, str]]:
    """Find names that differ from a text in a few letters, the most similar first.

    All names are compared, a million in about two seconds.
    limit (int): the greatest number of concepts.
    RETURNS (List[Tuple[Concept, str]]): each concept with the one of its names that is nearest.
    """
    text = text.strip()
    if not 3 <= len(text) <= _LONGEST:
        return []
    like = process.extract_iter(
        text,
        kb.iter_texts(),
        scorer=fuzz.token_sort_ratio if " " in text else fuzz.ratio,
        processor=utils.default_process,
        score_cutoff=_LIKE,
    )
    # A concept may have several such names, so more names than concepts are asked for.
    best = heapq.nsmallest(
        10 * limit, ((-score, len(name), row, name) for name, score, row in like)
    )
    concepts, nearest = kb.name_concepts() if best else (), dict[int, str]()
    for _, _, row, name in best:
        nearest.setdefault(int(concepts[row]), name)
    return [(kb.concept_at(row), name) for row, name in list(nearest.items())[:limit]]


def verify(kb: KnowledgeBase) -> None:
    """Read the whole file and check it; takes minutes for the largest terminologies.

    RAISES (MedlinkError): E102 with what is wrong.
    """
    if problem := _problem(kb):
        raise Errors.kb_damaged(path=kb.path, reason=problem)


def _problem(kb: KnowledgeBase) -> str:
    db = kb.connection
    (state,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    if state != "ok":
        return str(state)
    for table, expected in (("concept", len(kb)), ("name", kb.n_names)):
        count, first, last = db.execute(
            f"SELECT count(*), coalesce(min(row), 0), coalesce(max(row), -1) FROM {table}"
        ).fetchone()
        if (count, first, last) != (expected, 0, expected - 1):
            return f"{count} rows in the table {table}, {expected} expected"
    for query, what in _MUST_BE_NONE:
        (count,) = db.execute(query).fetchone()
        if count:
            return f"{count} {what}"
    return ""

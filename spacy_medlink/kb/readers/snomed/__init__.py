"""SNOMED CT, from the RF2 snapshot of any edition or extension.

All tables are walked through together, concept by concept.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ....errors import Errors, Warnings
from ....types import ISA, BadLines, CodeMap, Concept, Name, Record, Relation, Retired
from ....util.telling import tell
from ...icd_codes import dotted
from ...scratch import Groups, SqlRow, scratch
from ...vocabularies import by_vocabulary
from ..archives import unpacked
from .store import (
    ASSOCIATIONS,
    DEFINITION,
    DIALECTS,
    FILES,
    FSN,
    TABLES,
    Store,
    find_files,
    release_of,
    unread_refsets,
)

__all__ = ["read", "release_of"]

_TAG = re.compile(r"(.*\S)\s*\(([^()]+)\)")
_UNRANKED = 1 << 30
_IS_A = 116680003
_DESCRIPTIONS = (
    f"SELECT concept, place, active, lang, kind, term, coalesce(rank, {_UNRANKED})"
    " FROM description LEFT JOIN preferred ON preferred.description = description.id"
    " ORDER BY concept, description.id"
)
_RELATIONSHIPS = (
    "SELECT source, place, type, destination FROM relationship WHERE active = 1"
    " ORDER BY source, type, destination"
)
_TYPES = (
    "SELECT concept, term FROM description WHERE active = 1 AND kind = ? AND concept IN"
    " (SELECT DISTINCT type FROM relationship) ORDER BY lang != 'en', id"
)
_MAPS = (
    "SELECT concept, place, vocabulary, target, relation, advice FROM map JOIN called"
    " ON called.refset = map.refset WHERE active = 1 AND target != ''"
    " ORDER BY concept, vocabulary, part, priority, place"
)
_ASSOCIATIONS = (
    "SELECT concept, place, kind, target FROM association WHERE active = 1"
    " ORDER BY concept, kind, time DESC, target"
)
_TIES = tuple(ASSOCIATIONS.values())
# "Same as" and "replaced by" name the successor. Of the weaker associations up to this one, a
# single target counts as the successor. The other associations name concepts of another meaning.
_SURE, _LOOSE = 2, 5


def read(
    path: Path,
    bad_lines: BadLines = None,
    *,
    language: str = "en",
    language_refsets: Sequence[str] = (),
    dialect: str = "",
    source: str = "SNOMEDCT",
) -> Iterator[Record]:
    """Stream the active concepts of an RF2 snapshot, and the inactive ones as retired ids.

    All languages of the release are read. A language reference set decides the preferred name. The
    semantic tag of the fully specified name ("disorder") is the type. Inactive descriptions are
    obsolete names. Targets of maps are codes, with correlation and advice, in the order of
    priorities; a map's vocabulary is known by its id or its name. Relationships become relations,
    named after their type ("finding_site", "isa"). A retired concept is replaced by its "same as"
    or "replaced by", or by its only possible equivalent. Of several packages, the latest version
    of each component and of each member of a reference set counts.

    path (Path): directory or zip archive of a release, or a directory of an edition and its
        extensions together.
    language (str): the language of preferred name and definition, where there is a choice.
    language_refsets (Sequence[str]): ids of the reference sets that count first; the American and
        the British ones follow.
    dialect (str): one of DIALECTS, or the id of a language reference set: it counts first, and
        gives the language.
    source (str): vocabulary of the names.
    RAISES (MedlinkError): E108 for a dialect that the release does not have; E160 when files are
        missing; E105 for a bad line, unless `bad_lines`
        collects it.
    """
    if dialect and not (refset := _refset_of(dialect)):
        known = ", ".join((*DIALECTS, "the id of a language reference set"))
        raise Errors.unknown_choice(what="dialect", value=dialect, known=known)
    refsets = (refset, *language_refsets) if dialect else language_refsets
    with unpacked(path, FILES) as directory, scratch(TABLES) as db:
        files = find_files(directory)
        if unread := unread_refsets(directory, files):
            tell(Warnings.unread_refsets.format(path=path, files=", ".join(unread)))
        store = Store(db, refsets, bad_lines)
        store.load(files)
        yield from _records(store, store.language_of(dialect) if dialect else language, source)


def _refset_of(dialect: str) -> str:
    """Find the language reference set of a dialect, "" for an unknown one; its id stays."""
    if dialect.isdecimal():
        return dialect
    plain = dialect.replace("_", "-").lower()
    return next((refset for name, refset in DIALECTS.items() if name.lower() == plain), "")


def _records(store: Store, language: str, source: str) -> Iterator[Record]:
    tables = [
        Groups(store.db.execute(query), partial(_stray, store, what))
        for query, what in (
            (_DESCRIPTIONS, "a description"), (_RELATIONSHIPS, "a relationship"),
            (_MAPS, "a map"), (_ASSOCIATIONS, "a historical association"),
        )
    ]  # fmt: skip
    called = _relation_names(store)
    concepts = store.db.execute("SELECT id, active, place FROM concept ORDER BY id")
    for id, active, line in concepts:
        # Before what it says, each row has the concept and the place of its line.
        described, related, mapped, tied = ([row[2:] for row in table.take(id)] for table in tables)
        mapped = [(name, dotted(name, target), *rest) for name, target, *rest in mapped]
        if not active:
            yield _retired(str(id), tied)
            continue
        concept = _named(str(id), described, language, source)
        if concept is None:
            store.report(line, f"the concept {id} without any name", "a description for it")
            continue
        yield replace(
            concept,
            codes=by_vocabulary(row[:2] for row in mapped),
            parents=tuple(dict.fromkeys(str(other) for type, other in related if type == _IS_A)),
            relations=tuple(
                Relation(called.get(type, str(type)), str(other), source)
                for type, other in dict.fromkeys(related)
            ),
            maps=tuple(
                CodeMap(vocabulary, target, relation, source, advice)
                for vocabulary, target, relation, advice in mapped
                if relation or advice
            ),
        )
    for table in tables:
        table.finish()


def _relation_names(store: Store) -> dict[int, str]:
    """Map relationship types to their names, spelled as in the UMLS: "finding_site"."""
    names: dict[int, str] = {}
    for type, term in store.db.execute(_TYPES, (FSN,)):
        tag = _TAG.fullmatch(term)
        names.setdefault(type, "_".join((tag[1] if tag else term).lower().split()))
    return {**names, _IS_A: ISA}


def _stray(store: Store, what: str, row: SqlRow) -> None:
    problem = f"{what} of {row[0]}, which is in no concept file"
    store.report(row[1], problem, "concepts of the edition and all that it builds on")


def _named(id: str, rows: list[SqlRow], language: str, source: str) -> Concept | None:
    names: list[tuple[Name, int]] = []
    tags: list[tuple[bool, bool, str]] = []
    definitions: list[tuple[bool, bool, str]] = []
    for active, lang, description_type, term, rank in rows:
        if description_type == DEFINITION:
            if active:
                definitions.append((lang != language, lang != "en", term))
            continue
        tty = "FSN" if description_type == FSN else "PT" if rank < _UNRANKED else "SY"
        names.append((Name(term, lang, source, tty, not active), rank))
        if description_type == FSN and (tag := _TAG.fullmatch(term)):
            tags.append((not active, lang != "en", tag[2]))
    if not names:
        return None
    names += _bare(names)
    names.sort(key=lambda entry: _order(entry[0], entry[1], language))
    return Concept(
        id,
        names[0][0].text,
        tuple(name for name, _ in names),
        types=(min(tags)[2],) if tags else (),
        definition=min(definitions)[2] if definitions else "",
    )


def _bare(names: list[tuple[Name, int]]) -> list[tuple[Name, int]]:
    """Make preferred names for languages without one: fully specified ones without their tag."""
    served = {name.lang for name, _ in names if name.tty == "PT" and not name.obsolete}
    return [
        (name._replace(text=tag[1], tty="PT"), rank)
        for name, rank in names
        if name.tty == "FSN" and not name.obsolete and name.lang not in served
        and (tag := _TAG.fullmatch(name.text))
    ]  # fmt: skip


def _order(name: Name, rank: int, language: str) -> tuple[bool, bool, str, int, int]:
    """Make the sort key of a name: the best preferred name is the least.

    It also orders the names of each language, so that after any filter the first name is the best.
    """
    order_of_type = {"PT": 0, "FSN": 1, "SY": 2}[name.tty]
    return name.obsolete, name.lang != language, name.lang, order_of_type, rank


def _retired(id: str, ties: list[SqlRow]) -> Retired:
    if not ties:
        return Retired(id, "", "inactive")
    association = ties[0][0]
    targets = list(dict.fromkeys(str(target) for each, target in ties if each == association))
    sure = association < _SURE or (association < _LOOSE and len(targets) == 1)
    return Retired(id, targets[0] if sure else "", f"{_TIES[association]} {', '.join(targets)}")

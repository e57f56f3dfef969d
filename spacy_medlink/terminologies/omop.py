"""OMOP: the vocabularies of a download from Athena, with tabs in spite of their `.csv`.

What other programs export again may have commas, and cells quoted by RFC 4180.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from zipfile import is_zipfile

from ..errors import Errors, MedlinkError
from ..kb.readers.archives import unpacked
from ..kb.readers.fields import FieldError, cell, identifier, sound, surface
from ..kb.readers.lines import report
from ..kb.readers.rows import read_rows
from ..kb.scratch import Groups, scratch
from ..kb.vocabularies import by_vocabulary
from ..types import ISA, BadLines, Concept, Name, Record, Relation, Retired

_COLUMNS = {
    "concept": "concept_id concept_name domain_id vocabulary_id concept_class_id standard_concept"
    " concept_code invalid_reason",
    "concept_synonym": "concept_id concept_synonym_name language_concept_id",
    "concept_relationship": "concept_id_1 concept_id_2 relationship_id invalid_reason",
    "vocabulary": "vocabulary_id vocabulary_version",
}
_LANGUAGES = {
    "4180186": "en", "4182511": "es", "4180190": "fr", "4182504": "de", "4182507": "it",
    "4182503": "nl", "4181536": "pt",
}  # fmt: skip
_STANDARD = ("s", "standard")  # the second in what Athena's search exports
_KEPT, _OTHER, _INVALID = range(3)  # what becomes a concept, what is no longer valid
_MAPS_TO, _REPLACED_BY, _IS_A = range(3)
_KINDS = {"Maps to": _MAPS_TO, "Concept replaced by": _REPLACED_BY, "Is a": _IS_A}
# The same relationships from the other side.
_INVERSE = frozenset({"Mapped from", "Concept replaces", "Subsumes"})
_TABLES = """
CREATE TABLE concept (
    id INTEGER PRIMARY KEY, name TEXT, domain TEXT, vocabulary TEXT, class TEXT, state INTEGER,
    code TEXT
);
CREATE TABLE synonym (concept INTEGER, text TEXT, lang TEXT);
CREATE TABLE relation (concept INTEGER, kind INTEGER, other INTEGER);
CREATE TABLE map (source INTEGER, target INTEGER, PRIMARY KEY (source, target)) WITHOUT ROWID;
CREATE TABLE sole (source INTEGER PRIMARY KEY, target INTEGER);
"""
_PREPARE = f"""
CREATE INDEX replaced ON relation (concept, other) WHERE kind = {_REPLACED_BY};
INSERT OR IGNORE INTO map SELECT own.id, target.id FROM relation
    CROSS JOIN concept AS own ON own.id = relation.concept AND own.state != {_KEPT}
    CROSS JOIN concept AS target ON target.id = relation.other AND target.state = {_KEPT}
    WHERE kind = {_MAPS_TO};
INSERT INTO sole SELECT source, target FROM map GROUP BY source HAVING count(*) = 1;
"""
_CONCEPTS = (
    "SELECT id, name, domain, vocabulary, class, code FROM concept"
    f" WHERE state = {_KEPT} ORDER BY id"
)
_OMOP = "OMOP"  # the vocabulary of the ids, and the source of facts without another source
_OWN, _MAPPED = "SY", "MAPPED"
_NAMES = f"""
SELECT id, text, lang, vocabulary, '{_OWN}', 0, 0 AS place, synonym.rowid AS line FROM synonym
    CROSS JOIN concept ON id = concept WHERE state = {_KEPT}
UNION ALL SELECT target, name, :lang, vocabulary, '{_MAPPED}', state = {_INVALID}, source, 0
    FROM sole CROSS JOIN concept ON id = source
UNION ALL SELECT target, text, lang, vocabulary, '{_MAPPED}', state = {_INVALID}, source,
    synonym.rowid FROM synonym CROSS JOIN sole ON source = synonym.concept
    CROSS JOIN concept ON id = source
ORDER BY 1, place, line
"""
_CODES = (
    "SELECT target, vocabulary, code FROM map CROSS JOIN concept ON id = source"
    " ORDER BY target, state, vocabulary, code"
)
_RELATED = (
    "SELECT DISTINCT own.id, kind, other.id, own.vocabulary = other.vocabulary FROM relation"
    f" CROSS JOIN concept AS own ON own.id = relation.concept AND own.state = {_KEPT}"
    f" CROSS JOIN concept AS other ON other.id = relation.other AND other.state = {_KEPT}"
    " ORDER BY own.id, kind, other.id"
)
_GONE = (
    "SELECT id, state = ?, (SELECT min(other) FROM relation WHERE concept = id"
    f" AND kind = {_REPLACED_BY}), (SELECT group_concat(target, ', ') FROM map WHERE source = id)"
    f" FROM concept WHERE state != {_KEPT} ORDER BY id"
)
_WANTED = r"(?i)(?:concept|concept_synonym|concept_relationship|vocabulary)\.csv(?:\.gz)?"
_Select = Callable[[tuple[str, ...]], tuple[object, ...] | None]


def read(
    path: Path, bad_lines: BadLines = None, *, lang: str = "en", standard: bool = True
) -> Iterator[Record]:
    """Stream the standard concepts of a download, and the other ids as retired ones.

    Types are the domain and the concept class. Codes are the id ("OMOP"), the concept's code, and
    the codes of all concepts that map to it, by `vocabulary_id`. "Is a" leads to parents; other
    relationships become relations, named as in "has_finding_site". A concept that maps only to this
    standard concept adds its names, with its vocabulary as source, the term type "MAPPED", and
    obsolete if the concept is invalid. Its id is retired and leads to the standard concept; the id
    of an invalid concept leads to the concept that replaces it. Rows about concepts that are not in
    CONCEPT.csv, and rows that repeat an id, are skipped.

    path (Path): directory, or zip archive, with CONCEPT.csv, or that file; CONCEPT_SYNONYM.csv,
        CONCEPT_RELATIONSHIP.csv and VOCABULARY.csv beside it are optional; each may be `.gz`.
    lang (str): language of the concepts' names; synonyms have their own.
    standard (bool): False makes every valid concept a concept here, whether standard or not, as
        those of classifications (ATC, MedDRA) are not.
    RAISES (MedlinkError): E160 for another directory or header; E105 for a bad line, unless
        `bad_lines` collects it.
    """
    with unpacked(path, _WANTED) as directory, scratch(_TABLES) as db:
        files = _files(directory)
        kinds = _load(db, files, standard, bad_lines)
        db.executescript(_PREPARE)
        yield from _concepts(
            db, lang, ["_".join(relationship.lower().split()) for relationship in kinds]
        )
        for id, invalid, heir, targets in db.execute(_GONE, (_INVALID,)):
            yield from _retired(str(id), invalid, heir, targets)


def release_of(path: Path) -> str:
    """Read the version of the vocabularies from VOCABULARY.csv, such as "v5.0 30-AUG-24"."""
    with unpacked(path, r"(?i)(?:vocabulary|concept)\.csv") as directory:
        file = _files(directory).get("vocabulary")
        rows = _rows(file, "vocabulary", []) if file else ()
        return next((version.strip() for _, (id, version) in rows if id == "None"), "")


def files_of(path: Path) -> list[Path]:
    """List the files that are read; a download has more."""
    is_archive = path.is_file() and is_zipfile(path)
    return [path] if is_archive else sorted(_files(path).values())


def _files(path: Path) -> dict[str, Path]:
    """Find the files by their names, in upper or lower case.

    RAISES (MedlinkError): E160 without CONCEPT.csv.
    """
    path = path.parent if path.is_file() else path
    files = sorted(path.iterdir()) if path.is_dir() else []
    if len(files) == 1 and files[0].is_dir():  # as some archives unpack
        files = sorted(files[0].iterdir())
    names = {file.name.lower().removesuffix(".gz").removesuffix(".csv"): file for file in files}
    if "concept" not in names:
        problem = "it has no CONCEPT.csv" if path.is_dir() else "it is not a directory"
        raise _incomplete(path, problem)
    return {name: names[name] for name in _COLUMNS if name in names}


def _incomplete(path: Path, problem: str) -> MedlinkError:
    expected = "the directory of an unpacked download from Athena, the one of CONCEPT.csv"
    what = "a directory with an OMOP vocabulary"
    return Errors.wrong_file(path=path, what=what, problem=problem, expected=expected)


def _rows(file: Path, name: str, bad_lines: BadLines) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Stream (line, cells of the columns that are needed) of a file."""
    rows = read_rows(file, bad_lines)
    header = [cell.strip().lower() for cell in next(rows, (0, [""]))[1]]
    columns = _COLUMNS[name].split()
    missing = next((column for column in columns if column not in header), "")
    if missing:
        problem = f"the first line, with tabs or commas between columns, has no {missing}"
        raise _incomplete(file, problem)
    pick: Callable[[list[str]], tuple[str, ...]] = itemgetter(*map(header.index, columns))
    for line, cells in rows:
        if len(cells) == len(header):
            yield line, pick(cells)
        else:
            report(file, line, f"{len(cells)} columns", f"{len(header)} as in line 1", bad_lines)


def _load(
    db: sqlite3.Connection, files: dict[str, Path], standard: bool, bad_lines: BadLines
) -> Iterable[str]:
    """Fill the tables; return the kinds of relationships in the order of their numbers."""
    kinds = dict(_KINDS)

    def relation(cells: tuple[str, ...]) -> tuple[object, ...] | None:
        subject, other, relationship, invalid = map(cell, cells)
        if not _is_valid(invalid) or relationship in _INVERSE or subject == other:
            return None
        if relationship not in kinds:
            kinds[identifier(relationship, "relationship_id")] = len(kinds)
        return _number(subject), kinds[relationship], _number(other)

    def concept(cells: tuple[str, ...]) -> tuple[object, ...]:
        text, name, domain, vocabulary, concept_class, flag, code, invalid = cells
        id = _number(text)  # 0 is "No matching concept"
        is_standard = cell(flag).lower() in _STANDARD
        state = _KEPT if id and (is_standard or not standard) else _OTHER
        state = state if _is_valid(invalid) else _INVALID
        vocabulary, code = identifier(vocabulary, "vocabulary_id"), identifier(code, "concept_code")
        return id, surface(name), domain.strip(), vocabulary, concept_class.strip(), state, code

    def synonym(cells: tuple[str, ...]) -> tuple[object, ...]:
        id, text, language = cells
        return _number(id), surface(text), _LANGUAGES.get(language.strip(), "")

    loads: list[tuple[str, str, _Select]] = [
        ("concept", "INSERT OR IGNORE INTO concept VALUES (?,?,?,?,?,?,?)", concept),
        ("concept_synonym", "INSERT INTO synonym VALUES (?,?,?)", synonym),
        ("concept_relationship", "INSERT INTO relation VALUES (?,?,?)", relation),
    ]
    db.execute("BEGIN")
    for name, insert, select in loads:
        if name in files:
            rows = sound(files[name], _rows(files[name], name, bad_lines), select, bad_lines)
            db.executemany(insert, (row for _, row in rows))
    db.execute("COMMIT")
    return kinds


def _is_valid(reason: str) -> bool:
    """Tell whether the reason why a row is invalid is none; exports write "Valid", too."""
    return cell(reason).lower() in ("", "v", "valid")


def _number(text: str) -> int:
    if text.isdecimal() and len(text) <= 18:
        return int(text)
    raise FieldError(f"the concept id {text[:60]!a}", "a number of up to 18 digits")


def _concepts(db: sqlite3.Connection, lang: str, kinds: list[str]) -> Iterator[Concept]:
    names, mapped, related = (
        Groups(db.execute(query, {"lang": lang})) for query in (_NAMES, _CODES, _RELATED)
    )
    for id, name, domain, vocabulary, concept_class, code in db.execute(_CONCEPTS):
        relations = tuple(
            Relation(ISA if relationship == _IS_A else kinds[relationship], str(other),
                     vocabulary if same else _OMOP)
            for _, relationship, other, same in related.take(id)
        )  # fmt: skip
        further = (
            Name(text, spoken, source, tty, bool(obsolete))
            for _, text, spoken, source, tty, obsolete, *_ in names.take(id)
        )
        further_codes = [row[1:] for row in mapped.take(id)]
        yield Concept(
            str(id), name, (Name(name, lang, vocabulary, "PT"), *further),
            tuple(dict.fromkeys(filter(None, (domain, concept_class)))),
            codes=by_vocabulary([(_OMOP, str(id)), (vocabulary, code), *further_codes]),
            parents=tuple(relation.id for relation in relations if relation.relation == ISA),
            relations=relations,
        )  # fmt: skip


def _retired(id: str, invalid: int, heir: int | None, targets: str | None) -> Iterator[Retired]:
    """Yield the history of an id; none for a valid id that leads to no concept."""
    if invalid and heir is not None:
        yield Retired(id, str(heir), "replaced")
    elif targets:
        yield Retired(id, "" if "," in targets else targets, f"maps to {targets}")
    elif invalid:
        yield Retired(id, "", "invalid")

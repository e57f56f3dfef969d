"""The files of an RF2 snapshot, and a scratch database with the latest version of each component.

Files are found by their names, below one directory.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from zipfile import ZipFile, is_zipfile

from ....errors import Errors, MedlinkError
from ....types import BadLines
from ..fields import FieldError, sound, surface
from ..lines import numbered_lines, report

# File names: sct2_Description_SpanishExtensionSnapshot-es_INT_20240930.txt, with an "x" before it
# in beta releases; old releases have ExtendedMapReferenceSet instead of ExtendedMap.
_PREFIX, _SUFFIX = r"x?(?:sct2|der2)_", r"[^_]*Snapshot[^/]*\.txt(?:\.gz)?"
FILES = rf"{_PREFIX}.*{_SUFFIX}"  # all that a snapshot has
_REFSET = "effectiveTime active moduleId refsetId referencedComponentId"
KINDS = {
    "Concept": ("Concept_", "effectiveTime active moduleId definitionStatusId"),
    "Description": (
        "Description_",
        "effectiveTime active moduleId conceptId languageCode typeId term caseSignificanceId",
    ),
    "TextDefinition": (
        "TextDefinition_",
        "effectiveTime active moduleId conceptId languageCode typeId term caseSignificanceId",
    ),
    "Relationship": (
        "Relationship_",
        "effectiveTime active moduleId sourceId destinationId relationshipGroup typeId"
        " characteristicTypeId modifierId",
    ),
    "Language": ("cRefset_[^_]*Language", f"{_REFSET} acceptabilityId"),
    "Association": ("cRefset_[^_]*Association", f"{_REFSET} targetComponentId"),
    # Simple, complex, extended maps, those with a description, a correlation or an origin.
    "Map": (r"[a-z]*Refset_[^_]*Map[^_]*", _REFSET),
}
# Reference sets about the release itself, and about why components are no longer active.
_IDLE = r"RefsetDescriptor|ModuleDependency|DescriptionType|MRCM|OWLExpression|AttributeValue"
_TARGETS = ("mapTarget", "mapSource")  # the code, of maps from SNOMED CT, and to it
_MAP_COLUMNS = ("mapGroup", "mapPriority", "mapAdvice", "correlationId")
_NEEDED = ("Concept", "Description")
_RELEASE = re.compile(r"_(\d{8})\.txt")
Row = tuple[int, list[str]]


def find_files(path: Path) -> dict[str, list[Path]]:
    """Map kinds to the snapshot files below a directory, of all editions there.

    RAISES (MedlinkError): E160 without concepts or descriptions.
    """
    if not path.is_dir():
        raise _incomplete(path, "it is not a directory")
    everything = sorted(file for file in path.rglob("*.txt*") if file.is_file())
    files: dict[str, list[Path]] = {}
    for table, (name, _) in KINDS.items():
        pattern = re.compile(_PREFIX + name + _SUFFIX)
        files[table] = [file for file in everything if pattern.fullmatch(file.name)]
        files[table] = [file for file in files[table] if table != "Map" or _is_map(file)]
        if table in _NEEDED and not files[table]:
            raise _incomplete(path, f"no {table} file of a snapshot is there")
    return files


def unread_refsets(path: Path, files: dict[str, list[Path]]) -> list[str]:
    """List the names of the snapshot's reference sets that are not among the files."""
    pattern, known = re.compile(_PREFIX + "[a-z]*Refset_" + _SUFFIX), set(chain(*files.values()))
    return [
        file.name for file in sorted(path.rglob("*.txt*"))
        if pattern.fullmatch(file.name) and file not in known and not re.search(_IDLE, file.name)
    ]  # fmt: skip


def _is_map(path: Path) -> bool:
    """Tell whether a file has a column of codes, or at least the name of one that must."""
    if re.search("(?:Simple|Complex|Extended)Map", path.name):
        return True
    _, header = next(numbered_lines(path, []), (0, ""))
    return not set(_TARGETS).isdisjoint(header.split("\t"))


def _incomplete(path: Path, problem: str) -> MedlinkError:
    expected = (
        "the directory or the zip archive of a release, or its Snapshot/ (for an extension, one "
        "that also holds the edition it extends)"
    )
    what = "a SNOMED CT RF2 snapshot"
    return Errors.wrong_file(path=path, what=what, problem=problem, expected=expected)


def release_of(path: Path) -> str:
    """Read the release date from the names of the files, the latest of several; "" for none."""
    if path.is_file() and is_zipfile(path):
        with ZipFile(path) as archive:
            names = [name for name in archive.namelist() if "sct2_Concept_" in name]
    else:
        names = [file.name for file in find_files(path)["Concept"]]
    return max((match[1] for name in names if (match := _RELEASE.search(name))), default="")


def read_rows(path: Path, table: str, bad_lines: BadLines) -> Iterator[Row]:
    """Stream (line, fields) of a file, whose first fields are the columns of its kind.

    RAISES (MedlinkError): E160 for a header of another kind of file; E105 for a row with another
        number of columns, a bad effective time, or an `active` other than 0 or 1, unless
        `bad_lines` collects it.
    """
    lines = numbered_lines(path, bad_lines)
    _, header = next(lines, (0, ""))
    columns = ["id", *KINDS[table][1].split()]
    header_columns = header.split("\t")
    if header_columns[: len(columns)] != columns:
        problem = f"{path.name} does not begin with the columns {' '.join(columns)}"
        raise _incomplete(path, problem)
    width = len(header_columns)
    pick = _map_cells(path, header_columns) if table == "Map" else None
    for line, text in lines:
        fields = text.split("\t")
        if (
            len(fields) == width
            and fields[2] in ("0", "1")
            and len(fields[1]) == 8 and fields[1].isdecimal()
        ):  # fmt: skip
            yield line, pick(fields) if pick else fields
        elif text:
            problem, expected = _problem(fields, width)
            report(path, line, problem, expected, bad_lines)


def _map_cells(path: Path, header: list[str]) -> Callable[[list[str]], list[str]]:
    """Put what a map has into one order, "" for what it has not: its target behind the member.

    RAISES (MedlinkError): E160 without a target.
    """
    target = next((column for column in _TARGETS if column in header), "")
    if not target:
        raise _incomplete(path, f"{path.name} has no column {' or '.join(_TARGETS)}")
    places = [header.index(name) if name in header else -1 for name in (target, *_MAP_COLUMNS)]
    return lambda fields: [*fields[:6], *(fields[at] if at >= 0 else "" for at in places)]


def _problem(fields: list[str], width: int) -> tuple[str, str]:
    if len(fields) != width:
        return f"{len(fields)} columns", f"{width} columns as in the header"
    return f"effectiveTime {fields[1]!r:.40}, active {fields[2]!r:.40}", "a date, and 0 or 1"


def sctid(text: str) -> int:
    """Read a SNOMED CT identifier, which fits in 64 bits.

    RAISES (FieldError): when it is no number of 6 to 18 digits.
    """
    if text.isdecimal() and 6 <= len(text) <= 18:
        return int(text)
    raise FieldError(f"the identifier {text[:60]!a}", "a SNOMED CT identifier of 6 to 18 digits")


# `place` is file and line, for reports of rows without a concept.
TABLES = """
CREATE TABLE concept (id INTEGER PRIMARY KEY, time INTEGER, active INTEGER, place INTEGER);
CREATE TABLE description (
    id INTEGER PRIMARY KEY, time INTEGER, active INTEGER, concept INTEGER, lang TEXT, kind INTEGER,
    term TEXT, place INTEGER
);
CREATE TABLE relationship (
    id INTEGER PRIMARY KEY, time INTEGER, active INTEGER, source INTEGER, type INTEGER,
    destination INTEGER, place INTEGER
);
CREATE TABLE language (
    id BLOB PRIMARY KEY, time INTEGER, active INTEGER, description INTEGER, rank INTEGER
) WITHOUT ROWID;
CREATE TABLE preferred (description INTEGER PRIMARY KEY, rank INTEGER);
CREATE TABLE map (
    id BLOB PRIMARY KEY, time INTEGER, active INTEGER, refset TEXT, concept INTEGER, part INTEGER,
    priority INTEGER, target TEXT, place INTEGER, relation TEXT, advice TEXT
);
CREATE TABLE called (refset TEXT PRIMARY KEY, vocabulary TEXT);
CREATE TABLE association (
    id BLOB PRIMARY KEY, time INTEGER, active INTEGER, concept INTEGER, kind INTEGER,
    target INTEGER, place INTEGER
);
"""
FSN, SYNONYM, DEFINITION = range(3)
_TYPES = {
    "900000000000003001": FSN, "900000000000013009": SYNONYM, "900000000000550004": DEFINITION,
}  # fmt: skip
_PREFERRED = "900000000000548007"
# Whose preferred names come first where a language has several dialects: American, then British.
_DIALECTS = ("900000000000509007", "900000000000508004")
# As expressions of SNOMED CT (ECL 2.2, appendix C) name them, and their language reference sets.
_TABLE = Path(__file__).with_name("dialects.tsv").read_text(encoding="utf-8")
DIALECTS: dict[str, str] = dict(line.split("\t") for line in _TABLE.splitlines())
_MAPS = {
    "447562003": "ICD10", "999002271000000101": "ICD10", "6011000124106": "ICD10CM",
    "447563008": "ICD9CM", "446608001": "ICDO3", "450993002": "ICPC2", "784008009": "ORPHA",
    "705112009": "LNC",
    "900000000000497000": "CTV3", "900000000000498005": "SNOMEDID",
}  # fmt: skip
# What the names of other maps, most of them national ones, call their vocabularies.
_CALLED = {
    r"OPCS|Office of Population Censuses": "OPCS4", r"ICD-?O\b|for Oncology": "ICDO3",
    r"\b(ICD-?\d+(?:-[A-Z]{2,4})?)(?![\w-])": "",
    r"(?i)\b(?:10th|tenth) revision,? clinical modification": "ICD10CM",
    r"(?i)\b(?:10th|tenth) revision": "ICD10", r"(?i)\b(?:9th|ninth) revision": "ICD9CM",
    r"(?i)ICPC-?2|primary care,? (?:2nd|second)": "ICPC2",
    r"CTV3|Clinical Terms Version 3": "CTV3", r"MedDRA": "MEDDRA", r"LOINC": "LNC",
    r"(?i)\borpha": "ORPHA", r"\bATC\b|Anatomical Therapeutic": "ATC",
    r"\b(GMDN|ICNP|NANDA|UCUM|DICOM)\b": "",
}  # fmt: skip
_SET_NAMES = (
    "SELECT DISTINCT refset, kind, term FROM map LEFT JOIN description"
    " ON description.concept = CAST(refset AS INTEGER) AND description.active = 1"
    " ORDER BY refset, kind, description.id"
)
# Relation of a target to the concept: with "narrow to broad", the concept is the narrow one.
_CORRELATIONS = {
    "447557004": "exact", "447558009": "broader", "447559001": "narrower", "447560006": "related",
}  # fmt: skip
# Associations of retired concepts with others, the most certain first.
ASSOCIATIONS = {
    "900000000000527005": "same as",
    "900000000000526001": "replaced by",
    "1186921001": "possibly replaced by",
    "900000000000523009": "possibly equivalent to",
    "900000000000530003": "alternative",
    "1186924009": "partially equivalent to",
    "900000000000528000": "was a",
    "900000000000524003": "moved to",
}
_KINDS = {refset: kind for kind, refset in enumerate(ASSOCIATIONS)}
_FIRST_LANGUAGE = (
    "SELECT lang FROM preferred JOIN description ON description.id = preferred.description"
    " WHERE rank = 0 GROUP BY lang ORDER BY count(*) DESC LIMIT 1"
)
_Values = tuple[object, ...]
_Select = Callable[[list[str], int], _Values | None]


class Store:
    """Fills the tables of a scratch database from RF2 files.

    db (Connection): a database with TABLES.
    language_refsets (Sequence[str]): ids of the reference sets whose preferred names count most.
    bad_lines (Optional[List[BadLine]]): collects bad lines; None makes the first one an error.
    """

    def __init__(
        self, db: sqlite3.Connection, language_refsets: Sequence[str], bad_lines: BadLines
    ) -> None:
        self.db = db
        self.bad_lines = bad_lines
        refsets = dict.fromkeys((*language_refsets, *_DIALECTS))
        self._ranks = {refset: rank for rank, refset in enumerate(refsets)}
        self._refsets: dict[str, None] = {}
        self._files: list[Path] = []

    def load(self, files: dict[str, list[Path]]) -> None:
        """Load the files by kind."""
        selects: dict[str, tuple[_Select, str]] = {
            "Concept": (_concept, "concept"), "Description": (_description, "description"),
            "TextDefinition": (_description, "description"),
            "Relationship": (_relationship, "relationship"),
            "Language": (self._preferred, "language"), "Map": (_map, "map"),
            "Association": (_association, "association"),
        }  # fmt: skip
        self.db.execute("BEGIN")
        for file_kind, (select, table) in selects.items():
            insert = self._latest(table)
            for file in files[file_kind]:
                self._fill(file, file_kind, select, insert)
        self.db.execute(
            "INSERT INTO preferred SELECT description, min(rank) FROM language"
            " WHERE active = 1 AND rank IS NOT NULL GROUP BY description"
        )
        self._call_maps()

    def language_of(self, refset: str) -> str:
        """Return the language of the names that the first of the reference sets prefers.

        RAISES (MedlinkError): E108 where the release does not have it.
        """
        row = self.db.execute(_FIRST_LANGUAGE).fetchone()
        if row is None:
            known = {id: name for name, id in DIALECTS.items()}
            there = ", ".join(known.get(id, id) for id in self._refsets) or "none"
            what = "language reference set in this release"
            raise Errors.unknown_choice(what=what, value=refset, known=there)
        return str(row[0])

    def _latest(self, table: str) -> str:
        """Write the SQL that inserts a version of a row unless the table has a later version.

        An edition and its extensions may hold the same component, or the same member of a reference
        set; the later effective time counts, also where it says that the row is no longer active.
        """
        names = [row[1] for row in self.db.execute(f"PRAGMA table_info({table})")]
        changes = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
        return (
            f"INSERT INTO {table} VALUES ({','.join('?' * len(names))})"
            f" ON CONFLICT (id) DO UPDATE SET {changes} WHERE excluded.time >= time"
        )

    def report(self, line: int, problem: str, expected: str) -> None:
        """Report a line by its place."""
        report(self._files[line >> 32], line & 0xFFFFFFFF, problem, expected, self.bad_lines)

    def _call_maps(self) -> None:
        """Name the vocabulary of each map: by its id, else by its name, else after its id."""
        vocabularies: dict[str, str] = {}
        for refset, _, term in self.db.execute(_SET_NAMES).fetchall():
            vocabulary = _MAPS.get(refset) or vocabularies.get(refset) or _vocabulary(term or "")
            vocabularies[refset] = vocabulary
        self.db.executemany(
            "INSERT INTO called VALUES (?,?)",
            (
                (refset, vocabulary or f"SNOMEDCT_MAP_{refset}")
                for refset, vocabulary in vocabularies.items()
            ),
        )

    def _fill(self, file: Path, file_kind: str, select: _Select, insert: str) -> None:
        self._files.append(file)
        first = (len(self._files) - 1) << 32
        lines = ((row[0], row) for row in read_rows(file, file_kind, self.bad_lines))
        rows = sound(file, lines, lambda row: select(row[1], first + row[0]), self.bad_lines)
        self.db.executemany(insert, (row for _, row in rows))

    def _preferred(self, fields: list[str], line: int) -> _Values:
        rank = None
        self._refsets.setdefault(fields[4])
        if fields[6] == _PREFERRED:
            rank = self._ranks.setdefault(fields[4], len(self._ranks))
        return *_member(fields), sctid(fields[5]), rank


def _concept(fields: list[str], line: int) -> _Values:
    return sctid(fields[0]), int(fields[1]), int(fields[2]), line


def _description(fields: list[str], line: int) -> _Values:
    id, time, active, _, concept, lang, description_type, term, *_ = fields
    if description_type not in _TYPES:
        raise FieldError(
            f"the description type {description_type[:60]!a}", "the type of a name or a definition"
        )
    if not lang:
        raise FieldError("an empty languageCode", "a language code")
    return (
        sctid(id), int(time), int(active), sctid(concept), lang.lower(), _TYPES[description_type],
        surface(term, "term"), line,
    )  # fmt: skip


def _relationship(fields: list[str], line: int) -> _Values:
    ids = map(sctid, (fields[4], fields[7], fields[5]))
    return sctid(fields[0]), int(fields[1]), int(fields[2]), *ids, line


def _member(fields: list[str]) -> tuple[bytes | str, int, int]:
    """Read identifier, time and state of a member; 16 bytes take less room than their text."""
    id: bytes | str = fields[0].lower()
    with suppress(ValueError):
        id = bytes.fromhex(fields[0].replace("-", ""))
    return id, int(fields[1]), int(fields[2])


def _map(fields: list[str], line: int) -> _Values:
    target, part, priority, advice, relation = fields[6:]
    part, priority = part or "0", priority or "0"
    if not (part.isdecimal() and priority.isdecimal() and len(part + priority) < 18):
        raise FieldError(f"map group {part[:20]!a}, priority {priority[:20]!a}", "two numbers")
    # No target, or a British mark such as "#NC", says that the concept has no counterpart.
    code = "" if target.lstrip().startswith("#") else target.strip()
    return (
        *_member(fields), fields[4], sctid(fields[5]), int(part), int(priority), code, line,
        _CORRELATIONS.get(relation, ""), advice.strip(),
    )  # fmt: skip


def _association(fields: list[str], line: int) -> _Values | None:
    association = _KINDS.get(fields[4])
    if association is None:
        return None
    return *_member(fields), sctid(fields[5]), association, sctid(fields[6]), line


def _vocabulary(name: str) -> str:
    """Find the vocabulary that the name of a map has, "" where it has none that is known."""
    for pattern, vocabulary in _CALLED.items():
        if match := re.search(pattern, name):
            return vocabulary or match[1].replace("-", "")
    return ""

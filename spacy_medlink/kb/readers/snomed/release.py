"""The files of an RF2 snapshot: finding them and reading their rows."""

import re
from collections.abc import Iterator
from pathlib import Path

from ....errors import Errors, MedlinkError
from ....types import BadLines
from ..fields import FieldError
from ..lines import numbered_lines, report

# File names: sct2_Description_SpanishExtensionSnapshot-es_INT_20240930.txt, with an "x" before it
# in beta releases; old releases have ExtendedMapReferenceSet instead of ExtendedMap.
_PREFIX, _SUFFIX = r"x?(?:sct2|der2)_", r"[^_]*Snapshot[^/]*\.txt(?:\.gz)?"
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
    "SimpleMap": ("sRefset_[^_]*SimpleMap", f"{_REFSET} mapTarget"),
    "Map": (
        "iisss[ci]{1,2}Refset_[^_]*(?:Extended|Complex)Map",
        f"{_REFSET} mapGroup mapPriority mapRule mapAdvice mapTarget correlationId",
    ),
}
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
        if table in _NEEDED and not files[table]:
            raise _incomplete(path, f"no {table} file of a snapshot is there")
    return files


def _incomplete(path: Path, problem: str) -> MedlinkError:
    expected = (
        "the directory of an unpacked release, the one of Snapshot/ (for an extension, one that "
        "also holds the edition it extends)"
    )
    what = "a SNOMED CT RF2 snapshot"
    return Errors.source_incomplete(path=path, what=what, problem=problem, expected=expected)


def release_of(path: Path) -> str:
    """Read the release date from the names of the files, the latest of several; "" for none."""
    files = find_files(path)["Concept"]
    return max((match[1] for file in files if (match := _RELEASE.search(file.name))), default="")


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
    for line, text in lines:
        fields = text.split("\t")
        if (
            len(fields) == width
            and fields[2] in ("0", "1")
            and len(fields[1]) == 8 and fields[1].isdecimal()
        ):  # fmt: skip
            yield line, fields
        elif text:
            problem, expected = _problem(fields, width)
            report(path, line, problem, expected, bad_lines)


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

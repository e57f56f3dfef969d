"""Write an invented RF2 snapshot like SNOMED CT's, of any size, in English and Spanish.

    python -m benchmarks.synthetic.rf2 OUT --concepts 360000 --names 2000000

File names, columns, types and reference sets are those of the specification; all else is invented.
Identifiers have no check digit, since no reader checks it.
"""

from itertools import chain
from pathlib import Path

import numpy as np
import typer

from benchmarks.synthetic.names import Names
from benchmarks.synthetic.tables import Ints, bits, draw, write_tables

_DATE = "20260101"
_BLOCK = 8192  # concepts at a time
_INACTIVE = 0.08
_FIXED = 4  # names of every concept: an FSN and a preferred term, in English and in Spanish
_STEP = 1_000_000_007  # prime: steps of this length visit every concept once
_CONCEPT, _DESCRIPTION = 20, 21  # streams of random numbers
_MODULE = "900000000000207008"
_PRIMITIVE, _DEFINED = "900000000000074008", "900000000000073002"
_IS_A, _SITE = "116680003", "363698007"
_INFERRED, _SOME = "900000000000011006", "900000000000451002"
_FSN, _SYNONYM, _DEFINITION = "900000000000003001", "900000000000013009", "900000000000550004"
_ANY_CASE = "900000000000448009"
_PREFERRED, _ACCEPTABLE = "900000000000548007", "900000000000549004"
_DIALECTS = {"en": ("900000000000509007", "900000000000508004"), "es": ("448879004",)}
_SAME_AS, _REPLACED_BY = "900000000000527005", "900000000000526001"
_POSSIBLY = "900000000000523009"
_ICD10, _CTV3 = "447562003", "900000000000497000"
_CORRELATION, _CATEGORY = "447561005", "447637006"
_MAPPED = 2  # kinds of concepts that are mapped to ICD-10
_TAGS = {"en": ("disorder", "finding", "procedure", "substance"),
         "es": ("trastorno", "hallazgo", "procedimiento", "sustancia")}  # fmt: skip
_COMPONENT = "id effectiveTime active moduleId"
_DESCRIBED = f"{_COMPONENT} conceptId languageCode typeId term caseSignificanceId"
_MEMBER = f"{_COMPONENT} refsetId referencedComponentId"
# The path below Snapshot/, without the date, and the columns.
_FILES = {
    "Concept": ("Terminology/sct2_Concept_Snapshot_INT", f"{_COMPONENT} definitionStatusId"),
    "Description-en": ("Terminology/sct2_Description_Snapshot-en_INT", _DESCRIBED),
    "Description-es": ("Terminology/sct2_Description_Snapshot-es_INT", _DESCRIBED),
    "TextDefinition": ("Terminology/sct2_TextDefinition_Snapshot-en_INT", _DESCRIBED),
    "Relationship": (
        "Terminology/sct2_Relationship_Snapshot_INT",
        f"{_COMPONENT} sourceId destinationId relationshipGroup typeId characteristicTypeId"
        " modifierId",
    ),
    "Language-en": (
        "Refset/Language/der2_cRefset_LanguageSnapshot-en_INT", f"{_MEMBER} acceptabilityId",
    ),
    "Language-es": (
        "Refset/Language/der2_cRefset_LanguageSnapshot-es_INT", f"{_MEMBER} acceptabilityId",
    ),
    "ExtendedMap": (
        "Refset/Map/der2_iisssccRefset_ExtendedMapSnapshot_INT",
        f"{_MEMBER} mapGroup mapPriority mapRule mapAdvice mapTarget correlationId mapCategoryId",
    ),
    "SimpleMap": ("Refset/Map/der2_sRefset_SimpleMapSnapshot_INT", f"{_MEMBER} mapTarget"),
    "Association": (
        "Refset/Content/der2_cRefset_AssociationSnapshot_INT", f"{_MEMBER} targetComponentId",
    ),
}  # fmt: skip


def generate(
    out_dir: Path, concepts: int = 1000, names: int = 5000, seed: int = 0
) -> dict[str, int]:
    """Write a snapshot.

    out_dir (Path): the release's directory; Snapshot/ is made in it.
    concepts (int): rows of the concept file, 8 % of them inactive.
    names (int): rows of the two description files, at least 4 a concept.
    seed (int): which release.
    RETURNS (dict[str, int]): rows of each file, with its header.
    RAISES (ValueError): when there are too few names.
    """
    snapshot = _Snapshot(concepts, names, seed)
    heads = {name: ["\t".join(columns.split())] for name, (_, columns) in _FILES.items()}
    starts = range(0, concepts, _BLOCK)
    pieces = (snapshot.rows(first, min(first + _BLOCK, concepts)) for first in starts)
    place = Path(out_dir) / "Snapshot"
    paths = {name: place / f"{path}_{_DATE}.txt" for name, (path, _) in _FILES.items()}
    return write_tables(paths, chain([heads], pieces), end="\r\n")


class _Snapshot:
    """A release. Concepts are numbered, the inactive ones last.

    Concept n is a child of concept n // 4; some are also children of n // 7.
    """

    def __init__(self, concepts: int, names: int, seed: int) -> None:
        self._concepts, self._seed = concepts, seed
        self._names = Names(concepts, names, seed, languages=2, minimum=_FIXED)
        self._active = concepts - round(_INACTIVE * concepts)

    def rows(self, first: int, last: int) -> dict[str, list[str]]:
        """Write all rows of some concepts, far apart, so that no reader relies on their order."""
        concepts = np.arange(first, last) * _STEP % self._concepts
        out: dict[str, list[str]] = {name: [] for name in _FILES}
        random = draw(self._seed, _CONCEPT, concepts).tolist()
        kinds = (self._names.heads(concepts) % len(_TAGS["en"])).tolist()
        for concept, kind, dice in zip(concepts.tolist(), kinds, random, strict=True):
            if concept < self._active:
                self._live(out, concept, kind, dice)
            else:
                self._ended(out, concept, dice)
        self._describe(out, concepts)
        return out

    def _live(self, out: dict[str, list[str]], concept: int, kind: int, dice: int) -> None:
        status = _PRIMITIVE if dice % 4 else _DEFINED
        out["Concept"].append(_row(_id(concept), concept, 1, status))
        parents = dict.fromkeys((concept // 4, *([concept // 7] if concept % 5 == 0 else ())))
        for i, parent in enumerate(parents if concept else ()):
            out["Relationship"].append(_related(8 * concept + i, concept, parent, _IS_A))
        if concept and concept % 50 == 0:  # an inactive relationship, which would close a circle
            row = _related(8 * concept + 2, concept // 4, concept, _IS_A, active=0)
            out["Relationship"].append(row)
        if dice >> 2 & 3 == 0:
            target = (dice >> 20) % self._active
            out["Relationship"].append(_related(8 * concept + 3, concept, target, _SITE))
        if dice >> 4 & 31 == 0:
            text = f"A condition that is invented, number {concept}."
            cells = (_id(concept), "en", _DEFINITION, text, _ANY_CASE)
            number = int(self._names.offsets[-1]) + concept
            out["TextDefinition"].append(_row(_id(number, 1), concept, 1, *cells))
        if dice >> 9 & 1:
            out["SimpleMap"].append(_member(_CTV3, concept, 0, f"X{dice >> 48:04x}"))
        if kind < _MAPPED and dice >> 10 & 1:
            out["ExtendedMap"] += _mapped(concept, dice >> 11)

    def _ended(self, out: dict[str, list[str]], concept: int, dice: int) -> None:
        out["Concept"].append(_row(_id(concept), concept, 0, _PRIMITIVE))
        heir = (dice >> 20) % self._active
        out["Relationship"].append(_related(8 * concept, concept, heir, _IS_A, active=0))
        if dice >> 5 & 15 == 0 and concept > self._active:
            heir = concept - 1  # which has ended, too
        case = dice & 15
        if case < 12:
            refset = _REPLACED_BY if case < 8 else _SAME_AS
            out["Association"].append(_member(refset, concept, 0, _id(heir)))
        elif case < 14:
            heirs = enumerate((heir, heir // 2))
            out["Association"] += [_member(_POSSIBLY, concept, i, _id(one)) for i, one in heirs]

    def _describe(self, out: dict[str, list[str]], concepts: Ints) -> None:
        """Write the names of concepts, and the dialects that use them."""
        offsets = self._names.offsets
        counts = np.diff(offsets)[concepts]
        concept = np.repeat(concepts, counts)
        place = np.arange(len(concept)) - np.repeat(np.cumsum(counts) - counts, counts)
        number = offsets[concept] + place
        random = draw(self._seed, _DESCRIPTION, number)
        language = np.where(place < _FIXED, place // 2, bits(random, 0, 4) < 5)
        same = np.where(place < _FIXED, offsets[concept], number)
        columns = (concept, number, place, language, self._names.heads(concept), random)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        terms = self._names.texts(same, concept, language)
        for term, (c, n, p, spanish, kind, dice) in zip(terms, rows, strict=True):
            code = "es" if spanish else "en"
            full = p in (0, 2)  # FSN; the preferred term repeats it without the tag
            term += f" ({_TAGS[code][kind % len(_TAGS[code])]})" if full else ""
            cells = (_id(c), code, _FSN if full else _SYNONYM, term, _ANY_CASE)
            active = int(p < _FIXED or dice >> 4 & 31 > 0)
            out[f"Description-{code}"].append(_row(_id(n, 1), n, active, *cells))
            rank = _PREFERRED if p < _FIXED else _ACCEPTABLE
            for i, refset in enumerate(_DIALECTS[code] if active else ()):
                out[f"Language-{code}"].append(_member(refset, n, i, rank, partition=1))


def _id(number: int, partition: int = 0) -> str:
    """Write the identifier of a concept (partition 0), description (1) or relationship (2)."""
    return f"{1_000_000 + number}0{partition}0"


def _row(id: str, number: int, active: int, *cells: object) -> str:
    return "\t".join((id, f"{2002 + number % 24}0731", str(active), _MODULE, *map(str, cells)))


def _member(refset: str, number: int, place: int, *cells: object, partition: int = 0) -> str:
    """Write a member of a reference set; `place` tells members of the same component apart."""
    uuid = f"{int(refset) % 2**32:08x}-{place:04x}-4000-8000-{number:012x}"
    return _row(uuid, number, 1, refset, _id(number, partition), *cells)


def _related(number: int, one: int, two: int, kind: str, active: int = 1) -> str:
    cells = (_id(one), _id(two), int(kind != _IS_A), kind, _INFERRED, _SOME)
    return _row(_id(number, 2), number, active, *cells)


def _mapped(concept: int, dice: int) -> list[str]:
    """Map a concept to ICD-10: some by rules, some to several codes, some to none."""
    ways = [(1, 1, "TRUE")] if dice & 7 else [(1, 1, f"IFA {_id(0)}"), (1, 2, "OTHERWISE TRUE")]
    ways += [(2, 1, "TRUE")] if dice >> 3 & 7 == 0 else []
    rows = []
    for i, (group, priority, rule) in enumerate(ways):
        number = (dice >> 10) + 977 * i
        code = f"{chr(65 + number % 26)}{number // 26 % 100:02d}.{number // 2600 % 10}"
        target, advice = (code, f"ALWAYS {code}") if dice >> 6 & 15 else ("", "NOT CLASSIFIED")
        cells = (group, priority, rule, advice, target, _CORRELATION, _CATEGORY)
        rows.append(_member(_ICD10, concept, i, *cells))
    return rows


if __name__ == "__main__":
    typer.run(generate)

"""Write a SNOMED CT shaped RF2 snapshot of any size, in English and Spanish.

    python -m benchmarks.synthetic_rf2 OUT --concepts 360000 --names 2000000

File names, columns and identifiers follow the release file specification; terms are invented. The
same arguments write the same bytes. The only real identifiers are those of the root and of the
metadata (modules, types, reference sets).
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import typer

from benchmarks.synthetic.draws import BLOCK, Rows, open_rows
from benchmarks.synthetic.snomed import (
    Snapshot,
    association_rows,
    concept_rows,
    relationship_rows,
)
from benchmarks.synthetic.snomed_maps import extended_map_rows, simple_map_rows
from benchmarks.synthetic.snomed_names import definition_rows, description_rows

COMPONENT = "id effectiveTime active moduleId"
DESCRIPTION = f"{COMPONENT} conceptId languageCode typeId term caseSignificanceId"
MEMBER = f"{COMPONENT} refsetId referencedComponentId"
# The path below Snapshot/, without the date, and the columns.
FILES = {
    "Concept": ("Terminology/sct2_Concept_Snapshot_INT", f"{COMPONENT} definitionStatusId"),
    "Description-en": ("Terminology/sct2_Description_Snapshot-en_INT", DESCRIPTION),
    "Description-es": ("Terminology/sct2_Description_Snapshot-es_INT", DESCRIPTION),
    "TextDefinition": ("Terminology/sct2_TextDefinition_Snapshot-en_INT", DESCRIPTION),
    "Relationship": (
        "Terminology/sct2_Relationship_Snapshot_INT",
        f"{COMPONENT} sourceId destinationId relationshipGroup typeId characteristicTypeId "
        "modifierId",
    ),
    "Language-en": (
        "Refset/Language/der2_cRefset_LanguageSnapshot-en_INT",
        f"{MEMBER} acceptabilityId",
    ),
    "Language-es": (
        "Refset/Language/der2_cRefset_LanguageSnapshot-es_INT",
        f"{MEMBER} acceptabilityId",
    ),
    "ExtendedMap": (
        "Refset/Map/der2_iisssccRefset_ExtendedMapSnapshot_INT",
        f"{MEMBER} mapGroup mapPriority mapRule mapAdvice mapTarget correlationId mapCategoryId",
    ),
    "SimpleMap": ("Refset/Map/der2_sRefset_SimpleMapSnapshot_INT", f"{MEMBER} mapTarget"),
    "Association": (
        "Refset/Content/der2_cRefset_AssociationSnapshot_INT",
        f"{MEMBER} targetComponentId",
    ),
}


def generate(
    out_dir: Path | str,
    concepts: int = 1000,
    names: int | None = None,
    seed: int = 0,
    date: str = "20260101",
) -> dict[str, int]:
    """Write a snapshot.

    out_dir (Path | str): the release's directory; Snapshot/ is made in it.
    concepts (int): exactly so many rows of the concept file, 8 % of them inactive.
    names (int | None): exactly so many rows of the two description files, at least 4 a concept;
        5 a concept by default. seed (int): which release. date (str): YYYYMMDD.
    RETURNS (dict[str, int]): number of rows of each file, without its header.
    """
    snapshot = Snapshot(concepts, 5 * concepts if names is None else names, seed, date)
    with ExitStack() as stack:
        rows = {}
        for name, (path, columns) in FILES.items():
            file = open_rows(Path(out_dir) / "Snapshot" / f"{path}_{date}.txt", end="\r\n")
            rows[name] = stack.enter_context(file)
            rows[name].write([columns.replace(" ", "\t")])
        _write(snapshot, rows)
        return {name: file.count - 1 for name, file in rows.items()}


def _write(snapshot: Snapshot, rows: dict[str, Rows]) -> None:
    for first, last in _pieces(snapshot.concepts):
        rows["Concept"].write(concept_rows(snapshot, first, last))
        rows["Relationship"].write(relationship_rows(snapshot, first, last))
        rows["Association"].write(association_rows(snapshot, first, last))
    for first, last in _pieces(snapshot.active):
        rows["TextDefinition"].write(definition_rows(snapshot, first, last))
        rows["ExtendedMap"].write(extended_map_rows(snapshot, first, last))
        rows["SimpleMap"].write(simple_map_rows(snapshot, first, last))
    for first, last in _pieces(snapshot.total):
        for name, written in description_rows(snapshot, first, last).items():
            rows[name].write(written)


def _pieces(total: int) -> Iterator[tuple[int, int]]:
    return ((first, min(first + BLOCK, total)) for first in range(0, total, BLOCK))


def main(
    out_dir: Path,
    concepts: int = 1000,
    names: int | None = None,
    seed: int = 0,
    date: str = "20260101",
) -> None:
    """Write a snapshot."""
    start = time.perf_counter()
    rows = generate(out_dir, concepts, names, seed, date)
    seconds = time.perf_counter() - start
    typer.echo(" ".join(f"{name}={count}" for name, count in rows.items()))
    total = rows["Description-en"] + rows["Description-es"]
    typer.echo(f"{seconds:.1f} s, {total / seconds:,.0f} names/s")


if __name__ == "__main__":
    typer.run(main)

from collections.abc import Iterable
from pathlib import Path
from shutil import make_archive
from typing import Any

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.kb.filters import Filters
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.readers.snomed import read as read_snomed
from spacy_medlink.kb.readers.snomed import release_of
from spacy_medlink.types import BadLine, Concept, Record, Retired
from tests.kb import samples
from tests.kb.samples import DIABETES, DISEASE, ROOT, TYPE_2, write_rf2
from tests.tables import table

CONCEPTS = "Terminology/sct2_Concept_Snapshot_INT_20240101.txt"
DESCRIPTIONS = "Terminology/sct2_Description_Snapshot-en_INT_20240101.txt"
RELATIONSHIPS = "Terminology/sct2_Relationship_Snapshot_INT_20240101.txt"
LANGUAGE = "Refset/Language/der2_cRefset_LanguageSnapshot-en_INT_20240101.txt"
ASSOCIATIONS = "Refset/Content/der2_cRefset_AssociationSnapshot_INT_20240101.txt"


EXTENDED_MAP = "Refset/Map/der2_iisssccRefset_ExtendedMapSnapshot_INT_20240101.txt"
SIMPLE_MAP = "Refset/Map/der2_sRefset_SimpleMapSnapshot_INT_20240101.txt"


def _by_id(records: Iterable[Record]) -> dict[str, Record]:
    return {record.id: record for record in records}


def _concept(path: Path, id: str = DIABETES, **options: Any) -> Concept:
    concept = _by_id(read_snomed(path, **options))[id]
    assert isinstance(concept, Concept)
    return concept


def _extension(path: Path, name: str, text: str, date: str = "20240101") -> None:
    """Write a file of another package, beside those of the edition."""
    file = path / "Extension" / Path(name).name.replace("20240101", date)
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize(
    ("kind", "targets", "expected"),
    [
        (samples.POSSIBLY, [DIABETES], DIABETES),  # the only one it can be
        (samples.REPLACED_BY, [DIABETES, TYPE_2], TYPE_2),
        (samples.WAS_A, [DISEASE], ""),  # a parent is no successor
    ],
)
def test_kinds_of_history(tmp_path: Path, kind: str, targets: list[str], expected: str) -> None:
    header = samples.RF2[ASSOCIATIONS].split("\r\n")[0].replace("\t", " ")
    rows = [samples.refset(kind, "1000001", target) for target in targets]
    write_rf2(tmp_path, {ASSOCIATIONS: samples.table(header, *rows)})
    retired = _by_id(read("snomed", tmp_path))["1000001"]
    assert isinstance(retired, Retired)
    assert retired.replaced_by == expected


def test_language_of_the_preferred_name(tmp_path: Path) -> None:
    spanish = _concept(write_rf2(tmp_path), language="es")
    british = _concept(tmp_path, language_refsets=[samples.GB])
    assert (spanish.name, spanish.types) == ("diabetes", ("disorder",))
    assert british.name == "DM - Diabetes mellitus"


def test_the_best_name_left_by_a_filter_is_preferred(tmp_path: Path) -> None:
    records = Filters(languages=("es",)).apply(read("snomed", write_rf2(tmp_path)))
    concept = _by_id(records)[DIABETES]
    assert isinstance(concept, Concept)
    assert concept.name == "diabetes"


def test_without_optional_files(tmp_path: Path) -> None:
    needed = {CONCEPTS, DESCRIPTIONS}
    write_rf2(tmp_path, {name: "" for name in samples.RF2 if name not in needed})
    concept = _concept(tmp_path)
    assert (concept.name, concept.parents, concept.codes) == ("Diabetes mellitus", (), {})


def test_the_latest_version_of_a_component_counts(tmp_path: Path) -> None:
    """An extension may hold a later version of what the edition holds, under another file name."""
    write_rf2(tmp_path)
    header, *_ = samples.RF2[DESCRIPTIONS].split("\r\n")
    row = samples.description(100009, TYPE_2, "Diabetes type two", samples.SYNONYM, "en")
    for date, wins in (("20230101", False), ("20250101", True)):
        text = f"{header}\n{row.replace('20240101', date)}\n"
        _extension(tmp_path, "sct2_Description_Snapshot-en_XX_20250101.txt", text)
        concept = _concept(tmp_path, TYPE_2)
        texts = {name.text for name in concept.names}
        assert ("Diabetes type two" in texts, "Type 2 diabetes" in texts) == (wins, not wins)


def _changed(name: str, row: tuple[str, ...], date: str, active: str, last: str = "") -> str:
    """Write a file of an extension with another version of a member."""
    header = samples.RF2[name].partition("\r\n")[0]
    cells = [row[0].upper(), date, active, *row[3:-1], last or row[-1]]
    return f"{header}\n" + "\t".join(cells) + "\n"


@pytest.mark.parametrize("date", ["20230101", "20250101"])
def test_the_latest_version_of_a_member_counts(tmp_path: Path, date: str) -> None:
    """A later package ends or changes what an earlier one says of a member of a reference set."""
    members = {
        LANGUAGE: (samples.refset(samples.US, "100006", samples.PREFERRED), "0", ""),
        SIMPLE_MAP: (samples.refset(samples.CTV3_MAP, DIABETES, "C10.."), "1", "C11.."),
        ASSOCIATIONS: (samples.refset(samples.SAME_AS, "1000001", DIABETES), "1", TYPE_2),
    }
    write_rf2(tmp_path)
    for name, (row, active, last) in members.items():
        _extension(tmp_path, name, _changed(name, row, date, active, last), date)
    concept, gone = _concept(tmp_path), _by_id(read("snomed", tmp_path))["1000001"]
    assert isinstance(gone, Retired)
    is_later = date > "2024"
    assert concept.name == ("DM - Diabetes mellitus" if is_later else "Diabetes mellitus")
    assert concept.codes["CTV3"] == ("C11.." if is_later else "C10..",)
    assert gone.replaced_by == (TYPE_2 if is_later else DIABETES)


def test_an_acceptable_name_is_no_longer_preferred(tmp_path: Path) -> None:
    row = samples.refset(samples.US, "100006", samples.PREFERRED)
    text = _changed(LANGUAGE, row, "20250101", "1", samples.ACCEPTABLE)
    _extension(write_rf2(tmp_path), LANGUAGE, text)
    assert _concept(tmp_path).name == "DM - Diabetes mellitus"


@pytest.mark.parametrize("date", ["20230101", "20250101"])
def test_a_map_may_end_or_lose_its_target(tmp_path: Path, date: str) -> None:
    row = samples.refset(samples.ICD_MAP, DIABETES, "1", "1", "IFA 1", "IF ...", "E10.9", "1", "2")
    header = samples.RF2[EXTENDED_MAP].partition("\r\n")[0]
    write_rf2(tmp_path)
    for changed in (
        [*row[:2], "0", *row[3:]],
        [*row[:10], "", *row[11:]],
        [*row[:10], "#NC", *row[11:]],
    ):
        changed[1] = date
        _extension(tmp_path, EXTENDED_MAP, f"{header}\n" + "\t".join(changed) + "\n")
        concept = _concept(tmp_path)
        assert concept.codes["ICD10"] == (("E14.9",) if date > "2024" else ("E10.9", "E14.9"))


@table(__file__, "a_map_gets_its_vocabulary_by_name")
def test_a_map_gets_its_vocabulary_by_name(tmp_path: Path, name: str, vocabulary: str) -> None:
    opcs = "1126441000000105"
    changes = {
        SIMPLE_MAP: samples.RF2[SIMPLE_MAP] + "\t".join(samples.refset(opcs, DIABETES, "X123"))
    }
    if name:
        ids = f"{opcs}\t20240101\t1\tm\ts\r\n"
        changes[CONCEPTS] = samples.RF2[CONCEPTS] + ids
        row = samples.description(100012, opcs, name, samples.FSN, "en")
        changes[DESCRIPTIONS] = samples.RF2[DESCRIPTIONS] + row
    concept = _concept(write_rf2(tmp_path, changes))
    code = "X12.3" if vocabulary.startswith(("OPCS", "ICD10")) else "X123"  # no map has the dot
    assert concept.codes[vocabulary] == (code,)


def test_full_and_delta_files_are_left_alone(tmp_path: Path) -> None:
    write_rf2(tmp_path)
    for kind in ("Full", "Delta"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / f"sct2_Concept_{kind}_INT_20240101.txt").write_text("nonsense")
    assert len(list(read("snomed", tmp_path))) == 7


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (dict.fromkeys((CONCEPTS,), ""), "no Concept file"),
        (dict.fromkeys((name for name in samples.RF2 if "sct2_Description_" in name), ""),
         "no Description file"),
        ({RELATIONSHIPS: samples.RF2[DESCRIPTIONS]}, "sct2_Relationship.*sourceId destinationId"),
    ],
    ids=["no concepts", "no descriptions", "another header"],
)  # fmt: skip
def test_what_is_no_snapshot(tmp_path: Path, changes: dict[str, str], problem: str) -> None:
    with pytest.raises(MedlinkError, match=f"E160.*{problem}") as caught:
        list(read("snomed", write_rf2(tmp_path, changes)))
    assert str(tmp_path) in caught.value.message
    with pytest.raises(MedlinkError, match="E160"):
        list(read("snomed", Path(__file__)))


@pytest.mark.parametrize(
    ("name", "row", "problem"),
    [
        (CONCEPTS, "12\t20240101\t1\tm\ts", "the identifier '12'"),
        (CONCEPTS, "1234567\t20240101\t1\tm", "4 columns"),
        (CONCEPTS, "1234567\t20240101\tyes\tm\ts", "active 'yes'"),
        (CONCEPTS, "1234567\t2024\t1\tm\ts", "effectiveTime '2024'"),
        (CONCEPTS, "1234567\t20240101\t1\tm\ts", "the concept 1234567 without any name"),
        (
            DESCRIPTIONS,
            samples.description(100011, "999999999", "stray", samples.SYNONYM, "en"),
            "a description of 999999999, which is in no concept file",
        ),
        (DESCRIPTIONS, samples.description(100011, ROOT, " ", samples.SYNONYM, "en"), "empty term"),
        (DESCRIPTIONS, samples.description(100011, ROOT, "x", "12", "en"), "type '12'"),
        (DESCRIPTIONS, samples.description(100011, ROOT, "x", samples.FSN, ""), "languageCode"),
    ],
)
def test_bad_rows(tmp_path: Path, name: str, row: str, problem: str) -> None:
    lines = samples.RF2[name].count("\n")
    write_rf2(tmp_path, {name: samples.RF2[name] + row})
    with pytest.raises(MedlinkError, match="E105") as caught:
        list(read("snomed", tmp_path))
    assert problem in caught.value.message
    assert f"{Path(name).name}, line {lines + 1}:" in caught.value.message
    bad: list[BadLine] = []
    assert len(list(read("snomed", tmp_path, bad))) == 7
    assert [(Path(line.path).name, line.line) for line in bad] == [(Path(name).name, lines + 1)]


def test_release(tmp_path: Path) -> None:
    assert release_of(write_rf2(tmp_path)) == "20240101"


def test_built(tmp_path: Path) -> None:
    report = build_kb(tmp_path / "x.kb", read("snomed", write_rf2(tmp_path / "rf2")))
    kb = KnowledgeBase(tmp_path / "x.kb")
    assert (report.concepts, report.retired, report.missing_parents) == (4, 3, 0)
    assert kb.resolve("1000001") == DIABETES
    assert kb.ancestors(TYPE_2) == {DIABETES: 1, DISEASE: 2, ROOT: 3}
    assert kb[DIABETES].codes.get("ICD10", ()) == ("E10.9", "E14.9")
    assert [concept.id for concept in kb.find("diabetes")] == [DIABETES]


@table(__file__, "maps_of_newer_kinds")
def test_maps_of_newer_kinds(tmp_path, kind, columns, cells, refset, code):
    path = write_rf2(tmp_path)
    head = "id effectiveTime active moduleId refsetId referencedComponentId"
    id = "80000000-0000-4000-8000-000000000001"
    rows = f"{head} {columns}", f"{id} 20240101 1 1 {refset} {DIABETES} {cells}"
    _extension(path, f"der2_{kind}Snapshot_INT_20240101.txt", "\n".join(rows).replace(" ", "\t"))
    concept = _concept(path)
    assert code[1] in concept.codes[code[0]]
    related = [one.relation for one in concept.maps if one.code == code[1]]
    assert related == (["exact"] if "Correlation" in kind else [])


def test_reference_sets_that_are_not_read_are_named(tmp_path: Path) -> None:
    path = write_rf2(tmp_path)
    _extension(path, "der2_Refset_SimpleSnapshot_INT_20240101.txt", "")
    _extension(path, "der2_cciRefset_RefsetDescriptorSnapshot_INT_20240101.txt", "")
    with pytest.warns(UserWarning, match=r"W110.*not read: der2_Refset_SimpleSnapshot_\w+.txt\."):
        _concept(path)


@pytest.mark.parametrize("dialect", ["en-GB", "en_gb", "900000000000508004"])
def test_a_dialect_chooses_the_preferred_name(tmp_path: Path, dialect: str) -> None:
    path = write_rf2(tmp_path)
    assert _concept(path).name == "Diabetes mellitus"
    assert _concept(path, dialect=dialect).name == "DM - Diabetes mellitus"
    assert _concept(path, dialect="450828004").name == "diabetes"
    for wrong in ("sv-SE", "klingon", "123456"):
        with pytest.raises(MedlinkError, match=rf"E108.*'{wrong}'.*en-GB"):
            _concept(path, dialect=wrong)


def test_the_archive_of_a_release(tmp_path: Path) -> None:
    path = write_rf2(tmp_path / "rf2")
    archive = Path(make_archive(str(tmp_path / "SnomedCT_INT"), "zip", path))
    assert list(read("snomed", archive)) == list(read("snomed", path))
    assert release_of(archive) == release_of(path) == "20240101"

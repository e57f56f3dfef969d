import csv
import io
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.corpora.conftest import Convert
from tests.training.corpora.workbook import Rows, write_workbook

MAPPED = [
    "id",
    "drug_id",
    "sentence_index",
    "{}",
    "type",
    "UMLS1",
    "UMLS2",
    "SNOMED-CT",
    "SNOMED-CT",
]


def _mapped(column: str, *rows: list[str | float]) -> Rows:
    return [[name.format(column) for name in MAPPED], *rows]


SHEETS: dict[str, Rows] = {
    "Sentence_Labeling": [
        ["id", "drug_id", "sentence_index", "sentences", "ADR"],
        [1, "zoloft.1", 1, "Dizzy in the morning, dizzy at night.", 1],
        [2, "zoloft.1", 2, "It helped my low mood & sleep.", ""],
    ],
    "ADR_Mapped": _mapped(
        "ADRs",
        [1, "zoloft.1", 1, "dizzy", "x", "C0012833/dizziness", "", "404640003/dizziness", ""],
        [2, "zoloft.1", 1, "dizzy", "x", "C0012833/dizziness", "", "404640003/dizziness", ""],
    ),
    "WD-Mapped ": [["id", "drug_id", "sentence_id", "WDs", "UMLS1", "UMLS2"]],
    "SSI_Mapped": _mapped(
        "SSI",
        [1, "zoloft.1", 2.0, "mood low", "x", "C0344315/low mood", "C0015672/fatigue", "", ""],
    ),
    "DI_Mapped": _mapped("DIs", [1, "zoloft.9", 7, "sadness", "x", "", "", "", ""]),
}


def _workbook(tmp_path: Path) -> dict[str, str | bytes]:
    write_workbook(tmp_path / "book.xlsx", SHEETS)
    return {"PsyTAR_dataset.xlsx": (tmp_path / "book.xlsx").read_bytes()}


def tables() -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = {}
    for name, rows in SHEETS.items():
        table = io.StringIO()
        csv.writer(table).writerows(rows)
        files[f"{name}.csv"] = table.getvalue()
    return files


def test_workbook(converted: Convert, tmp_path: Path) -> None:
    result = converted("psytar", _workbook(tmp_path), strict=True)
    assert result.brief() == [
        ("Dizzy", ["C0012833"]),
        ("dizzy", ["C0012833"]),
        ("mood low", ["C0344315", "C0015672"]),
        ("sadness", []),
    ]
    assert [record["doc_id"] for record in result.records] == [
        "zoloft.1#1", "zoloft.1#2", "zoloft.9#7 (no sentence)",
    ]  # fmt: skip
    assert result.records[1]["text"] == "It helped my low mood & sleep."
    assert [mention["type"] for mention in result.mentions] == ["ADR", "ADR", "SSI", "DI"]
    assert "start" not in result.mentions[2]
    assert set(result.tally.noted.values()) == {1}
    assert len(result.tally.noted) == 4  # another case, composite, no place, no sentence


def test_sheets_as_tables_say_the_same(converted: Convert, tmp_path: Path) -> None:
    book = converted("psytar-snomed", _workbook(tmp_path), strict=True, file="PsyTAR_dataset.xlsx")
    folder = {f"tables/{name}": table for name, table in tables().items()}
    plain = converted("psytar-snomed", folder, strict=True, file="tables")
    assert plain.records == book.records
    assert plain.brief()[0] == ("Dizzy", ["404640003"])


def test_something_else(converted: Convert) -> None:
    with pytest.raises(MedlinkError, match=r"E165.*not a workbook"):
        converted("psytar", {"PsyTAR_dataset.xlsx": b"PK not really"})
    with pytest.raises(MedlinkError, match=r"E160.*Sentence_Labeling"):
        converted("psytar", {"a/ADR_Mapped.csv": "x,y\n1,2\n"}, file="a")

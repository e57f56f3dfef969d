import pytest

from tests.training.corpora.conftest import Convert

TEXT = "A child with renal dysplasia and short stature."
GOLD = f"11111\n{TEXT}\n13\t28\trenal dysplasia\tHP:0000110\n33\t46\tshort stature\tHP:0004322\n\n"


def test_texts_and_annotations(converted: Convert) -> None:
    files = {
        "Text/11111": TEXT,
        "Annotations/11111": "[13::28]\tHP_0000110 | renal dysplasia\n"
        "[33::46]\tHP_0004322 | short stature\n",
    }
    result = converted("gsc-plus", files, strict=True)
    assert result.brief() == [
        ("renal dysplasia", ["HP:0000110"]),
        ("short stature", ["HP:0004322"]),
    ]
    assert result.records[0]["doc_id"] == "11111"


@pytest.mark.parametrize(
    "line",
    [
        "[13:28]\tHP:0000110\trenal dysplasia\n",
        "13:28\tHP:0000110\trenal dysplasia\n",
        "[13:28]\tHP:0000110\tRenal dysplasia\trenal dysplasia\n",  # with the concept's name
    ],
)
def test_gsc_2024(converted: Convert, line: str) -> None:
    files = {"gsc_2024/Text/11111": TEXT, "gsc_2024/Annotations/11111": line}
    result = converted("gsc-2024", files, strict=True)
    assert result.brief() == [("renal dysplasia", ["HP:0000110"])]
    assert result.mentions[0]["start"] == 13


def test_files_of_phenotagger(converted: Convert) -> None:
    result = converted("gsc-plus", {"GSC/GSCplus_dev_gold.tsv": GOLD}, strict=True)
    assert result.brief() == [
        ("renal dysplasia", ["HP:0000110"]),
        ("short stature", ["HP:0004322"]),
    ]
    assert result.records[0]["split"] == "dev"
    assert result.mentions[0]["type"] == "Phenotype"


def test_annotation_without_a_text(converted: Convert) -> None:
    files = {
        "Text/1": "Short stature.",
        "Annotations/1": "[0::13]\tHP_0004322 | Short stature\nnonsense\n",
        "Annotations/2": "[0::13]\tHP_0004322 | Short stature\n",
    }
    result = converted("gsc-plus", files)
    assert result.tally.faults == {
        "annotation files without a text": 1,
        "lines that are no mention": 1,
    }
    assert len(result.records) == 1

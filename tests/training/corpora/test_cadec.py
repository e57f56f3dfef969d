import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.corpora.conftest import Convert

TEXT = "I feel a bit drowsy, little blurred vision and gastric pains in my knees."
FILES = {
    "cadec/text/ARTHROTEC.1.txt": TEXT,
    "cadec/original/ARTHROTEC.1.ann": "T1\tADR 9 19\tbit drowsy\nT2\tADR 28 42\tblurred vision\n"
    "T3\tSymptom 47 60;64 72\tgastric pains my knees\n#1\tAnnotatorNotes T1\tx\n",
    "cadec/sct/ARTHROTEC.1.ann": "TT1\t271782001 | Drowsy | 9 19\tbit drowsy\n"
    "TT2\t246636008 | Hazy vision | or 111516008 | Blurred vision | 28 42\tblurred vision\n"
    "TT3\t 271681002 | Stomach ache |+ 30989003 | Knee pain |47 60;64 72     "
    "gastric pains my knees\n",
    "cadec/meddra/ARTHROTEC.1.ann": "TT1\t10013649 9 19\tbit drowsy\n"
    "TT2\t10005886/10047513 28 42\tblurred vision\n"
    "TT3\tCONCEPT_LESS 47 60;64 72\tgastric pains my knees\n",
}


def test_snomed(converted: Convert) -> None:
    result = converted("cadec", FILES, strict=True)
    assert result.brief() == [
        ("bit drowsy", ["271782001"]),
        ("blurred vision", ["246636008", "111516008"]),
        ("gastric pains my knees", ["271681002", "30989003"]),
    ]
    assert [mention["type"] for mention in result.mentions] == ["ADR", "ADR", "Symptom"]
    assert [mention.get("composite", False) for mention in result.mentions] == [False, False, True]


def test_meddra(converted: Convert) -> None:
    result = converted("cadec-meddra", FILES, strict=True)
    assert [ids for _, ids in result.brief()] == [["10013649"], ["10005886", "10047513"], []]


def test_lines_and_files_that_do_not_fit(converted: Convert) -> None:
    files = {
        **FILES,
        "cadec/sct/ARTHROTEC.1.ann": "TT1\t271782001 | Drowsy\tbit drowsy\nwhat\n"
        "TT2\t111516008 | Blurred vision | 28 42\tblurred vision\n",
        "cadec/text/LIPITOR.2.txt": "No annotations.",
    }
    result = converted("cadec", files)
    assert result.tally.faults == {
        "lines that are no annotation": 2,
        "texts without an annotation file": 1,
    }
    with pytest.raises(MedlinkError, match=r"E160.*meddra/"):
        converted("cadec-meddra", {"only/text/a.txt": ""}, file="only")

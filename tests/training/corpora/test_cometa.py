import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.corpora.conftest import Convert

HEADER = (
    "ID\tTerm\tGeneral SNOMED Label\tGeneral SNOMED ID\tSpecific SNOMED Label\t"
    "Specific SNOMED ID\tExample\tExample Link\n"
)
TRAIN = (
    HEADER
    + "7\tbelly ache\tPain\t22253000\tAbdominal pain\t21522001\tI have a Belly ache again\tx\n"
    + '8\tzits\tAcne\t11381005\tAcne\t11381005\t"she said ""no"" to it"\tx\n'
)
TEST = HEADER + "9\tcrook\tUnwell\t367391008\tUnwell\t367391008\tfeeling crook today\tx\n"
FILES = {"stratified_general/train.csv": TRAIN, "stratified_general/test.csv": TEST}


def test_general_ids(converted: Convert) -> None:
    result = converted("cometa", FILES, strict=True)
    assert result.brief() == [
        ("crook", ["367391008"]), ("Belly ache", ["22253000"]), ("zits", ["11381005"]),
    ]  # fmt: skip
    assert [record["doc_id"] for record in result.records] == ["test-9", "train-7", "train-8"]
    assert result.records[1]["text"] == "I have a Belly ache again"
    assert result.mentions[1]["start"] == 9


def test_specific_ids_of_a_split(converted: Convert) -> None:
    result = converted("cometa-specific", FILES, "train", strict=True)
    assert result.brief() == [("Belly ache", ["21522001"]), ("zits", ["11381005"])]


def test_example_without_the_term_is_left_out(converted: Convert) -> None:
    result = converted("cometa", FILES, "train")
    assert "text" not in result.records[1]
    assert result.tally.noted["terms that their example does not hold, without it"] == 1


def test_several_divisions_at_once_are_refused(converted: Convert) -> None:
    with pytest.raises(MedlinkError, match=r"E160.*several divisions"):
        converted("cometa", {**FILES, "zeroshot_general/train.csv": TRAIN})


def test_other_columns(converted: Convert) -> None:
    with pytest.raises(MedlinkError, match=r"E165.*'General SNOMED ID'"):
        converted("cometa", {"train.csv": "ID\tTerm\n1\tzits\n"})

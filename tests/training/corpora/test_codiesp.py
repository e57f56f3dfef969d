import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.corpora.conftest import Convert

TEXT = "Dolor en fosa ilíaca y TAC abdominal."
ROWS = (
    "S1\tDIAGNOSTICO\tr10.9\tdolor fosa ilíaca\t0 5;9 20\n"
    "S1\tPROCEDIMIENTO\tbw20zzz\ttac abdominal\t23 36\n"
)
FILES = {
    "v4/train/text_files/S1.txt": TEXT,
    "v4/train/text_files/S2.txt": "Nada.",
    "v4/train/trainX.tsv": ROWS,
    "v4/train/trainD.tsv": "S1\tr10.9\n",
    "v4/dev/text_files/S3.txt": "Tos.",
    "v4/dev/devX.tsv": "S3\tDIAGNOSTICO\tr05\tTos\t0 3\n",
}


def test_codiesp_x(converted: Convert) -> None:
    result = converted("codiesp-x", FILES)
    assert [(record["doc_id"], record["split"]) for record in result.records] == [
        ("S3", "dev"), ("S1", "train"), ("S2", "train"),
    ]  # fmt: skip
    # Words are given in lower case: their place decides.
    assert result.brief() == [
        ("Tos", ["R05"]), ("Dolor fosa ilíaca", ["R10.9"]), ("TAC abdominal", ["BW20ZZZ"]),
    ]  # fmt: skip
    assert not result.tally.faults


def test_codiesp_d_is_the_diagnoses(converted: Convert) -> None:
    result = converted("codiesp-d", FILES, "train", strict=True)
    assert [mention["type"] for mention in result.mentions] == ["DIAGNOSTICO"]
    assert result.tally.dropped == {"procedures, which CodiEsp-D leaves to CodiEsp-P": 1}


def test_text_that_is_missing(converted: Convert) -> None:
    files = {**FILES, "v4/dev/devX.tsv": "S9\tDIAGNOSTICO\tr05\tTos\t0 3\nS3\tx\n"}
    result = converted("codiesp-x", files)
    assert result.tally.faults == {
        "documents without a text file": 1,
        "rows without five cells and places": 1,
    }


def test_no_table(converted: Convert) -> None:
    with pytest.raises(MedlinkError, match=r"E160.*codiesp-x"):
        converted("codiesp-x", {"train/trainD.tsv": "S1\tr10.9\n"})

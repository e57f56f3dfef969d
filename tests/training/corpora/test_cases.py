"""Tables of mentions beside texts: CodiEsp, DisTEMIST, MedProcNER and SympTEMIST."""

import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.corpora.conftest import Convert

CODIESP_TEXT = "Dolor en fosa ilíaca y TAC abdominal."
CODIESP_ROWS = (
    "S1\tDIAGNOSTICO\tr10.9\tdolor fosa ilíaca\t0 5;9 20\n"
    "S1\tPROCEDIMIENTO\tbw20zzz\ttac abdominal\t23 36\n"
)
CODIESP_FILES = {
    "v4/train/text_files/S1.txt": CODIESP_TEXT,
    "v4/train/text_files/S2.txt": "Nada.",
    "v4/train/trainX.tsv": CODIESP_ROWS,
    "v4/train/trainD.tsv": "S1\tr10.9\n",
    "v4/dev/text_files/S3.txt": "Tos.",
    "v4/dev/devX.tsv": "S3\tDIAGNOSTICO\tr05\tTos\t0 3\n",
}
TEXT = "Paciente con fiebre y neumonía bilateral."


def test_codiesp_x(converted: Convert) -> None:
    result = converted("codiesp-x", CODIESP_FILES)
    assert [(record["doc_id"], record["split"]) for record in result.records] == [
        ("S3", "dev"), ("S1", "train"), ("S2", "train"),
    ]  # fmt: skip
    # Words are given in lower case: their place decides.
    assert result.brief() == [
        ("Tos", ["R05"]), ("Dolor fosa ilíaca", ["R10.9"]), ("TAC abdominal", ["BW20ZZZ"]),
    ]  # fmt: skip
    assert not result.tally.faults


def test_codiesp_d_is_the_diagnoses(converted: Convert) -> None:
    result = converted("codiesp-d", CODIESP_FILES, "train", strict=True)
    assert [mention["type"] for mention in result.mentions] == ["DIAGNOSTICO"]
    assert result.tally.dropped == {"procedures, which CodiEsp-D leaves to CodiEsp-P": 1}


def test_text_that_is_missing(converted: Convert) -> None:
    files = {**CODIESP_FILES, "v4/dev/devX.tsv": "S9\tDIAGNOSTICO\tr05\tTos\t0 3\nS3\tx\n"}
    result = converted("codiesp-x", files)
    assert result.tally.faults == {
        "documents without a text file": 1,
        "rows without five cells and places": 1,
    }


def test_no_table(converted: Convert) -> None:
    with pytest.raises(MedlinkError, match=r"E160.*codiesp-x"):
        converted("codiesp-x", {"train/trainD.tsv": "S1\tr10.9\n"})


def test_distemist(converted: Convert) -> None:
    header = "filename\tmark\tlabel\toff0\toff1\tspan\tcode\tsemantic_rel\n"
    table = "training/subtrack2_linking/distemist_subtrack2_training{}_linking.tsv"
    files = {
        "training/text_files/es-1.txt": TEXT,
        "training/text_files/es-2.txt": "Asma.",
        "training/text_files/es-3.txt": "No enlazado.",
        table.format(1): header
        + "es-1\tT1\tENFERMEDAD\t22\t40\tneumonía bilateral\t407671000\tEXACT\n",
        table.format(2): header + "es-2\tT1\tENFERMEDAD\t0\t4\tAsma\t195967001+233678006\tNARROW\n",
    }
    result = converted("distemist", files, "train", strict=True)
    assert [(record["doc_id"], record["split"]) for record in result.records] == [
        ("es-1", "train1"), ("es-2", "train2"),
    ]  # fmt: skip
    assert result.brief() == [
        ("neumonía bilateral", ["407671000"]), ("Asma", ["195967001", "233678006"]),
    ]  # fmt: skip
    assert result.tally.dropped == {"text files that no table speaks of": 1}


def test_medprocner(converted: Convert) -> None:
    header = (
        "filename\tlabel\tstart_span\tend_span\ttext\tcode\tsem_rel\tis_abbrev\tis_composite\t"
        "need_context\n"
    )
    files = {
        "medprocner_train/txt/es-1.txt": "TAC y biopsia.",
        "medprocner_train/tsv/medprocner_tsv_train_subtask1.tsv": "filename\tann_id\n",
        "medprocner_train/tsv/medprocner_tsv_train_subtask2.tsv": header
        + "es-1\tPROCEDIMIENTO\t0\t3\tTAC\tNO_CODE\tNO_CODE\tTrue\tFalse\tFalse\n"
        + "es-1\tPROCEDIMIENTO\t0\t13\tTAC y biopsia\t77477000+86273004\tEXACT\tT\tTrue\tF\n",
    }
    result = converted("medprocner", files, strict=True)
    assert result.brief() == [("TAC", []), ("TAC y biopsia", ["77477000", "86273004"])]
    assert result.mentions[1]["composite"] is True
    assert result.records[0]["split"] == "train"


def test_symptemist_takes_the_fullest_table(converted: Convert) -> None:
    header = "filename\tlabel\tspan_ini\tspan_end\ttext\tcode\tsem_rel\n"
    row = "es-1\tSINTOMA\t13\t19\tfiebre\t386661006\tEXACT\n"
    folder = "symptemist_train/subtask2-linking/symptemist_tsv_train_subtask2"
    more = "es-1\tSINTOMA\t22\t30\tneumonía\t233604007\tEXACT\n"
    files = {
        "symptemist_train/subtask1-ner/txt/es-1.txt": TEXT,
        f"{folder}.tsv": header + row,
        f"{folder}_complete.tsv": header + row,
        f"{folder}_complete+COMPOSITE.tsv": header + row + more,
        "symptemist_train/subtask3-experimental_multilingual/symptemist_task3_en.tsv": header,
    }
    result = converted("symptemist", files, strict=True)
    assert result.brief() == [("fiebre", ["386661006"]), ("neumonía", ["233604007"])]


def test_rows_that_do_not_fit(converted: Convert) -> None:
    header = "filename\tlabel\tspan_ini\tspan_end\ttext\tcode\tsem_rel\n"
    rows = (
        "es-1\tSINTOMA\t14\t20\tfiebre\t386661006\tEXACT\n"
        "es-1\tSINTOMA\t13\t900\tfiebre\t386661006\tEXACT\n"
        "es-1\tSINTOMA\tx\t19\tfiebre\t386661006\tEXACT\n"
        "es-1\tSINTOMA\n"
        "es-9\tSINTOMA\t13\t19\tfiebre\t386661006\tEXACT\n"
    )
    files = {
        "symptemist_test/txt/es-1.txt": TEXT,
        "symptemist_test/tsv/symptemist_tsv_test_subtask2.tsv": header + rows,
    }
    result = converted("symptemist", files)
    assert result.brief() == [("fiebre", ["386661006"])] * 2
    assert not any("start" in mention for mention in result.mentions)
    assert result.tally.faults == {
        "mentions whose offsets point at something else, kept without offsets": 1,
        "mentions whose offsets lie outside the text, kept without offsets": 1,
        "rows without a file and offsets": 1,
        "rows with too few cells": 1,
        "documents without a text file": 1,
    }

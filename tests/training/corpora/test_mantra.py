import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.corpora.conftest import Convert

TEXT = "Toux & fièvre chez l'enfant"
XML = """\
<?xml version="1.0" encoding="UTF-8"?>
<Corpus lang="fr" source="Medline"><document id="Medline_fr.d7"><unit id="Medline_fr.d7.u1">
<text>Toux &amp; fièvre chez l'enfant</text>
<e cui="C0010200" grp="DISO" id="e1" len="4" offset="0" type="T184">Toux</e>
<e cui="C0015967" grp="DISO" id="e2" len="6" offset="7" type="T184">fièvre</e></unit></document>
<document id="Medline_fr.d8"><unit id="Medline_fr.d8.u1"><text>Une étude.</text></unit></document>
</Corpus>
"""


def test_xml(converted: Convert) -> None:
    result = converted("mantra", {"GSC-v1.1/Medline_GSC_fr_man.xml": XML}, strict=True)
    assert result.brief() == [("Toux", ["C0010200"]), ("fièvre", ["C0015967"])]
    assert [record["doc_id"] for record in result.records] == [
        "fr-Medline_fr.d7.u1", "fr-Medline_fr.d8.u1",
    ]  # fmt: skip
    assert result.records[0]["lang"] == "fr"
    assert result.mentions[0]["type"] == "DISO"


def test_brat_in_two_ways(converted: Convert) -> None:
    files = {
        "Mantra-GSC/French/Medline_EN_FR_ec22-cui-best_man/d7.txt": TEXT,
        "Mantra-GSC/French/Medline_EN_FR_ec22-cui-best_man/d7.ann": "T1\tDISO 0 4\tToux\n"
        "#1\tAnnotatorNotes T1\t['C0010200', \"Cough's\", 'Sign or Symptom', 'DISO']\n"
        "T2\tC0015967 7 13\tfièvre\n"
        "#2\tAnnotatorNotes T2\t['Fever', 'Sign or Symptom', 'DISO']\n",
    }
    result = converted("mantra", files, strict=True)
    assert result.brief() == [("Toux", ["C0010200"]), ("fièvre", ["C0015967"])]
    assert {mention["type"] for mention in result.mentions} == {"DISO"}
    assert result.records[0]["lang"] == "fr"


def test_kinds_of_texts_number_their_files_alike(converted: Convert) -> None:
    files: dict[str, str | bytes] = {}
    for kind, text in (("EMEA", "Toux"), ("Medline_EN_FR", "Rhume"), ("Patent", "Grippe")):
        place = f"Mantra-GSC/French/{kind}_ec22-cui-best_man/d7"
        files |= {f"{place}.txt": text, f"{place}.ann": f"T1\tC0010200 0 {len(text)}\t{text}\n"}
    result = converted("mantra", files, strict=True)
    assert [(record["doc_id"], record["text"]) for record in result.records] == [
        ("fr-EMEA-d7", "Toux"), ("fr-Medline-d7", "Rhume"), ("fr-Patent-d7", "Grippe"),
    ]  # fmt: skip


def test_english_texts_come_once(converted: Convert) -> None:
    annotation = "T1\tDISO 0 5\tCough\n#1\tAnnotatorNotes T1\t['C0010200', 'Cough', 'x', 'DISO']\n"
    files: dict[str, str | bytes] = {}
    for other in ("FR", "DE", "ES"):
        folder = f"English/Medline_EN_{other}_ec22-cui-best_man"
        files |= {f"{folder}/d1.txt": "Cough.", f"{folder}/d1.ann": annotation}
    changed = annotation.replace("C0010200", "C0015967")
    files["English/Medline_EN_ES_ec22-cui-best_man/d1.ann"] = changed
    result = converted("mantra", files)
    assert len(result.records) == 1
    assert result.tally.dropped == {"documents that had come before, word for word": 1}
    assert result.tally.faults == {"documents with the id of another one, dropped": 1}
    with pytest.raises(MedlinkError, match=r"E403.*id of another one"):
        converted("mantra", files, strict=True)

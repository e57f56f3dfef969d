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


def test_kinds_of_texts_are_splits(converted: Convert) -> None:
    files = {
        f"{kind}_GSC_fr_man.xml": XML.replace("Medline", kind)
        for kind in ("EMEA", "Medline", "Patent")
    }
    result = converted("mantra", files, strict=True)
    assert {record["split"] for record in result.records} == {"emea", "medline", "patent"}
    assert len(result.records) == 6


def test_a_text_that_comes_again_is_left_out(converted: Convert) -> None:
    files = {"Medline_GSC_fr_man.xml": XML, "more/Medline_GSC_fr_man.xml": XML}
    result = converted("mantra", files)
    assert len(result.records) == 2
    assert result.tally.dropped == {"documents that had come before, word for word": 2}
    files["more/Medline_GSC_fr_man.xml"] = XML.replace("C0010200", "C0015967")
    with pytest.raises(MedlinkError, match=r"E403.*id of another one"):
        converted("mantra", files, strict=True)

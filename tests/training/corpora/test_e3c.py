import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.corpora.conftest import Convert

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
    'xmlns:cas="http:///uima/cas.ecore" xmlns:custom="http:///webanno/custom.ecore" '
    'xmi:version="2.0">'
)
XMI = (
    HEAD
    + """
<custom:CLINENTITY xmi:id="1" sofa="1" begin="9" end="14" entityID="C0003123"/>
<custom:CLINENTITY xmi:id="2" sofa="1" begin="21" end="25" entityID="C0010200"
 discontinuous="true"/>
<custom:CLINENTITY xmi:id="3" sofa="1" begin="26" end="29"/>
<custom:EVENT xmi:id="4" sofa="1" begin="0" end="2" polarity="POS"/>
<custom:METADATA xmi:id="5" sofa="1" begin="0" end="0" docLanguage="{lang}" docName="{name}"/>
<cas:Sofa xmi:id="6" sofaNum="1" sofaID="_InitialView" mimeType="text"
 sofaString="No &#128512;.&#13;&#10;Fever &amp; mild\tcough Zzz."/>
</xmi:XMI>
"""
)
# Offsets as UIMA counts them: the face is two units of UTF-16.
TEXT = "No 😀.\r\nFever & mild cough Zzz."


def xmi(lang: str, name: str) -> str:
    units = [TEXT.encode("utf-16-le").find(word.encode("utf-16-le")) // 2 for word in
             ("Fever", "cough", "Zzz")]  # fmt: skip
    places = {"9": units[0], "14": units[0] + 5, "21": units[1], "25": units[1] + 5,
              "26": units[2], "29": units[2] + 3}  # fmt: skip
    text = XMI.replace("{lang}", lang).replace("{name}", name)
    for old, new in places.items():
        for side in ("begin", "end"):
            text = text.replace(f'{side}="{old}"', f'{side}="@{new}"')
    return text.replace('"@', '"')


def test_xmi(converted: Convert) -> None:
    files = {
        "data_annotation/English/layer1/EN100001.xml": xmi("en", "EN100001"),
        "data_annotation/Basque/layer2/EU100003.xml": xmi("", ""),
    }
    result = converted("e3c", files, strict=True)
    assert [(r["doc_id"], r["lang"], r["split"]) for r in result.records] == [
        ("EU100003", "eu", "layer2"), ("EN100001", "en", "layer1"),
    ]  # fmt: skip
    assert result.records[0]["text"] == TEXT
    assert result.brief()[:3] == [("Fever", ["C0003123"]), ("cough", ["C0010200"]), ("Zzz", [])]
    assert sum(result.tally.noted.values()) == 2


def test_file_without_a_text(converted: Convert) -> None:
    files = {"layer1/a.xml": xmi("en", "a"), "layer1/b.xml": HEAD + "</xmi:XMI>"}
    result = converted("e3c", files)
    assert result.tally.faults == {"files without a text": 1}


def test_entities_are_refused(converted: Convert) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    text = xmi("en", "a").replace("?><xmi", f"?>{bomb}<xmi")
    with pytest.raises(MedlinkError, match="E165"):
        converted("e3c", {"layer1/a.xml": text})

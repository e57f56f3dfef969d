"""ClaML, and the tabular list of ICD-10-CM: invented classes in the form of their publishers."""

from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import get_reader, read
from spacy_medlink.types import Concept

LABEL = '<Rubric kind="{}"><Label xml:lang="en" xml:space="default">{}</Label></Rubric>'
PREFERRED = LABEL.format("preferred", "{}")


def _class(code: str, label: str, above: str = "", kind: str = "category", more: str = "") -> str:
    super_class = f'<SuperClass code="{above}"/>' if above else ""
    rubric = PREFERRED.format(label) if label else ""
    return f'<Class code="{code}" kind="{kind}">{super_class}{more}{rubric}</Class>\n'


def _ending(modifier: str, code: str, label: str, more: str = "") -> str:
    rubric = f'{more}<SuperClass code="{modifier}"/>{PREFERRED.format(label)}'
    return f'<ModifierClass modifier="{modifier}" code="{code}">{rubric}</ModifierClass>\n'


NOT_AFTER = '<Meta name="excludeOnPrecedingModifier" value="S4 .7"/>'
SWEET = (
    _class("IV", "Sweet diseases", kind="chapter", more='<SubClass code="E10-E14"/>')
    + _class("E10-E14", "Honey", "IV", "block", '<ModifiedBy code="S5"/><SubClass code="E10"/>')
    + _class("E10", "Honey disease", "E10-E14", more='<ModifiedBy code="S4"/>')
    + _class("E11", "Sugar disease", "E10-E14", more='<ExcludeModifier code="S5"/><ModifiedBy '
             'code="S4" all="false"><ValidModifierClass code=".0"/></ModifiedBy>')
    + _class("E12", "Syrup disease", "E10-E14", more='<SubClass code="E12.1"/>')
    + _class("E12.1", "Syrup", "E12")
)  # fmt: skip
ENDINGS = (
    _ending("S4", ".0", "With coma") + _ending("S4", ".7", "With several")
    + _ending("S5", "0", "Not derailed", NOT_AFTER) + _ending("S5", "1", "Derailed")
)  # fmt: skip
CLAML = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE ClaML SYSTEM "ClaML.dtd">\n'
    '<ClaML version="2.0.0">\n{}</ClaML>\n'
)
TITLE = '<Title name="{}" date="2026-01-01" version="2026">A classification</Title>\n'


def _read(path: Path, text: str, encoding: str = "utf-8", **options: str) -> dict[str, Concept]:
    path.write_bytes(text.encode(encoding))
    records = list(get_reader("icd")(path, None, **options))
    concepts = {record.id: record for record in records if isinstance(record, Concept)}
    assert len(concepts) == len(records)
    return concepts


@pytest.mark.parametrize("order", [SWEET + ENDINGS, ENDINGS + SWEET])
def test_modifiers_make_classes(tmp_path, order):
    text = CLAML.format(TITLE.format("ICD-10-GM") + order)
    concepts = _read(tmp_path / "x.xml", text)
    names = {id: concept.name for id, concept in concepts.items()}
    assert names == {
        "IV": "Sweet diseases", "E10-E14": "Honey", "E10": "Honey disease",
        "E10.0": "Honey disease: With coma", "E10.00": "Honey disease: With coma: Not derailed",
        "E10.01": "Honey disease: With coma: Derailed", "E10.7": "Honey disease: With several",
        "E10.71": "Honey disease: With several: Derailed", "E11": "Sugar disease",
        "E11.0": "Sugar disease: With coma", "E12": "Syrup disease", "E12.1": "Syrup",
        "E12.10": "Syrup: Not derailed", "E12.11": "Syrup: Derailed",
    }  # fmt: skip
    assert concepts["E10.0"].names[1].text == "Honey disease with coma"
    assert concepts["E10.01"].parents == ("E10.0",)
    assert concepts["E10.01"].codes == {"ICD10GM": ("E10.01",)}
    assert concepts["E10-E14"].types == ("block",)


def test_a_class_that_is_there_is_not_made(tmp_path):
    text = CLAML.format(SWEET + ENDINGS + _class("E11.0", "Sugar coma", "E11"))
    assert _read(tmp_path / "icd10.xml", text)["E11.0"].name == "Sugar coma"


@pytest.mark.parametrize(
    "title, code, vocabulary",
    [("ICD-10", "E11", "ICD10"), ("ICD-10-GM", "E11", "ICD10GM"), ("ICD-O-3", "8000/0", "ICDO3"),
     ("CIM-10", "E11", "ICD10"), ("OPS", "1-100", "OPS"), ("", "E11", "ICD10")],
)  # fmt: skip
@pytest.mark.parametrize("form", ["plain", "BOM, CRLF", "prefix", "Latin-1"])
def test_vocabularies_and_forms(tmp_path, title, code, vocabulary, form):
    text = CLAML.format((TITLE.format(title) if title else "") + _class(code, "Süß"))
    encoding = "utf-8"
    if form == "BOM, CRLF":
        text = "\ufeff" + text.replace("\n", "\r\n")
    elif form == "prefix":
        text = text.replace("</", "</c:").replace("<", "<c:").replace("<c:/c:", "</c:")
        text = (
            text.replace("<c:?", "<?")
            .replace("<c:!", "<!")
            .replace("<c:ClaML", '<c:ClaML xmlns:c="x"')
        )
    elif form == "Latin-1":
        text, encoding = text.replace("UTF-8", "ISO-8859-1"), "iso-8859-1"
    concept = _read(tmp_path / "x.xml", text, encoding)[code]
    assert (concept.name, concept.codes) == ("Süß", {vocabulary: (code,)})


def test_the_language(tmp_path):
    text = CLAML.format('<Meta name="lang" value="de"/>' + _class("E11", "Süß")).replace(
        ' xml:lang="en"', ""
    )
    assert _read(tmp_path / "x.xml", text)["E11"].names[0].lang == "de"
    assert _read(tmp_path / "x.xml", text, lang="fr")["E11"].names[0].lang == "fr"


@pytest.mark.parametrize(
    "text, problem",
    [
        ("<html><body/></html>", "E160.*root 'html'"),
        (CLAML.format("").replace('"ClaML.dtd"', '"c" [<!ENTITY a "b">]'), "E105.*entity 'a'"),
    ],
)
def test_another_document_is_refused(tmp_path, text, problem):
    with pytest.raises(MedlinkError, match=problem):
        _read(tmp_path / "icd10.xml", text)


def test_all_codes_of_a_release() -> None:
    package = pytest.importorskip("simple_icd_10_cm", reason="needs `simple-icd-10-cm`")
    data = Path(package.__file__).parent / "data"
    ids = {record.id.replace(".", "") for record in read("icd", next(data.glob("*.xml")))}
    listed = {*next(data.glob("*.txt")).read_text().split()}
    chapters = {code for code in listed if code.isdecimal()}  # ours have their range as code
    assert listed - chapters <= ids
    assert len(ids) == len(listed)

"""ClaML, and the tabular list of ICD-10-CM: invented classes in the form of their publishers."""

from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import get_reader, read
from spacy_medlink.types import BadLine, Concept

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
    "label, name",
    [
        ("Honey <Reference class='A00'>A00</Reference>", "Honey"),
        (
            "Honey (<Reference class='A00'>A00</Reference>, <Reference>B00</Reference>†) x",
            "Honey x",
        ),
        ("<Fragment type='item'>Honey</Fragment><Fragment>foot</Fragment>", "Honey foot"),
        ("CO<Term class='subscript'>2</Term> honey", "CO2 honey"),
        ("<Para>Inclusions: honey</Para>\n<List><ListItem>foot</ListItem></List>", "honey foot"),
        ("Honey &amp; foot", "Honey & foot"),
    ],
)
def test_labels(tmp_path, label, name):
    rubrics = LABEL.format("inclusion", label) + LABEL.format("exclusion", "no name")
    more = rubrics + LABEL.format("definition", "What it is.") + LABEL.format("text", "no name")
    concept = _read(tmp_path / "icf.xml", CLAML.format(TITLE.format("ICF") + _class(
        "b100", "Sweetness", more=more)))["b100"]  # fmt: skip
    assert [(each.text, each.tty, each.source) for each in concept.names] == [
        ("Sweetness", "PT", "ICF"), (name, "SY", "ICF"),
    ]  # fmt: skip
    assert concept.definition == "What it is."


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
        (CLAML.format(_class("", "x")), "E105.*line 4.*empty code"),
        (CLAML.format(_class("E11", "x") + _class("E11", "y")), "E105.*line 5.*'E11' again"),
        (CLAML.format(_class("E11", "x") + _class("E12", "")), "E105.*line 5.*without a label"),
        (CLAML.format(_class("E11", "x"))[:-9], "E105.*not well-formed"),
        (CLAML.format("").replace('"ClaML.dtd"', '"c" [<!ENTITY a "b">]'), "E105.*entity 'a'"),
    ],
)
def test_what_is_wrong_has_a_line(tmp_path, text, problem):
    with pytest.raises(MedlinkError, match=problem):
        _read(tmp_path / "icd10.xml", text)


def test_bad_classes_can_be_skipped(tmp_path):
    bad: list[BadLine] = []
    path = tmp_path / "icd10.xml"
    path.write_text(CLAML.format(_class("", "x") + _class("E11", "Sweet")))
    assert [record.id for record in read("icd", path, bad)] == ["E11"]
    assert [each.line for each in bad] == [4]


TABULAR = """<?xml version="1.0" encoding="utf-8"?>
<ICD10CM.tabular>
  <version>2026</version>
  <chapter>
    <name>19</name>
    <desc>Sweet injuries (S00-T88)</desc>
    <section id="S00-S09">
      <desc>Honey on the head (S00-S09)</desc>
      <diag>
        <name>S06</name>
        <desc>Honey in the head</desc>
        <includes><note>sweet head</note></includes>
        <excludes1><note>no name</note></excludes1>
        <sevenChrDef>
          <extension char="A">initial encounter</extension>
          <extension char="D">later encounter</extension>
        </sevenChrDef>
        <notes><note>7th characters D and S do not apply to codes in category S06 with 6th \
character 7 - x, or 8 - y.</note></notes>
        <diag><name>S06.0</name><desc>Honey, here</desc>
          <inclusionTerm><note>Honey NOS</note></inclusionTerm></diag>
        <diag placeholder="true"><name>S06.1X</name><desc>Honey, there</desc>
          <diag><name>S06.1X7</name><desc>Honey, everywhere</desc></diag></diag>
      </diag>
    </section>
    <section id="T07"><desc>Sugar (T07)</desc>
      <diag><name>T07</name><desc>Sugar</desc></diag></section>
  </chapter>
</ICD10CM.tabular>
"""


def test_the_tabular_list(tmp_path):
    concepts = _read(tmp_path / "icd10cm-tabular.xml", TABULAR)
    assert {id: (each.name, each.types, each.parents) for id, each in concepts.items()} == {
        "S00-T88": ("Sweet injuries", ("chapter",), ()),
        "S00-S09": ("Honey on the head", ("block",), ("S00-T88",)),
        "S06": ("Honey in the head", ("category",), ("S00-S09",)),
        "S06.0": ("Honey, here", ("category",), ("S06",)),
        "S06.0XXA": ("Honey, here, initial encounter", ("code",), ("S06.0",)),
        "S06.0XXD": ("Honey, here, later encounter", ("code",), ("S06.0",)),
        "S06.1X": ("Honey, there", ("category",), ("S06",)),
        "S06.1X7": ("Honey, everywhere", ("category",), ("S06.1X",)),
        "S06.1X7A": ("Honey, everywhere, initial encounter", ("code",), ("S06.1X7",)),
        "T07": ("Sugar", ("code",), ("S00-T88",)),
    }
    assert [name.text for name in concepts["S06"].names] == ["Honey in the head", "sweet head"]
    assert [name.text for name in concepts["S06.0"].names] == ["Honey, here", "Honey NOS"]
    assert concepts["S06.0XXA"].codes == {"ICD10CM": ("S06.0XXA",)}


def test_a_code_of_the_tabular_list_without_a_description(tmp_path):
    with pytest.raises(MedlinkError, match=r"E105.*line 4.*'S06.0' without a description"):
        _read(tmp_path / "x.xml", TABULAR.replace("<desc>Honey, here</desc>", ""))


def test_all_codes_of_a_release() -> None:
    package = pytest.importorskip("simple_icd_10_cm", reason="needs `simple-icd-10-cm`")
    data = Path(package.__file__).parent / "data"
    ids = {record.id.replace(".", "") for record in read("icd", next(data.glob("*.xml")))}
    listed = {*next(data.glob("*.txt")).read_text().split()}
    chapters = {code for code in listed if code.isdecimal()}  # ours have their range as code
    assert listed - chapters <= ids
    assert len(ids) == len(listed)

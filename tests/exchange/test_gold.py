"""Gold in the formats of other tools: invented documents, in the form that each tool writes."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.exchange.gold import KINDS
from spacy_medlink.exchange.tools import TOOLS
from spacy_medlink.kb.gold import GoldDocument, read_gold

TEXT = "Fever 🤒 and asthma, no HTN."
FEVER, ASTHMA, HTN = ("Fever", ("HP:0001945",)), ("asthma", ("C0004096",)), ("HTN", ())
ALL = [FEVER, ASTHMA, HTN]
NAMED = '<{0}:Type xmi:id="{1}" sofa="1" begin="{2}" end="{3}" value="DISO" {4}/>'
HP = "http://purl.obolibrary.org/obo/HP_0001945"


def _xmi(*annotations: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
        'xmlns:cas="http:///uima/cas.ecore" xmlns:type="http:///custom.ecore" xmi:version="2.0">\n'
        '<cas:NULL xmi:id="0"/><type:Token xmi:id="9" sofa="1" begin="0" end="5"/>\n'
        f'{"".join(annotations)}<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" '
        f'sofaString="{TEXT}"/><cas:View sofa="1" members="2 3"/></xmi:XMI>'
    )


def _cas(begin: str = "begin", as_map: bool = False) -> dict[str, Any]:
    end = begin.replace("begin", "end")
    structures = [
        {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": TEXT},
        {"%ID": 2, "%TYPE": "ner.type.NamedEntity", begin: 0, end: 5, "value": "DISO",
         "identifier": HP},
        {"%ID": 3, "%TYPE": "custom.Span", begin: 13, end: 19, "label": "DISO", "CUI": "C0004096"},
        {"%ID": 4, "%TYPE": "segmentation.type.Sentence", begin: 0, end: 28},
    ]  # fmt: skip
    return {"%TYPES": {}, "%FEATURE_STRUCTURES": (
        {str(each["%ID"]): each for each in structures} if as_map else structures)}  # fmt: skip


WEBANNO = """#FORMAT=WebAnno TSV 3.3
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|PosValue
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value


#Text=Fever 🤒 and asthma
1-1\t0-5\tFever\tNOUN\thttp://purl.obolibrary.org/obo/HP\\_0001945[1]\tDISO[1]\t
1-2\t6-8\t🤒\t_\t_\t_\t
1-3\t9-12\tand\tCONJ\t_\t_\t
1-4\t13-19\tasthma\tNOUN\tC0004096\tDISO\t

#Text=no HTN.
2-1\t20-22\tno\t_\t_\t_\t
2-2\t23-26\tHTN\t_\t_\t_\t
"""
BRAT = "T1\tDISO 0 5\tFever\nT2\tDISO 12 18\tasthma\nT3\tDISO 23 26\tHTN\nA1\tNegated T3\n{}"
REFERENCES = "N1\tReference T1 HPO:HP:0001945\tFever\nN2\tReference T2 C0004096\tAsthma\n"
NOTES = (
    "#1\tAnnotatorNotes T1\tHP:0001945\n#2\tAnnotatorNotes T2\tCUI: C0004096, asthma\n"
    "#3\tAnnotatorNotes T3\tsure, 2\n"
)
BIOC = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>x</source><document><id>n1</id><passage><offset>0</offset><text>{}</text>
{}</passage></document></collection>"""
ANNOTATION = (
    '<annotation id="{0}"><infon key="type">DISO</infon><infon key="identifier">{1}</infon>'
    '<location offset="{2}" length="{3}"/><text>{4}</text></annotation>'
)
PUBTATOR = (
    "7|t|Fever 🤒 and\n7|a|asthma, no HTN.\n7\t0\t5\tFever\tDISO\tHP:0001945\n"
    "7\t12\t18\tasthma\tDISO\tC0004096\n7\t23\t26\tHTN\tDISO\t-\n"
)
MEDTATOR = (
    '<?xml version="1.0" encoding="UTF-8" ?>\n<TASK>\n<TEXT><![CDATA[{}]]></TEXT>\n<TAGS>\n{}'
    '<DOC id="D0" spans="-1~-1" text=""/><REL id="R0" fromID="S0" toID="S1"/></TAGS>\n</TASK>'
)
CONLL = (
    "-DOCSTART- -X-\n\nFever\tB-DISO\tHP:0001945\n🤒\tO\t_\nand\tO\t_\n"
    "asthma\tB-DISO\tC0004096\n,\tO\t_\nno\tO\t_\n\nHTN\tB-DISO\tNIL\n"
)


def _bioc_json(**facts: Any) -> dict[str, Any]:
    annotations = [
        {"id": "1", "infons": {"type": "DISO", "identifier": id}, "text": said,
         "locations": [{"offset": start, "length": len(said)}]}
        for id, said, start in (("HP:0001945", "Fever", 0), ("C0004096", "asthma", 12),
                                ("-", "HTN", 23))
    ]  # fmt: skip
    return {
        "id": "n1",
        "passages": [{"offset": 0, "text": TEXT, "annotations": annotations}],
        **facts,
    }


def _bigbio() -> dict[str, Any]:
    entities = [
        {"id": "1", "type": "DISO", "text": [said], "offsets": [[start, start + len(said)]],
         "normalized": [{"db_name": name, "db_id": id}] if id else []}
        for name, id, said, start in (("HPO", "HP:0001945", "Fever", 0),
                                      ("UMLS", "C0004096", "asthma", 12), ("", "", "HTN", 23))
    ]  # fmt: skip
    passages = [{"id": "p", "type": "title", "text": [TEXT], "offsets": [[0, len(TEXT)]]}]
    return {"id": "0", "document_id": "n1", "passages": passages, "entities": entities,
            "events": [], "coreferences": [], "relations": []}  # fmt: skip


def _medcat(**facts: Any) -> dict[str, Any]:
    entities = {
        "0": {"cui": "HP:0001945", "start": 0, "end": 5, "source_value": "Fever", "acc": 1.0,
              "type_ids": ["T184"], "meta_anns": {}},
        "1": {"cui": "C0004096", "start": 12, "end": 18, "detected_name": "asthma"},
    }  # fmt: skip
    return {"entities": entities, "tokens": [], **facts}


DOCCANO = {"id": 1, "text": TEXT, "label": [[0, 5, "HP:0001945"], [12, 18, "C0004096"]]}
TRAINING = {"projects": [{"documents": [{"name": "n1", "text": TEXT, "annotations": [
    {"start": 0, "end": 5, "value": "Fever", "cui": "HP:0001945"},
    {"start": 12, "end": 18, "value": "asthma", "cui": "C0004096"}]}]}]}  # fmt: skip
TWO, SAID = ALL[:2], [("Fever", ("HP:0001945",)), ("asthma", ("UMLS:C0004096",)), HTN]
CTAKES = _xmi(
    NAMED.format("type", 2, 0, 5, 'ontologyConceptArr="5"'),
    NAMED.format("type", 3, 13, 19, 'ontologyConceptArr="6"'),
    '<type:UmlsConcept xmi:id="5" codingScheme="SNOMEDCT_US" code="386661006" cui="HP:0001945"/>',
    '<cas:FSArray xmi:id="6" elements="7"/><type:UmlsConcept xmi:id="7" cui="C0004096"/>',
)
FILES: dict[str, tuple[str, Any, list[Any]]] = {
    "PubTator": ("x.txt", PUBTATOR, ALL),
    "BioC": ("x.xml", BIOC.format(TEXT, "".join(
        ANNOTATION.format(*one) for one in ((1, "HP:0001945", 0, 5, "Fever"),
                                            (2, "C0004096", 12, 6, "asthma"),
                                            (3, "-", 23, 3, "HTN"))
    )), ALL),
    "XMI of UIMA": ("x.xmi", _xmi(NAMED.format("type", 2, 0, 5, f'identifier="{HP}"'),
                                  NAMED.format("type", 3, 13, 19, 'identifier="C0004096"')), TWO),
    "cTAKES": ("x.xmi", CTAKES, TWO),
    "a CAS of UIMA in JSON": ("x.json", _cas(), TWO),
    "a CAS of anchors, as a map": ("x.json", _cas("^begin", as_map=True), TWO),
    "WebAnno TSV": ("x.tsv", WEBANNO, TWO),
    "MedTator": ("x.xml", MEDTATOR.format(
        TEXT, '<SYM id="S0" spans="0~5" text="Fever" hpo="HP:0001945"/>'
              '<SYM id="S1" spans="13~19" text="asthma" umls_code="C0004096" n="4"/>'), TWO),
    "brat standoff": ("x.ann", BRAT.format(REFERENCES), ALL),
    "brat, notes": ("x.ann", BRAT.format(NOTES), ALL),
    "Mantra": ("x.ann", "T1\tHP:0001945 0 5\tFever\n#1\tAnnotatorNotes T1\t{'cui': 'x y'}\n"
                        "T2\tC0004096 12 18\tasthma\n", TWO),
    "CoNLL": ("x.conll", CONLL, ALL),
    "CoNLL, ids as tags": (
        "x.bio", "Fever B-HP:0001945\n🤒 O\nand O\nasthma S-DISO|C0004096\n", TWO),
    "doccano": ("x.jsonl", DOCCANO, TWO),
    "doccano, relations": ("x.jsonl", {"text": TEXT, "entities": [
        {"id": 1, "label": "HP:0001945", "start_offset": 0, "end_offset": 5},
        {"id": 2, "label": "C0004096", "start_offset": 12, "end_offset": 18}],
        "relations": []}, TWO),
    "BioC in JSON": ("x.json", {"source": "x", "documents": [_bioc_json()]}, ALL),
    "BioC in JSON, PubTator 3": ("x.json", {"PubTator3": [_bioc_json(_id="n1|None")]}, ALL),
    "BioC in lines": ("x.jsonl", _bioc_json(), ALL),
    "BigBIO": ("x.jsonl", _bigbio(), SAID),
    "MedCATtrainer": ("x.json", TRAINING, TWO),
    "MedCAT's training data": ("x.json", TRAINING["projects"][0], TWO),
    "what MedCAT finds": ("x.json", _medcat(text=TEXT), TWO),
    "what MedCAT finds, by ids": ("x.json", {"n1": _medcat()}, TWO),
    "PubAnnotation": ("x.json", {"text": TEXT, "denotations": [
        {"id": "T1", "span": {"begin": 0, "end": 5}, "obj": "DISO"},
        {"id": "T2", "span": {"begin": 12, "end": 18}, "obj": "C0004096"}],
        "attributes": [{"subj": "T1", "pred": "concept", "obj": "HP:0001945"}]}, TWO),
    "a Doc of spaCy in JSON": ("x.jsonl", {"text": TEXT, "ents": [
        {"start": 0, "end": 5, "label": "DISO", "kb_id": "HP:0001945"},
        {"start": 12, "end": 18, "kb_id": "C0004096"}, {"start": 23, "end": 26}],
        "tokens": []}, TWO),
}  # fmt: skip


def _write(folder: Path, name: str, content: Any, form: str = "plain") -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    if form == "BOM, CRLF":
        text = "\ufeff" + text.replace("\n", "\r\n")
    path = folder / (f"{name}.gz" if form == "gzip" else name)
    path.write_bytes(gzip.compress(text.encode()) if form == "gzip" else text.encode())
    if name.endswith(".ann"):
        path.with_suffix(".txt").write_text(TEXT, encoding="utf-8")
    return path


def _said(document: GoldDocument) -> list[tuple[str, tuple[str, ...]]]:
    return [(mention.text, mention.ids) for mention in document.mentions]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("form", ["plain", "BOM, CRLF", "gzip", "directory"])
def test_one_function_reads_each(tmp_path: Path, name: str, form: str) -> None:
    file, content, expected = FILES[name]
    if form == "gzip" and file.endswith(".ann"):
        pytest.skip("brat has no packed files")
    path = _write(tmp_path, file, content, form)
    if form == "directory":
        path = tmp_path
        (path / "annotation.conf").write_text("[entities]\nDISO\n")
        (path / "TypeSystem.xml").write_text("<typeSystemDescription/>")
        (path / "project.zip").write_bytes(b"PK\x03\x04")
    (document,) = read_gold(path, strict=True)
    assert _said(document) == expected
    if document.text is not None:
        assert all(0 <= mention.start < mention.end for mention in document.mentions)


def test_all_formats_are_tried() -> None:
    missing = {each.name for each in (*KINDS, *TOOLS)} - {*FILES}
    # These are tried where they are written, and in tests/kb/test_gold_exports.py.
    assert missing == {"FHIR", "a phenopacket", "NOTE_NLP of OMOP", "Label Studio", "Prodigy"}


def _without(text: str) -> str:
    """Take names of features that hold ids, and what looks like an id, out of a file."""
    return re.sub(r"identifier|CUI|http\S*?(?=[\"\[])|C0004096", "x", text)


WITHOUT = {
    "brat standoff": ("x.ann", BRAT.format("")),
    "XMI of UIMA": ("x.xmi", _xmi(NAMED.format("type", 2, 0, 5, ""))),
    "a CAS of UIMA in JSON": (
        "x.json", _without(json.dumps(_cas()))),
    "WebAnno TSV": ("x.tsv", _without(WEBANNO)),
    "MedTator": ("x.xml", MEDTATOR.format(TEXT, '<SYM id="S0" spans="0~5" text="Fever"/>')),
    "CoNLL": ("x.conll", "Fever B-DISO\nand O\nasthma B-DISO\n"),
    "doccano": ("x.jsonl", {"text": TEXT, "label": [[0, 5, "DISO"], [12, 18, "T047"]]}),
    "BioC": ("x.xml", BIOC.format(TEXT, ANNOTATION.format(1, "", 0, 5, "Fever"))),
    "PubTator": ("x.txt", "7|t|Fever\n7|a|\n7\t0\t5\tFever\tDISO\n"),
    "Prodigy": ("x.jsonl", {"text": TEXT, "answer": "accept", "spans": [{"start": 0, "end": 5}]}),
    "PubAnnotation": ("x.json", {"text": TEXT, "denotations": [
        {"span": {"begin": 0, "end": 5}, "obj": "DISO"}]}),
}  # fmt: skip


@pytest.mark.parametrize("name", WITHOUT)
def test_without_ids_the_format_is_named_and_what_it_lacks(tmp_path: Path, name: str) -> None:
    needs = {each.name: each.needs for each in (*KINDS, *TOOLS)}[name]
    path = _write(tmp_path, *WITHOUT[name])
    expected = rf"E160.*it is {name}, and a concept id is needed.*Give {re.escape(needs)}"
    with pytest.raises(MedlinkError, match=expected):
        list(read_gold(path))


@pytest.mark.parametrize(
    "name, content, problem",
    [
        ("x.ann", "T1\tDISO 0 5\tFever\nnonsense\n", "E401.*line 2.*no annotation"),
        ("x.txt", "7|t|A\n7|a|B\n7\tx\ty\tA\tDISO\tD1\n", "E401.*line 3.*no mention"),
        ("x.tsv", WEBANNO + "broken\n", "E401.*line 15.*no token"),
        ("x.conll", CONLL + "short\n", "E401.*line 11.*too few columns"),
        ("x.xml", BIOC.format(TEXT, "")[:-5], "E165.*not well-formed"),
        ("x.xmi", _xmi()[:-5], "E165.*not well-formed"),
        ("x.xmi", '<!DOCTYPE x [<!ENTITY a "b">]>' + _xmi()[38:], "E165.*entity"),
        ("x.xmi", _xmi().replace("sofaString", "x"), "E401.*no text"),
        ("x.json", {"%FEATURE_STRUCTURES": [{"%TYPE": "x"}]}, "E160.*no sofaString"),
        ("x.json", {"%FEATURE_STRUCTURES": [1]}, "E160.*TypeError"),
        ("x.jsonl", '{"text": "a", "label": [[0]]}', "E401.*line 1.*doccano"),
        ("x.jsonl", json.dumps(DOCCANO) + '\n{"text": 1', "E401.*line 2.*doccano"),
        ("x.json", {"documents": [{"passages": [{"offset": 5_000_000, "text": "x"}]}]},
         "E401.*offset"),
        ("x.csv", "note_nlp_id,note_id\n1,2\n", "E160.*NOTE_NLP"),
        ("x.txt", "", "E404"), ("x.json", "[]", "E401"), ("x.json", "{}", "E401"),
        ("x.txt", "Only a text.", "E401"),
    ],
)  # fmt: skip
def test_what_is_broken_says_where(tmp_path: Path, name: str, content: Any, problem: str) -> None:
    with pytest.raises(MedlinkError, match=problem):
        list(read_gold(_write(tmp_path, name, content)))


def test_brat_without_its_text_and_a_directory_of_others(tmp_path: Path) -> None:
    _write(tmp_path, "x.ann", BRAT.format(REFERENCES)).with_suffix(".txt").unlink()
    with pytest.raises(MedlinkError, match=r"E401.*x.ann, line 1.*no text beside it \(x.txt\)"):
        list(read_gold(tmp_path))
    (tmp_path / "x.ann").rename(tmp_path / "x.md").write_text("# Notes")
    with pytest.raises(MedlinkError, match=r"E160.*directory without annotations"):
        list(read_gold(tmp_path))


def test_directories_are_part_of_the_ids(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        _write(tmp_path / folder, "x.ann", BRAT.format(REFERENCES))
    assert [document.doc_id for document in read_gold(tmp_path)] == ["a/x", "b/x"]


def test_mentions_in_pieces_and_over_line_ends(tmp_path: Path) -> None:
    text = "breast and\r\novarian cancer, left foot"
    bounds = (
        "T1\tX 0 10;12 26\tbreast and ovarian cancer\nT2\tX 28 32;33 37\tleft foot\n"
        "T3\tX 0 6;20 26\tbreast cancer\n"
    )
    references = "".join(f"N{n}\tReference T{n} C000000{n}\tx\n" for n in (1, 2, 3))
    path = _write(tmp_path, "x.ann", bounds + references)
    path.with_suffix(".txt").write_bytes(text.encode())
    (document,) = read_gold(path, strict=True)
    assert [(each.text, each.start) for each in document.mentions] == [
        ("breast and\r\novarian cancer", 0), ("left foot", 28), ("breast cancer", -1),
    ]  # fmt: skip

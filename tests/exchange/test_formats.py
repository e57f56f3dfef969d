"""What other tools read: each format by the rules of its field, whatever stands in a note."""

import csv
import io
import json
import re
import warnings
from typing import Any

import pytest
from fhir.resources.R4B.bundle import Bundle
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from spacy_medlink.annotate.formats import format_named, formats
from spacy_medlink.annotate.output import Output
from spacy_medlink.annotate.records import record_of_link
from spacy_medlink.annotate.run import annotate_file
from spacy_medlink.errors import MedlinkError
from spacy_medlink.exchange.phenopacket import FORMAT
from spacy_medlink.exchange.spreadsheets import escaped
from spacy_medlink.exchange.standoff import read_brat
from spacy_medlink.kb.gold import read_gold
from spacy_medlink.text.context import KINDS
from tests.pipelines import pipeline
from tests.tables import table
from tests.workbench.mapping.conftest import EXECUTED
from training.corpora.tally import Tally

Record = dict[str, Any]
HOSTILE = "<script>alert(1)</script> fever\0\x1b]\r\nasthma\t=1+1 😀"
# The library of BioC (bioc 2.1, with which this was compared) asks for docopt of 2014, which has no
# wheel. Its rules stand here.
TEXT: Record = {"type": "string"}
COUNT: Record = {"type": "integer", "minimum": 0}
INFONS: Record = {"type": "object", "additionalProperties": TEXT}


def _object(**properties: Record) -> Record:
    return {"type": "object", "properties": properties, "required": list(properties),
            "additionalProperties": False}  # fmt: skip


def _list(items: Record, **more: object) -> Record:
    return {"type": "array", "items": items, **more}


_EMPTY = _list({}, maxItems=0)
_PLACE = _object(offset=COUNT, length={"type": "integer", "minimum": 1})
_PASSAGE = _object(
    offset=COUNT, infons=INFONS, text=TEXT, sentences=_EMPTY, relations=_EMPTY,
    annotations=_list(_object(id=TEXT, infons=INFONS, text=TEXT, locations=_list(_PLACE))),
)  # fmt: skip
BIOC = Draft202012Validator(_object(
    source=TEXT, date={"type": "string", "format": "date"}, key=TEXT, version=TEXT, infons=INFONS,
    documents=_list(_object(id=TEXT, infons=INFONS, passages=_list(_PASSAGE), annotations=_EMPTY,
                            relations=_EMPTY)),
))  # fmt: skip


def _mention(text: str, start: int, end: int, ids: tuple[str, ...] = (), **more: Any) -> Record:
    return {
        "start": start, "end": end, "mention": text[start:end], "type": "CONCEPT", "ids": [*ids],
        "name": "Fever" if ids else None, "score": 0.9 if ids else None, "prob": None,
        "reason": None, "codes": {}, "parts": [], **more,
    }  # fmt: skip


CONTEXTS = (("negated", "No "), ("family", "Mother had "), ("uncertain", "Possible "))
NOTE: Record = {"doc_id": "7", "text": "No fever"}
PIECES = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
PARTS = [{"id": "D1", "name": "one"}, {"id": "D2", "name": "two"}]
TEXTS = st.text(
    st.sampled_from("a\u0301é😀👩\u200d👧\t\r\n \u2028\x85\0\x1c\x7f<&\"'=,;\\\ufeff\u00a0漢")
    | st.characters(codec="utf-8"),
    min_size=1,
    max_size=60,
)


@st.composite
def some_records(draw: st.DrawFn) -> Record:
    text = draw(TEXTS)
    mentions = []
    for _ in range(draw(st.integers(0, 4))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        if text[start:end].strip():
            ids = draw(st.sampled_from([(), ("HP:0001945",), ("D1",)]))
            own = {"parts": PARTS, "codes": {"MESH": ["D1"]}} if ids == ("D1",) else {}
            said = {kind: draw(st.booleans()) for kind in KINDS}
            section = draw(st.sampled_from(["", "family_history"]))
            prob = draw(st.none() | st.floats(0, 1)) if ids else None
            more = {**own, **said, "section": section, "prob": prob}
            mentions.append(_mention(text, start, end, ids, **more))
    doc_id = draw(st.sampled_from(["7", "a/b.txt", "é 😀:?", "..", "=1+1", "http://x.y/z"]))
    return {"doc_id": doc_id, "text": text, "mentions": mentions}


def _written(format: str, *records: Record) -> str:
    return "".join(format_named(format).write(records))


def _places(record: Record) -> list[tuple[int, int]]:
    return [(one["start"], one["end"]) for one in record["mentions"]]


@given(some_records())
def test_bioc(record):
    collection = json.loads(_written("bioc", record))
    BIOC.validate(collection)
    (passage,) = collection["documents"][0]["passages"]
    assert passage["text"] == record["text"]
    found = [(one["text"], one["locations"][0]) for one in passage["annotations"]]
    places = [(one["offset"], one["offset"] + one["length"]) for _, one in found]
    assert places == _places(record)
    assert [text for text, _ in found] == [record["text"][slice(*place)] for place in places]


def _expected(format: str, mention: Record) -> list[str]:
    """List the ids of a mention that a format writes."""
    ids = [part["id"] for part in mention["parts"]] or mention["ids"]
    left_out = {"fhir_condition": ("family", "hypothetical"),
                "phenopacket": ("family", "hypothetical", "uncertain")}.get(format, ())  # fmt: skip
    if any(mention[kind] for kind in left_out):
        return []
    if format == "phenopacket":
        ids = [id for id in ids if id.startswith("HP:")]
    return ids[:1] if format == "prodigy" else ids


@pytest.mark.parametrize("format", formats())
@pytest.mark.filterwarnings("ignore:.*W342")
@settings(max_examples=50)
@given(record=some_records())
def test_what_is_written_is_read_back(tmp_path_factory, format, record):
    # A row of NOTE_NLP is a link: two mentions at one place are one.
    assume(format != "note_nlp" or len({*_places(record)}) == len(_places(record)))
    path = tmp_path_factory.mktemp("gold") / f"x{next(iter(format_named(format).suffixes), '')}"
    if write_folder := format_named(format).write_folder:
        path.mkdir()
        write_folder(iter([record]), path)
    else:
        path.write_text(_written(format, record), encoding="utf-8", newline="")
    expected = [_expected(format, mention) for mention in record["mentions"]]
    try:
        documents = list(read_gold(path, strict=True))
    except MedlinkError as error:
        assert error.code in ("E160", "E404")  # nothing with an id was written
        assert not any(expected)
        return
    found = [
        [id.removeprefix("MESH:") for id in mention.ids]
        for document in documents
        for mention in document.mentions
    ]
    if format in ("phenopacket", "fhir_condition"):  # without NIL; the first has each concept once
        found, expected = ([[id] for ids in lists for id in ids] for lists in (found, expected))
        if format == "phenopacket":
            expected = expected[:1]
        assert found == expected
        return
    (document,) = documents
    assert found == expected
    for read, mention in zip(document.mentions, record["mentions"], strict=True):
        if document.text is not None and not PIECES.search(mention["mention"]):
            assert (read.start, read.end) == (mention["start"], mention["end"])
            assert document.text == record["text"]


def test_what_was_given_to_label_studio_is_no_gold_beside_annotations(tmp_path):
    mention = _mention("No fever", 3, 8, ("HP:0001945",))
    (task,) = json.loads(_written("label_studio", {**NOTE, "mentions": [mention]}))
    annotated = {**task, "annotations": []}
    path = tmp_path / "x.json"
    path.write_text(json.dumps([annotated]))
    with pytest.raises(MedlinkError, match="E404"):
        list(read_gold(path))


@given(some_records())
def test_fhir(record):
    written = _written("fhir", record, record)
    bundle = Bundle.model_validate(json.loads(written))
    assert len({entry.fullUrl for entry in bundle.entry}) == 2
    _, *mentions = bundle.entry[0].resource.parameter
    parts = [{one.name: one for one in mention.part} for mention in mentions]
    places = [(own["start"].valueUnsignedInt, own["end"].valueUnsignedInt) for own in parts]
    assert places == _places(record)
    for mention, own in zip(mentions, record["mentions"], strict=True):
        said = [one.valueCode for one in mention.modifierExtension or []]
        assert said == [kind for kind in KINDS if own[kind]]


@pytest.mark.filterwarnings("ignore:.*W342")
def test_findings_of_the_patient_by_their_schemas(tiny_assets):
    """All pairs of what may stand in a note, linked, as Conditions and as phenopackets."""
    schema = pytest.importorskip("phenopackets.schema.v2", reason="needs `phenopackets`")
    parse = pytest.importorskip("google.protobuf.json_format").Parse
    nlp = pipeline(tiny_assets)
    names = ("fever", "type 2 diabetes", "seizures", "metformin")
    starts = ("No ", "Mother had ", "", "Possible ", "If ", "History of ")
    records = []
    for n in range(144):
        doc = nlp(f"{starts[n % 6]}{names[n % 4]}. {starts[n // 6 % 6]}{names[n // 4 % 4]}.")
        said = {kind: starts[n % 6] == start for kind, start in CONTEXTS}
        mentions = [{**record_of_link(ent), **said} for ent in doc.ents]
        records.append({"doc_id": str(n), "text": doc.text, "mentions": mentions})
    bundle = Bundle.model_validate(json.loads(_written("fhir_condition", *records)))
    assert len({entry.fullUrl for entry in bundle.entry}) == len(bundle.entry) > 70
    packets = [parse(line, schema.Phenopacket()) for line in FORMAT.write(records)]
    assert [packet.id for packet in packets] == [record["doc_id"] for record in records]
    assert any(feature.excluded for packet in packets for feature in packet.phenotypic_features)


@table(__file__, "what_a_context_makes_of_a_finding")
def test_what_a_context_makes_of_a_finding(kinds, condition, feature):
    mention = _mention("No fever", 3, 8, ("HP:0001945",), **dict.fromkeys(KINDS, False))
    record = {**NOTE, "mentions": [{**mention, **dict.fromkeys(kinds, True)}]}
    bundle = json.loads(_written("fhir_condition", record))
    statuses = [entry["resource"]["verificationStatus"]["coding"][0]["code"]
                for entry in bundle["entry"]]  # fmt: skip
    assert statuses == ([condition] if condition else [])
    assert ("clinicalStatus" in _written("fhir_condition", record)) == ("historical" in kinds)
    packet = json.loads(_written("phenopacket", record))
    found = [each.get("excluded", False) for each in packet.get("phenotypicFeatures", ())]
    assert found == ([] if feature is None else [feature])
    assert [each["namespacePrefix"] for each in packet["metaData"]["resources"]] == ["HP"] * len(
        found
    )


def test_what_is_no_condition_and_no_phenotype():
    drug = _mention("No fever", 3, 8, ("C1",), codes={"UMLS": ["C1"]}, type="CHEM")
    disease = _mention("No fever", 3, 8, ("C2",), codes={"ORDO": ["586"]}, type="DISO")
    record = {**NOTE, "mentions": [drug, disease]}
    assert len(json.loads(_written("fhir_condition", record))["entry"]) == 1
    with pytest.warns(UserWarning, match="W342.*1 links.*'C1'"):
        packet = json.loads(_written("phenopacket", record))
    assert packet["diseases"] == [{"term": {"id": "ORPHA:586", "label": "Fever"}}]


def test_what_the_patient_has_somewhere_is_not_excluded():
    no, yes = (
        _mention("No fever", 3, 8, ("HP:0001945",), negated=negated) for negated in (True, False)
    )
    for mentions in ([no, yes], [yes, no]):
        packet = json.loads(_written("phenopacket", {**NOTE, "mentions": mentions}))
        assert ["excluded" in each for each in packet["phenotypicFeatures"]] == [False]


@given(some_records())
def test_note_nlp(record):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        written = _written("note_nlp", record)
    assert bool(told) == (record["doc_id"] != "7")
    rows = list(csv.DictReader(io.StringIO(written, newline="")))
    assert {len(row) for row in rows} <= {14}
    assert [row["note_nlp_id"] for row in rows] == [str(n + 1) for n in range(len(rows))]
    for row in rows:
        raw = record["text"][int(row["offset"]) :].replace("\0", "\ufffd")
        assert escaped(raw).startswith(row["lexical_variant"])
        assert max(len(row["snippet"]), len(row["lexical_variant"])) <= 250
        assert not any(cell.startswith(EXECUTED) for cell in row.values())


@given(some_records())
def test_brat(record):
    lines = _written("brat", record).split("\n")
    assert "\n".join(lines).splitlines() == lines[:-1], "a line ends nowhere else"
    rows = [line.split("\t") for line in lines[:-1]]
    bounds = {id: (head, said) for id, head, said in (row for row in rows if row[0][0] == "T")}
    assert len(bounds) == len(record["mentions"])
    for (head, said), mention in zip(bounds.values(), record["mentions"], strict=True):
        spans = [tuple(map(int, one.split())) for one in head.partition(" ")[2].split(";")]
        assert " ".join(record["text"][start:end] for start, end in spans) == said
        assert mention["start"] <= spans[0][0] < spans[-1][1] <= mention["end"]
        assert said.split() == mention["mention"].split()
    for id, head, *_ in rows:
        if not id.startswith("T"):
            assert head.split()[1] in bounds
            assert id[0] != "N" or re.fullmatch(r"Reference T\d+ \S+?:\S+", head)


def test_a_directory_for_brat(tmp_path):
    ids = ["a.txt", "A", "a", "../a", ".x", "x" * 300, "x" * 300]
    text = "breast and\r\novarian cancer"
    mention = _mention(text, 0, len(text), ("D1",), parts=PARTS, codes={"MESH": ["D1"]},
                       negated=True, section="findings")  # fmt: skip
    records = [{"doc_id": id, "text": text, "mentions": [mention, mention]} for id in ids]
    write_folder = format_named("brat").write_folder
    assert write_folder is not None
    write_folder(iter(records), tmp_path)
    texts = sorted(tmp_path.glob("*.txt"))
    assert len(texts) == len(ids)
    for path in texts:
        assert path.read_bytes().decode() == text
        tally = Tally()
        standoff = read_brat(path.with_suffix(".ann"), tally)
        assert {one.spans for one in standoff.bounds.values()} == {((0, 10), (12, 26))}
        annotations = path.with_suffix(".ann").read_text(encoding="utf-8")
        references = re.findall(r"^N\d+\tReference T2 (\S+)\t", annotations, re.MULTILINE)
        assert references == ["MESH:D1", "MESH:D2"]
    config = (tmp_path / "annotation.conf").read_text()
    assert "[entities]\nCONCEPT\n" in config
    assert "Section\tArg:<ENTITY>, Value:findings" in config


def test_where_what_is_said_goes():
    text = "mother had fever"
    said = dict.fromkeys(KINDS, False)
    for kind, exists, temporal in (
        ("negated", "N", "Present"), ("family", "N", "Present"), ("hypothetical", "N", "Present"),
        ("historical", "Y", "Past"), ("uncertain", "Y", "Present"),
    ):  # fmt: skip
        codes = {"OMOP": ["437663"]}
        mention = _mention(text, 11, 16, ("437663",), codes=codes, **{**said, kind: True})
        record = {"doc_id": "7", "text": text, "mentions": [mention]}
        (row,) = csv.DictReader(io.StringIO(_written("note_nlp", record)))
        assert (row["term_exists"], row["term_temporal"]) == (exists, temporal)
        assert f"{kind}=true" in row["term_modifiers"]
        assert row["note_nlp_concept_id"] == "437663"
        assert kind.title() in _written("brat", record)
        assert f'"{kind}":"true"' in _written("bioc", record)
        assert f'"valueCode":"{kind}"' in _written("fhir", record)
    nothing = {"doc_id": "7", "text": text, "mentions": [_mention(text, 11, 16)]}
    (row,) = csv.DictReader(io.StringIO(_written("note_nlp", nothing)))
    assert (row["term_exists"], row["term_temporal"], row["note_nlp_concept_id"]) == ("", "", "0")


def test_codes_of_fhir_are_in_order(tiny_assets):
    nlp = pipeline(tiny_assets)
    (ent,) = nlp("type 2 diabetes").ents
    record = {"doc_id": "1", "text": ent.doc.text, "mentions": [record_of_link(ent)]}
    (entry,) = json.loads(_written("fhir", record))["entry"]
    (concept,) = [one["valueCodeableConcept"] for one in entry["resource"]["parameter"][1]["part"]
                  if one["name"] == "concept"]  # fmt: skip
    assert [(one["system"], one["code"]) for one in concept["coding"]] == [
        ("http://human-phenotype-ontology.org", "HP:0005978"),
        ("http://hl7.org/fhir/sid/icd-10-cm", "E11"),
        ("http://www.nlm.nih.gov/research/umls", "C0011860"),
    ]
    assert concept["coding"][0]["display"] == "Type II diabetes mellitus"


@pytest.mark.parametrize("format", formats())
@pytest.mark.filterwarnings("ignore:.*W342")
def test_a_run_writes_each(format, tiny_assets, tmp_path):
    notes = tmp_path / "notes.jsonl"
    texts = ["No fever 😀.", HOSTILE, ""]
    lines = [json.dumps({"doc_id": f"n{n}", "text": text}) for n, text in enumerate(texts)]
    notes.write_text("\n".join(lines))
    suffix = next(iter(format_named(format).suffixes), "")
    for name in (f"one{suffix}", f"two{suffix}"):
        done = annotate_file(str(tiny_assets.path), notes, tmp_path / name, format=format,
                             part_size=2)  # fmt: skip
        assert done.linked == 3
    one, two = (tmp_path / f"{name}{suffix}" for name in ("one", "two"))
    if suffix:
        assert one.read_bytes() == two.read_bytes()
        assert "fever" in one.read_text(encoding="utf-8")
    elif format == "phenopacket":
        packet = json.loads((one / "n0.json").read_text(encoding="utf-8"))
        assert packet["phenotypicFeatures"][0]["type"]["id"] == "HP:0001945"
    else:
        assert (one / "n1.txt").read_bytes().decode() == HOSTILE
        assert "HP:0001945" in (one / "n1.ann").read_text(encoding="utf-8")
        with pytest.raises(MedlinkError, match="E612"):
            annotate_file(str(tiny_assets.path), notes, one, format=format)
        annotate_file(str(tiny_assets.path), notes, one, format=format, overwrite=True)


def test_what_is_no_format(tiny_assets, tmp_path):
    (tmp_path / "a.jsonl").write_text("{}\n")
    given = (str(tiny_assets.path), tmp_path / "a.jsonl")
    with pytest.raises(MedlinkError, match="E108"):
        annotate_file(*given, tmp_path / "o.json", format="word")
    with pytest.raises(MedlinkError, match=r"E611.*\.csv"):
        annotate_file(*given, tmp_path / "o.json", format="note_nlp")
    with pytest.raises(MedlinkError, match="E108"):
        format_named("")


def test_a_directory_in_which_people_edited_is_not_replaced(tmp_path):
    output = Output(tmp_path / "brat", "brat")
    line = json.dumps({"doc_id": "a", "text": "No fever.", "mentions": []}).encode()
    output.write([line])
    output.check([])
    output.write([line])  # nobody has changed it
    (tmp_path / "brat" / "a.ann").write_text("T1\tFever 3 8\tfever\n", encoding="utf-8")
    with pytest.raises(MedlinkError, match="E121"):
        output.check([])
    with pytest.raises(MedlinkError, match="E121"):
        output.write([line])
    assert "fever" in (tmp_path / "brat" / "a.ann").read_text(encoding="utf-8")
    output._replace(overwrite=True).write([line])
    assert (tmp_path / "brat" / "a.ann").read_text(encoding="utf-8") == ""

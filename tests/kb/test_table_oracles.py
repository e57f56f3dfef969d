"""Readers of tables, FHIR and MeSH against independent parsers, on random files and on named ones.

`MEDLINK_ORACLE_FILES=valueset.json:desc2026.xml:MRCONSO.RRF pytest tests/kb/test_table_oracles.py
-m slow` compares your own, too.
"""

import csv
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

pytest.importorskip("fhir.resources", reason="an independent parser, of the extra `dev`")
pytest.importorskip("lxml", reason="an independent parser, of the extra `dev`")

from fhir.resources.codesystem import CodeSystem
from fhir.resources.valueset import ValueSet
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from spacy_medlink.kb.code_systems import vocabulary_of
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.vocabularies import iso_639_1
from spacy_medlink.types import Concept, Record, Retired
from tests.kb import mesh_release, samples, umls_release

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.W11")]
NAMED = [
    Path(name)
    for name in filter(None, os.environ.get("MEDLINK_ORACLE_FILES", "").split(os.pathsep))
]
RANDOM = settings(
    max_examples=60, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="|&<>\ufeff"),
    min_size=1, max_size=20,
).map(lambda text: " ".join(text.split())).filter(lambda text: len(text) > 1)  # fmt: skip
CODE = st.from_regex(r"[A-Z][0-9]{1,5}", fullmatch=True)
LANG = st.sampled_from(["en", "de", "fr", "es"])
Said = dict[str, Any]
"""What is said of each id: names, codes and the like; of a retired id, its successor."""


def _named(*endings: str) -> list[Path]:
    return [path for path in NAMED if path.name.endswith(endings)]


def said(records: Iterable[Record], *, sources: bool = True) -> Said:
    """Sort out what records say; sources (bool): whether the vocabulary of names counts."""
    found: Said = {}
    for one in records:
        if isinstance(one, Retired):
            found[one.id] = one.replaced_by
            continue
        names = {
            (name.text, name.lang, name.source if sources else "", name.tty, name.obsolete)
            for name in one.names
        }
        codes = {(scheme, code) for scheme, many in one.codes.items() for code in many}
        found[one.id] = (one.name, names, codes, set(one.parents), one.definition, set(one.types))
    return found


# FHIR: fhir.resources


@st.composite
def code_systems(draw: st.DrawFn) -> dict[str, Any]:
    codes = draw(st.lists(CODE, min_size=1, max_size=8, unique=True))
    designation = st.fixed_dictionaries(
        {"value": TEXT},
        optional={
            "language": LANG,
            "use": st.sampled_from(
                [{"code": "900000000000003001"}, {"code": "display"}, {"code": "short"}]
            ),
        },
    )
    inactive = st.builds(lambda flag: {"code": "inactive", "valueBoolean": flag}, st.booleans())
    parent = st.builds(lambda up: {"code": "parent", "valueCode": up}, st.sampled_from(codes))
    concepts = [
        {"code": code}
        | draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "display": TEXT, "definition": TEXT,
                    "designation": st.lists(designation, min_size=1, max_size=3),
                    "property": st.lists(inactive | parent, min_size=1, max_size=2),
                },
            )
        )
        for code in codes
    ]  # fmt: skip
    top: list[dict[str, Any]] = []
    for place, one in enumerate(concepts):
        above = draw(st.integers(-1, place - 1))
        (concepts[above].setdefault("concept", []) if above >= 0 else top).append(one)
    facts = {
        "resourceType": "CodeSystem",
        "status": "active",
        "content": "complete",
        "concept": top,
    }
    return facts | draw(
        st.fixed_dictionaries({"url": st.just("http://a.b/x")}, optional={"language": LANG})
    )


def _of_code_system(path: Path) -> Said:
    system = CodeSystem.model_validate_json(path.read_text(encoding="utf-8"))
    vocabulary, uses = vocabulary_of(system.url), {"900000000000003001": "FSN", "display": "PT"}
    found: Said = {}

    def walk(concepts: Any, above: str) -> None:
        for one in concepts or ():
            lang = system.language or "en"
            names = {(one.display, lang, vocabulary, "PT", False)} if one.display else set()
            for other in one.designation or ():
                use = other.use.code if other.use else ""
                tty = uses.get(use, use or "SY")
                names.add((other.value, other.language or lang, vocabulary, tty, False))
            own = list(one.property or ())
            parents = {prop.valueCode for prop in own if prop.code == "parent"} | {above}
            name = one.display or (one.designation[0].value if one.designation else "")
            gone = any(prop.code == "inactive" and prop.valueBoolean for prop in own)
            facts = (parents - {"", one.code}, one.definition or "", set[str]())
            found[one.code] = "" if gone else (name, names, {(vocabulary, one.code)}, *facts)
            walk(one.concept, one.code)

    walk(system.concept, "")
    return found


@given(resource=code_systems())
@RANDOM
def test_code_systems(tmp_path, resource):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(resource), encoding="utf-8")
    assert said(read("fhir", path)) == _of_code_system(path)


def _listed() -> st.SearchStrategy[dict[str, Any]]:
    codes = st.lists(st.sampled_from(["A1", "A2", "A3", "A4"]), min_size=1, unique=True)
    return st.builds(
        lambda system, codes: {
            "system": f"http://a.b/{system}",
            "concept": [{"code": code, "display": f"{system} {code}"} for code in codes],
        },
        st.sampled_from("xyz"), codes,
    )  # fmt: skip


@given(include=st.lists(_listed(), min_size=1, max_size=3), exclude=st.lists(_listed(), max_size=2))
@RANDOM
def test_value_sets(tmp_path, include, exclude):
    path = tmp_path / "x.json"
    compose = {"include": include} | ({"exclude": exclude} if exclude else {})
    resource = {"resourceType": "ValueSet", "status": "active", "compose": compose}
    path.write_text(json.dumps(resource), encoding="utf-8")
    parsed = ValueSet.model_validate_json(path.read_text()).compose

    def pairs(parts: Any) -> set[tuple[str, str]]:
        return {(part.system, concept.code) for part in parts or () for concept in part.concept}

    expected = pairs(parsed.include) - pairs(parsed.exclude)
    found = [record for record in read("fhir", path) if isinstance(record, Concept)]
    assert {name.text for one in found for name in one.names} == {
        f"{system[-1]} {code}" for system, code in expected
    }


@pytest.mark.parametrize("path", _named(".json"))
def test_named_code_systems(path):
    assert said(read("fhir", path)) == _of_code_system(path)


# MeSH: lxml


@st.composite
def mesh_documents(draw: st.DrawFn) -> str:
    ids = draw(st.lists(st.integers(1, 999), min_size=1, max_size=6, unique=True))
    trees = st.lists(st.sampled_from(["C01", "C01.1", "C01.1.2", "D02", "D02.7"]), max_size=2)
    records = ""
    for id in ids:
        terms = draw(st.lists(st.tuples(TEXT, *[st.sampled_from("YN")] * 2), max_size=3))
        inner = "".join(mesh_release.term(escape(text), *flags) for text, *flags in terms)
        concept = mesh_release.concept(inner, draw(st.sampled_from("YN")))
        name = escape(draw(TEXT))
        records += mesh_release.descriptor(f"D{id:06}", name, concept, tuple(draw(trees)))
    return mesh_release.document(records)


def _of_mesh(path: Path) -> Said:
    root = etree.parse(str(path), etree.XMLParser(resolve_entities=False, huge_tree=True)).getroot()
    records = root.findall("DescriptorRecord")
    at = {
        tree.text: record.findtext("DescriptorUI")
        for record in records
        for tree in record.iter("TreeNumber")
    }
    lang = iso_639_1(root.get("LanguageCode"))
    found: Said = {}
    for one in records:
        id, name = one.findtext("DescriptorUI"), one.findtext("DescriptorName/String")
        names = {(name, lang, "MESH", "MH", False)}
        for term in one.iter("Term"):
            kind = "PEP" if term.get("ConceptPreferredTermYN") == "Y" else "ET"
            kind = "PM" if term.get("IsPermutedTermYN") == "Y" else kind
            if (text := term.findtext("String")) != name:
                names.add((text, lang, "MESH", kind, False))
        numbers = [tree.text for tree in one.iter("TreeNumber")]
        above = {at.get(number.rpartition(".")[0], id) for number in numbers} - {id}
        kinds = {number[0] for number in numbers}
        found[id] = (name, names, set[tuple[str, str]](), above, "", kinds)
    return found


@given(text=mesh_documents())
@RANDOM
def test_mesh(tmp_path, text):
    path = tmp_path / "desc2026.xml"
    path.write_text(text, encoding="utf-8")
    assert said(read("mesh", path)) == _of_mesh(path)


@pytest.mark.parametrize("path", _named(".xml"))
def test_named_mesh(path):
    """Compare names and parents; codes and notes are read by rules of ours."""
    ours, theirs = said(read("mesh", path)), _of_mesh(path)
    assert {id: (one[1], one[3]) for id, one in ours.items()} == {
        id: (one[1], one[3]) for id, one in theirs.items()
    }


# UMLS, SNOMED CT, OMOP and tables: csv


def _rows(path: Path, delimiter: str, quoting: int = csv.QUOTE_NONE) -> Iterator[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = (line.rstrip("\r\n") + "\n" for line in file) if quoting == csv.QUOTE_NONE else file
        yield from csv.reader(lines, delimiter=delimiter, quoting=quoting)  # type: ignore[arg-type]


@st.composite
def atoms(draw: st.DrawFn) -> list[str]:
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(1, 5), TEXT, st.sampled_from(["ENG", "GER", "SPA"]),
                st.sampled_from(["MSH", "SNOMEDCT_US", "MDR", "LNC", "MTH"]), CODE,
                st.sampled_from("NNOY"),
            ), min_size=1, max_size=12,
        )
    )  # fmt: skip
    return sorted(
        umls_release.atom(f"C{cui:07}", text, LAT=lat, SAB=sab, CODE=code, SUPPRESS=suppress)
        for cui, text, lat, sab, code, suppress in rows
    )


def _of_conso(path: Path) -> dict[str, Any]:
    names: dict[str, dict[tuple[str, str], list[Any]]] = defaultdict(lambda: defaultdict(list))
    codes: dict[str, set[tuple[str, str]]] = defaultdict(set)
    called = {"MSH": "MESH", "MDR": "MEDDRA"}
    for row in _rows(path, "|"):
        names[row[0]][row[14], iso_639_1(row[1])].append((row[11], row[16] in "OEY"))
        if row[11] not in ("MTH", "SRC") and row[13] not in ("", "NOCODE"):
            codes[row[0]].add((called.get(row[11], row[11]), row[13]))
    return {
        cui: (
            {(*key, frozenset(sab for sab, _ in said), all(old for _, old in said))
             for key, said in own.items()},
            codes[cui],
        )
        for cui, own in names.items()
    }  # fmt: skip


def _compare_conso(path: Path) -> None:
    found = {
        record.id: (
            {(name.text, name.lang, frozenset(name.source.split("|")), name.obsolete)
             for name in record.names if name.tty != "TRADE"},
            {(scheme, code) for scheme, many in record.codes.items() for code in many},
        )
        for record in read("umls", path.parent) if isinstance(record, Concept)
    }  # fmt: skip
    assert found == _of_conso(path)


@given(rows=atoms())
@RANDOM
def test_umls(tmp_path, rows):
    path = umls_release.write_release(tmp_path, {"MRCONSO": rows}) / "MRCONSO.RRF"
    _compare_conso(path)


@pytest.mark.parametrize("path", _named("MRCONSO.RRF"))
def test_named_umls(path):
    _compare_conso(path)


IDS = [str(1_000_000 + number) for number in range(5)]
DATE = st.sampled_from(["20230101", "20240101", "20250101"])
ACTIVE = st.sampled_from("01")


def _component(id: int, *values: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    """Draw a version of a component or member: identifier, time, state, module and the rest."""
    return st.tuples(st.just(str(id)), DATE, ACTIVE, st.just("m"), *values)


@st.composite
def packages(draw: st.DrawFn) -> list[dict[str, list[tuple[str, ...]]]]:
    """Draw two packages whose files have versions of the same components and members."""
    just, one = st.just, st.sampled_from(IDS)
    fixed: list[tuple[str, ...]] = [(id, "20240101", "1", "m", "p") for id in IDS[:4]]
    fixed.append((IDS[4], "20240101", "0", "m", "p"))
    kinds = st.sampled_from([samples.FSN, samples.SYNONYM])
    rows = {
        "sct2_Description_": [
            _component(200_000 + n, one, LANG, kinds, TEXT, just("c")) for n in range(4)
        ],
        "sct2_Relationship_": [
            _component(300_000 + n, one, one, just("0"), just("116680003"), *[just("x")] * 2)
            for n in range(3)
        ],
        "der2_cRefset_Language": [
            _component(n, just(samples.US), just(str(200_000 + n)),
                       st.sampled_from([samples.PREFERRED, samples.ACCEPTABLE]))
            for n in range(4)
        ],
        "der2_sRefset_SimpleMap": [
            _component(n, just(samples.CTV3_MAP), one, CODE) for n in range(3)
        ],
        "der2_cRefset_Association": [
            _component(7, just(samples.SAME_AS), just(IDS[4]), one)
        ],
    }  # fmt: skip
    found = []
    for number in range(2):
        own = {
            name: [draw(row) for row in draw(st.lists(st.sampled_from(many), unique_by=id))]
            for name, many in rows.items()
        }
        own["sct2_Concept_"] = fixed if not number else []
        found.append(own)
    names = [(f"{9000000 + n}", "20240101", "1", "m", id, "en", samples.SYNONYM, f"name {id}", "c")
             for n, id in enumerate(IDS)]  # fmt: skip
    found[0]["sct2_Description_"] += names
    return found


HEADERS = {
    Path(name).name.split("Snapshot")[0]: text.split("\r\n")[0]
    for name, text in samples.RF2.items()
}


def _of_rf2(directory: Path) -> Said:
    latest: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for path in sorted(directory.rglob("*.txt")):
        kind = path.name.split("Snapshot")[0]
        for row in list(_rows(path, "\t"))[1:]:
            known = latest[kind].get(row[0])
            if known is None or row[1] >= known[1]:
                latest[kind][row[0]] = row
    in_use = {
        kind: [row for row in rows.values() if row[2] == "1"] for kind, rows in latest.items()
    }
    preferred = {
        row[5] for row in in_use.get("der2_cRefset_Language", ()) if row[6] == samples.PREFERRED
    }
    found: Said = {}
    for id, concept in latest["sct2_Concept_"].items():
        if concept[2] == "0":
            ties = [row[6] for row in in_use.get("der2_cRefset_Association", ()) if row[5] == id]
            found[id] = ties[0] if ties else ""
            continue
        names = {
            (row[7], row[5], "FSN" if row[6] == samples.FSN else "PT" if row[0] in preferred
             else "SY", row[2] == "0")
            for row in latest["sct2_Description_"].values() if row[4] == id
        }  # fmt: skip
        codes = {row[6] for row in in_use.get("der2_sRefset_SimpleMap", ()) if row[5] == id}
        above = {row[5] for row in in_use.get("sct2_Relationship_", ()) if row[4] == id}
        found[id] = (names, codes, above)
    return found


@given(both=packages())
@RANDOM
def test_snomed(tmp_path_factory, both):
    directory = tmp_path_factory.mktemp("rf2")
    for number, files in enumerate(both):
        for name, rows in files.items():
            text = "\n".join([HEADERS[name], *("\t".join(row) for row in rows)])
            (directory / f"{name}Snapshot_P{number}_20250101.txt").write_text(text, "utf-8")
    found: Said = {}
    for one in read("snomed", directory):
        if isinstance(one, Retired):
            found[one.id] = one.replaced_by
            continue
        # A preferred name that is made of a fully specified one is no row of the files.
        names = {(name.text, name.lang, name.tty, name.obsolete) for name in one.names}
        found[one.id] = (names, set(one.codes.get("CTV3", ())), set(one.parents))
    assert found == _of_rf2(directory)


@st.composite
def omop_rows(draw: st.DrawFn) -> list[list[str]]:
    ids = draw(st.lists(st.integers(1, 10**9), min_size=1, max_size=6, unique=True))
    flags = st.tuples(st.sampled_from(["S", ""]), CODE, st.sampled_from(["", "", "D"]))
    name = st.builds(lambda text, mark: text + mark, TEXT, st.sampled_from(["", ', "x"', '"']))
    return [
        [str(id), draw(name), "Condition", "SNOMED", "Disorder", standard, code, invalid]
        for id in ids
        for standard, code, invalid in [draw(flags)]
    ]


@given(rows=omop_rows(), delimiter=st.sampled_from("\t,"), quoted=st.booleans())
@RANDOM
def test_omop(tmp_path, rows, delimiter, quoted):
    header = (
        "concept_id concept_name domain_id vocabulary_id concept_class_id standard_concept"
        " concept_code invalid_reason"
    ).split()
    path = tmp_path / "CONCEPT.csv"
    if delimiter == "\t" and not quoted:  # as Athena writes it
        text = "\n".join("\t".join(row) for row in [header, *rows])
        path.write_text(text, encoding="utf-8")
        parsed = list(_rows(path, "\t"))[1:]
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=delimiter).writerows([header, *rows])
        parsed = list(_rows(path, delimiter, csv.QUOTE_MINIMAL))[1:]
    assert parsed == rows
    expected: Said = {}
    for id, name, domain, vocabulary, kind, standard, code, invalid in parsed:
        if invalid:
            expected[id] = ""
        elif standard == "S":
            names = {(name.strip(), "en", vocabulary, "PT", False)}
            codes = {("OMOP", id), (vocabulary, code)}
            expected[id] = (name.strip(), names, codes, set[str](), "", {domain, kind})
    assert said(read("omop", tmp_path)) == expected

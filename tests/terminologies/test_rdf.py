"""OWL and SKOS: what is read of them, and what is refused before it does harm."""

import gzip
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pyoxigraph
import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import get_reader, read, xml_records
from spacy_medlink.terminologies.rdf import release_of
from spacy_medlink.types import Concept
from tests.kb import samples
from tests.tables import table

SKOS = "http://www.w3.org/2004/02/skos/core#"
RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"\n'
    '    xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"\n'
    '    xmlns:owl="http://www.w3.org/2002/07/owl#">\n'
    '<owl:Class rdf:about="http://example.org/sweet/a"><rdfs:label>%s</rdfs:label></owl:Class>\n'
    "</rdf:RDF>\n"
)


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf8")
    return path


def test_the_same_as_from_obo(tmp_path):
    obo, owl = _write(tmp_path / "hp.obo", samples.OBO), _write(tmp_path / "hp.owl", samples.OWL)
    assert list(read("owl", owl)) == list(read("obo", obo))
    assert release_of(owl) == "2024-01-01"


@pytest.mark.parametrize("name", ["hp.ttl", "hp.nt", "hp.rdf", "hp", "hp.owl.gz", "hp.nt.gz"])
def test_syntaxes_say_the_same(tmp_path, name):
    expected = list(read("owl", _write(tmp_path / "a.owl", samples.OWL)))
    text = samples.OWL.encode()
    if name.startswith(("hp.ttl", "hp.nt")):
        form = pyoxigraph.RdfFormat.from_extension(name.split(".")[1])
        found = pyoxigraph.parse(text, pyoxigraph.RdfFormat.RDF_XML)
        text = pyoxigraph.serialize([one.triple for one in found], format=form) or b""
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert list(read("owl", path)) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.owl", "<!--" + " " * 1_200_000 + "-->" + (RDF % "x")),
        ("x.ttl", '<http://x/a> <http://x/p> "' + "x" * 20_000_000),
    ],
)
def test_a_token_without_end_cannot_be_skipped(tmp_path, name, text):
    path = _write(tmp_path / name, text)
    for bad in (None, []):
        with pytest.raises(MedlinkError, match=rf"E105.*{name}, line 1: "):
            list(read("owl", path, bad))


@pytest.mark.skipif(not shutil.which("iconv"), reason="the remedy is a command of iconv")
@table(__file__, "other_encodings_come_with_the_command")
def test_other_encodings_come_with_the_command_that_converts_them(
    tmp_path, name, encoding, declared
):
    turtle = f'@prefix s: <{SKOS}> . <http://x/a> a s:Concept ; s:prefLabel "é" .'
    text = turtle if name == "x.ttl" else RDF % "é"
    head = f'<?xml version="1.0" encoding="{declared}"?>\n' if declared else ""
    data = (head + text).encode(encoding)
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    with pytest.raises(MedlinkError, match=r"E105.*iconv -f \S+ -t UTF-8") as refused:
        list(read("owl", path))
    command = str(refused.value).split("`")[1]
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    (concept,) = read("owl", tmp_path / command.rpartition(" ")[2])
    assert isinstance(concept, Concept) and "é" in concept.name


LAUGHS = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcde", "bcdef", strict=True))


@pytest.mark.parametrize(
    "declared",
    [
        f'[<!ENTITY a "{"ha" * 5}">{LAUGHS}]',
        f'[<!-- <!ENTITY f "ha"> --><!ENTITY a "{"ha" * 5}">]',  # which pyoxigraph would read
        '[<!ENTITY f SYSTEM "file:///etc/passwd">]',
        '[<!ENTITY % f "x"> %f;]',
        f'[<!ENTITY f "{"ha" * 200}">]',
        'SYSTEM "https://example.org/never/fetched.dtd" [<!ENTITY f "x">]',
    ],
)
def test_entities_that_could_hide_much_are_refused(tmp_path, declared):
    for text in (RDF % "&f;", RDF % "x", "\n" * 70_000 + RDF % "&f;"):
        path = _write(tmp_path / "x.owl", f"<!DOCTYPE rdf:RDF {declared}>\n{text}")
        with pytest.raises(MedlinkError, match=r"E105.*line 1: the DOCTYPE"):
            list(read("owl", path, []))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("&f;" * 40_000, "entities over and over"),
        ("&f;<!-- </a> -->" * 40_000, "entities over and over"),
        (f'</rdfs:label><rdfs:label xml:lang="{"a" * 200_000}">', "a tag or comment of over"),
        (f"<!--{'a' * 200_000}-->", "a tag or comment of over"),
        ("<rdfs:seeAlso><rdf:Description>" * 600, "elements within elements"),
    ],
)
def test_what_unpacks_without_end_is_refused(tmp_path, monkeypatch, text, problem):
    """Entities may make 67 times as much; a tag without end is read again with every block."""
    monkeypatch.setattr(xml_records, "LONGEST_TAG", 1 << 16)
    declared = f'<!DOCTYPE rdf:RDF [<!ENTITY f "{"h" * 200}">]>'
    with pytest.raises(MedlinkError, match=rf"E105.*{problem}"):
        list(read("owl", _write(tmp_path / "x.owl", declared + RDF % text), []))


def test_an_unfinished_comment_takes_no_exponential_time(tmp_path):
    start = "<!-- x -->" * 20_000 + "<!DOCTYPE rdf:RDF [<!ELEMENT x ANY>]>"
    with pytest.raises(MedlinkError, match="the DOCTYPE"):
        list(read("owl", _write(tmp_path / "x.owl", start + RDF % "x")))


def test_a_document_in_one_line(tmp_path):
    """Lines and characters of several bytes lie across the ends of what is read at once."""
    classes = "".join(
        f'<owl:Class rdf:about="http://example.org/{n}"><rdfs:label>{"é😀" * n}</rdfs:label>'
        "</owl:Class>"
        for n in range(1, 400)
    )
    text = (RDF % "x").replace("\n", " ").replace("</rdf:RDF>", classes + "</rdf:RDF>")
    for shift in range(4):
        records = list(read("owl", _write(tmp_path / "x.owl", " " * shift + text)))
        assert [len(record.name) for record in records if isinstance(record, Concept)] == [
            1, *range(2, 800, 2),
        ]  # fmt: skip


def test_memory_is_bounded(tmp_path):
    path = tmp_path / "x.nt"
    thing = "<http://example.org/%d> <http://www.w3.org/%s> %s .\n"
    words = '"a name that repeats %d"'
    with path.open("w") as file:
        for n in range(3_000):
            kind = "<http://www.w3.org/2002/07/owl#Class>"
            file.write(thing % (n, "1999/02/22-rdf-syntax-ns#type", kind))
            file.write(thing % (n, "2000/01/rdf-schema#label", words % n))
            for other in range(3):
                file.write(thing % (n, "2004/02/skos/core#altLabel", words % other))
    tracemalloc.start()
    try:
        count = sum(
            len(record.names) for record in read("owl", path) if isinstance(record, Concept)
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 12_000
    assert path.stat().st_size > 1_500_000
    assert peak < 500_000


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    reader = get_reader("owl")  # which needs it only when it reads
    path = _write(tmp_path / "hp.owl", samples.OWL)
    with pytest.raises(MedlinkError, match=r"E614.*pip install .*'\.\[rdf\]'"):
        list(reader(path, None))

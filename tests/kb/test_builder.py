"""Building a knowledge base: merging, reports, kills, full disks, and byte-identical results."""

import tracemalloc
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, KnowledgeBaseBuilder, build_kb, writer
from spacy_medlink.kb.scratch import scratch
from spacy_medlink.types import Concept, Name, Retired
from tests.limits import files_limited_to
from tests.tiny import TINY_RECORDS, concept, kb_of


def many(count):
    return (concept(f"C{number}", f"name {number}") for number in range(count))


def test_what_goes_in_comes_out(tiny_kb):
    given_concepts = [record for record in TINY_RECORDS if isinstance(record, Concept)]
    found = list(tiny_kb)
    first = 0
    for row, (own, expected) in enumerate(zip(found, given_concepts, strict=True)):
        assert (own.row, own.first_name) == (row, first)
        for field in ("id", "name", "names", "types", "definition", "codes", "parents"):
            assert getattr(own, field) == getattr(expected, field), field
        first += len(own.names)
    assert first == tiny_kb.n_names


def test_report_and_manifest(tmp_path):
    records = [
        concept("A", "one", Name("eins", "de", "SRC"), parents=("B", "nowhere")),
        concept("B", "two"),
        concept("empty"),
        concept("A", "one more"),
        Retired("old", "A", "merged"),
    ]
    report = build_kb(tmp_path / "kb", records, {"source": "tests", "release": 7})
    manifest = KnowledgeBase(tmp_path / "kb").manifest
    assert manifest["source"] == "tests"
    assert manifest["release"] == 7
    for name, value in {
        "concepts": 2, "names": 4, "retired": 1, "merged": 1, "without_names": 1,
        "missing_parents": 1, "by_lang": {"en": 3, "de": 1}, "by_source": {"": 3, "SRC": 1},
    }.items():  # fmt: skip
        assert manifest[name] == value, name
        assert getattr(report, name) == (Counter(value) if isinstance(value, dict) else value)


IDS = st.sampled_from("ABCD")
NAMES = st.builds(
    Name, st.sampled_from(["fever", "Fever", "fevers", "heart attack", "MI", "血圧"]),
    st.sampled_from(["en", "de"]), st.sampled_from(["", "X", "Y", "X|Z"]), st.just("PT"),
    st.booleans(),
)  # fmt: skip
CONCEPTS = st.builds(
    lambda id, names, types, codes, parents, definition: concept(
        id, *names, types=types, codes=codes, parents=parents, definition=definition
    ),
    IDS, st.lists(NAMES, max_size=4),
    st.lists(st.sampled_from(["T1", "T2"]), max_size=2).map(tuple),
    st.dictionaries(st.sampled_from("XY"), st.lists(st.sampled_from("12"), min_size=1).map(tuple)),
    st.lists(IDS, max_size=2).map(tuple), st.sampled_from(["", "one", "two"]),
)  # fmt: skip


def unique(values):
    return [*dict.fromkeys(values)]


@settings(max_examples=60)
@given(st.lists(CONCEPTS, min_size=1, max_size=8))
def test_any_records_agree_with_a_model(tmp_path_factory, records):
    pieces = {}
    for record in records:
        if record.names:
            pieces.setdefault(record.id, []).append(record)
    path = tmp_path_factory.mktemp("model") / "kb"
    if not pieces:
        with pytest.raises(MedlinkError, match="E104"):
            build_kb(path, records)
        return
    report = build_kb(path, records)
    kb = KnowledgeBase(path)
    assert [concept.id for concept in kb] == list(pieces)
    assert report.merged == sum(map(len, pieces.values())) - len(pieces)
    for id, own in pieces.items():
        found = kb[id]
        names = [name for piece in own for name in piece.names]
        assert found.name == own[0].names[0].text == found.names[0].text
        texts = [(name.text, name.lang) for name in found.names]
        assert texts == unique((name.text, name.lang) for name in names)
        for name in found.names:
            same = [one for one in names if (one.text, one.lang) == (name.text, name.lang)]
            expected = {source for one in same for source in one.source.split("|") if source}
            assert {source for source in name.source.split("|") if source} == expected
        assert unique(found.types) == unique(type for piece in own for type in piece.types)
        assert found.definition == next((piece.definition for piece in own if piece.definition), "")
        for vocabulary in "XY":
            codes = (code for piece in own for code in piece.codes.get(vocabulary, ()))
            assert unique(found.codes.get(vocabulary, ())) == unique(codes)
        parents = [parent for piece in own for parent in piece.parents]
        assert unique(found.parents) == unique(parents)
        for parent in {*parents} & set(pieces):
            assert id in kb.children(parent)
        for name in names:
            assert id in [concept.id for concept in kb.find(name.text.upper())]


@pytest.mark.parametrize("records", [[], [concept("A")], [concept("A", " ")], [Retired("A")]])
def test_without_any_concept_nothing_is_written(tmp_path, records):
    build_kb(tmp_path / "kb", [concept("A", "a")])
    old = (tmp_path / "kb").read_bytes()
    with pytest.raises(MedlinkError, match=r"E104.*names\.txt.*obo"):
        build_kb(tmp_path / "kb", records, {"source": "names.txt", "format": "obo"})
    assert (tmp_path / "kb").read_bytes() == old
    assert [file.name for file in tmp_path.iterdir()] == ["kb"]


@pytest.mark.parametrize("duplicates", [False, True])
def test_builds_are_identical_to_the_byte(tmp_path, duplicates):
    records = [*TINY_RECORDS, *(TINY_RECORDS[:3] if duplicates else ())]
    for name in ("one", "two"):
        build_kb(tmp_path / name, records, {"b": 1, "a": 2})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_mistake_of_the_caller_leaves_the_old_one(tmp_path):
    build_kb(tmp_path / "kb", many(3))

    def broken():
        yield from many(5)
        raise KeyError("a reader's own")

    with pytest.raises(KeyError):
        build_kb(tmp_path / "kb", broken())
    assert len(KnowledgeBase(tmp_path / "kb")) == 3
    assert [file.name for file in tmp_path.iterdir()] == ["kb"]


def test_the_file_is_not_there_before_the_end(tmp_path):
    with KnowledgeBaseBuilder(tmp_path / "kb") as builder:
        builder.add(concept("A", "one"))
        assert builder.report.concepts == 1
        assert not (tmp_path / "kb").exists()
    assert len(KnowledgeBase(tmp_path / "kb")) == 1


@pytest.mark.parametrize("duplicates", [0, 10])
@pytest.mark.parametrize("limit", [0, 5_000, 60_000, 400_000, 700_000])
def test_a_full_disk_is_reported_and_harms_nothing(tmp_path, limit, duplicates):
    build_kb(tmp_path / "kb", many(3))
    records = [concept(f"C{row}", f"name {row} " * 9) for row in range(4000)]
    records += records[:duplicates]
    with files_limited_to(limit), pytest.raises(MedlinkError) as caught:
        build_kb(tmp_path / "kb", records)
    assert str(caught.value).startswith(f"[E109] Could not write {tmp_path / 'kb'}")
    assert len(KnowledgeBase(tmp_path / "kb")) == 3
    assert [file.name for file in tmp_path.iterdir()] == ["kb"]


def test_odd_characters_come_back(tmp_path):
    texts = [
        "a\u2028b", "x|y", 'quo"te', "back\\slash", "%_*?[", "😀 emoji", "nul\x00byte", "é\u0301",
    ]  # fmt: skip
    records = [
        concept(f"ID {text}", text, definition=text, types=(text,), codes={text: (text,)})
        for text in texts
    ]
    kb = kb_of(tmp_path / "kb", records, {text: text for text in texts})
    for text in texts:
        found = kb[f"ID {text}"]
        tidy = " ".join(text.split())
        assert found.name == tidy
        assert found.definition == text
        assert found.types == (text,)
        assert found.codes == {text: (text,)}
        assert kb.manifest[text] == text


def test_memory_does_not_grow_with_the_number_of_records(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "_CHUNK", 500)
    peaks = []
    for count in (2_000, 8_000):
        tracemalloc.start()
        build_kb(tmp_path / "kb", many(count))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_entities_of_html_are_decoded(tmp_path):
    name = Name("Sj&#246;gren syndrome &amp; dry eye, R&D")
    with KnowledgeBaseBuilder(tmp_path / "one.kb") as builder:
        builder.add(Concept("S", name.text, (name,)))
    kb = KnowledgeBase(tmp_path / "one.kb")
    assert kb["S"].name == "Sjögren syndrome & dry eye, R&D"
    assert [concept.id for concept in kb.find("Sjogren syndrome & dry eye R&D")] == ["S"]


def test_a_full_disk_is_said_with_the_remedy() -> None:
    # SQLite's own limit on pages fails in the very way that a full disk does.
    with (
        pytest.raises(MedlinkError, match=r"E164.*full.*TMPDIR"),
        scratch("PRAGMA max_page_count = 20; CREATE TABLE t (x TEXT)") as db,
    ):
        db.executemany("INSERT INTO t VALUES (?)", (("x" * 1000,) for _ in range(1000)))


def test_nothing_is_left_behind() -> None:
    with scratch("CREATE TABLE t (x TEXT)") as db:
        db.execute("INSERT INTO t VALUES ('a')")
        assert db.execute("PRAGMA database_list").fetchone()[2] == ""  # a file without a name
    with scratch("CREATE TABLE t (x TEXT)") as db:
        assert db.execute("SELECT count(*) FROM t").fetchone() == (0,)

"""Reading a knowledge base: look-ups, histories, hierarchies, threads, processes, damaged files."""

import copy
import multiprocessing
import pickle
import stat
import string
from dataclasses import replace

import numpy as np
import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, schema
from spacy_medlink.kb.browse import near_names, search_concepts
from spacy_medlink.text.normalisation import hash_key, key
from spacy_medlink.types import Concept, Name, Retired
from tests.children import in_threads
from tests.mutants import alter, refused
from tests.tiny import kb_of


def build(path, *records):
    return kb_of(path, records)


def concept(id, *parents, names=()):
    return Concept(id, f"name of {id}", tuple(Name(text) for text in names), parents=parents)


def test_find(tiny_kb):
    assert [concept.id for concept in tiny_kb.find("HEART  ATTACKS")] == ["HP:0001658"]
    assert [concept.id for concept in tiny_kb.find("diabete de type-2")] == ["HP:0005978"]
    assert {concept.id for concept in tiny_kb.find("PE")} == {"HP:0002204", "HP:0001698"}
    for nothing in ("", "---", "no such name", "\ud800"):
        assert tiny_kb.find(nothing) == []


def test_search(tiny_kb):
    found = [(hit.id, hit.matched, hit.how) for hit in search_concepts(tiny_kb, "diabetes")]
    assert found == [
        ("HP:0005978", "diabetes tipo 2", "part"),  # begins with it, and is the shortest
        ("HP:0000819", "Diabetes mellitus", "part"),
        ("HP:0100651", "Type 1 diabetes", "part"),
    ]
    assert len(search_concepts(tiny_kb, "diabetes", limit=1)) == 1
    assert [hit.matched for hit in search_concepts(tiny_kb, "HEAD")] == ["Headache"]
    assert [hit.id for hit in search_concepts(tiny_kb, "2 diabetes")] == ["HP:0005978"], "any order"
    for nothing in ("", " ", "%", "_", "\\", "x" * 100_000, "'; DROP TABLE name; --"):
        assert search_concepts(tiny_kb, nothing) == []
    for endless in ("e " * 3000, " ".join(string.ascii_letters)):  # not compared with all names
        assert search_concepts(tiny_kb, endless) == []


def test_names_and_rows(tiny_kb):
    names = [name for own in tiny_kb for name in own.names]
    assert [name for _, name in tiny_kb.iter_names()] == names
    assert list(tiny_kb.iter_texts()) == [name.text for name in names]
    assert [tiny_kb.name_at(row) for row in range(tiny_kb.n_names)] == names
    assert [tiny_kb.concept_at(row) for row in range(len(tiny_kb))] == list(tiny_kb)
    bare = [tiny_kb.concept_at(row, names=False) for row in range(len(tiny_kb))]
    assert bare == [replace(concept, names=()) for concept in tiny_kb]
    briefs = [tiny_kb.brief_at(row) for row in range(len(tiny_kb))]
    assert briefs == [(concept.id, concept.name, concept.types) for concept in tiny_kb]
    assert tiny_kb.briefs_at(range(len(tiny_kb))) == briefs
    codes = [tiny_kb.codes_at(row) for row in range(len(tiny_kb))]
    assert any(codes) and codes == [concept.codes for concept in tiny_kb]
    texts = [tiny_kb.text_at(row) for row in range(tiny_kb.n_names)]
    assert texts == list(tiny_kb.iter_texts())
    rows = tiny_kb.name_concepts()
    assert rows.tolist() == [concept for concept, _ in tiny_kb.iter_names()]
    assert [rows[own.first_name] for own in tiny_kb] == list(range(len(tiny_kb)))


def test_lookup_table_is_sorted_and_complete(tiny_kb):
    table = list(tiny_kb.lookup_table())
    assert table == sorted(table)
    expected = {
        (int(np.uint64(hash_key(key(name.text))).view(np.int64)), row)
        for row, (_, name) in enumerate(tiny_kb.iter_names())
    }
    assert set(table) == expected
    assert {hash < 0 for hash, _ in table} == {True, False}


def test_membership_and_errors(tiny_kb):
    assert "HP:0001658" in tiny_kb
    assert "HP:0005965" not in tiny_kb  # retired
    for odd in ("", None, 5, b"HP:0001658"):
        assert odd not in tiny_kb
    with pytest.raises(KeyError, match="no concept 'HP:1'"):
        tiny_kb["HP:1"]
    assert tiny_kb["HP:0005978"].codes.get("ICD10CM", ()) == ("E11",)
    assert tiny_kb["HP:0005978"].codes.get("SNOMED", ()) == ()
    assert tiny_kb.code_schemes() == ["ICD10CM", "UMLS"]


def test_resolve_follows_histories(tmp_path):
    kb = build(
        tmp_path / "kb", concept("now"), Retired("a", "b"), Retired("b", "c"), Retired("c", "now"),
        Retired("nothing"), Retired("lost", "nowhere"), Retired("to nothing", "nothing"),
        Retired("x", "y"), Retired("y", "x"), Retired("self", "self"),
        Retired("now", "a"),  # in use all the same
        Retired("a", "too late"),
    )  # fmt: skip
    assert {id: kb.resolve(id) for id in ("now", "a", "b", "c")} == dict.fromkeys(
        ("now", "a", "b", "c"), "now"
    )
    for id in ("nothing", "lost", "to nothing", "x", "y", "self", "never seen", ""):
        assert kb.resolve(id) is None, id


def test_hierarchy(tmp_path):
    kb = build(
        tmp_path / "kb", concept("root"), concept("mid", "root"), concept("side", "root", "gone"),
        concept("leaf", "mid", "side"), concept("deep", "leaf", "root"),
    )  # fmt: skip
    assert kb.ancestors("root") == {}
    assert kb.ancestors("deep") == {"leaf": 1, "root": 1, "mid": 2, "side": 2, "gone": 3}
    assert kb.children("root") == ["mid", "side", "deep"]
    assert kb.children("gone") == kb.children("deep") == []
    assert kb.descendants("root") == {"mid": 1, "side": 1, "deep": 1, "leaf": 2}
    assert list(kb.descendants("mid")) == ["leaf", "deep"]
    with pytest.raises(KeyError):
        kb.ancestors("gone")


def test_cycles_in_the_hierarchy_do_no_harm(tmp_path):
    kb = build(
        tmp_path / "kb", concept("a", "c"), concept("b", "a"), concept("c", "b", "c"),
        concept("self", "self", "a"),
    )  # fmt: skip
    assert kb.ancestors("a") == {"c": 1, "b": 2}
    assert kb.ancestors("self") == {"a": 1, "c": 2, "b": 3}
    assert kb.descendants("a") == {"b": 1, "self": 1, "c": 2}
    assert kb.children("c") == ["a", "c"]


def answers(kb):
    """Whatever can be asked, as plain values."""
    return (
        [kb[id].names for id in ("HP:0001658", "HP:0000822")],
        [concept.id for concept in kb.find("PE")],
        [hit.matched for hit in search_concepts(kb, "a")],
        kb.ancestors("HP:0005978"),
        kb.resolve("HP:0005965"),
        kb.name_concepts().tolist(),
        len(list(kb)),
        kb.manifest,
        repr(kb),
    )


def test_threads_get_the_same_answers(tiny_kb):
    kb = KnowledgeBase(tiny_kb.path)
    expected = answers(tiny_kb)
    for found in in_threads(lambda _: answers(kb), range(64)):
        assert found == expected


def test_streams_in_threads_do_not_mix(tiny_kb):
    expected = list(tiny_kb)
    streams = [iter(tiny_kb) for _ in range(3)]
    assert list(zip(*streams, strict=True)) == [(own, own, own) for own in expected]
    for found in in_threads(lambda _: list(tiny_kb), range(32)):
        assert found == expected


def test_pickle_and_copies_open_anew(tiny_kb):
    expected = answers(tiny_kb)
    data = pickle.dumps(tiny_kb)
    assert len(data) < 1000, "the contents are pickled"
    for other in (pickle.loads(data), copy.copy(tiny_kb), copy.deepcopy(tiny_kb)):
        assert answers(other) == expected


def _answers_of(kb):
    return answers(kb)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_get_the_same_answers(tiny_kb, method):
    expected = answers(tiny_kb)  # the parent has a connection
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(_answers_of, [tiny_kb] * 4).get(timeout=120) == [expected] * 4


def test_an_open_one_outlives_a_new_build(tmp_path):
    kb = build(tmp_path / "kb", concept("old"))
    new = build(tmp_path / "kb", concept("new"), concept("newer"))
    assert [concept.id for concept in kb] == ["old"]
    assert [own.id for own in new] == ["new", "newer"]


def test_it_is_read_only(tmp_path):
    kb = build(tmp_path / "kb", concept("a"))
    before = (tmp_path / "kb").read_bytes()
    (tmp_path / "kb").chmod(stat.S_IRUSR)
    answers_before = list(kb), kb.find("name of a"), search_concepts(kb, "name")
    assert answers_before == (list(kb), kb.find("name of a"), search_concepts(kb, "name"))
    with pytest.raises(MedlinkError, match=r"E102.*readonly"):
        kb._db.execute("DELETE FROM concept")
    assert (tmp_path / "kb").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["kb"], "a journal was made"


@pytest.mark.parametrize("name", ["a b", "a?b=c#d", "100%25", "é血😀", "[x]", "'quote"])
def test_odd_paths(tmp_path, monkeypatch, name):
    build(tmp_path / name, concept("a"))
    monkeypatch.chdir(tmp_path)
    assert len(KnowledgeBase(name)) == len(KnowledgeBase(tmp_path / name)) == 1


@pytest.mark.parametrize("name", ["missing.kb", "missing/too.kb", "directory"])
def test_no_file(tmp_path, name):
    (tmp_path / "directory").mkdir()
    with pytest.raises(MedlinkError, match=r"E101.*medlink kb build"):
        KnowledgeBase(tmp_path / name)


def test_a_database_of_something_else(tmp_path):
    with pytest.raises(MedlinkError, match=r"E102.*another kind"):
        KnowledgeBase(alter(tmp_path / "kb", "CREATE TABLE concept (id TEXT)"))


OTHERS = (b"", b"x", b"concept_id\n" * 1000, b"SQLite format 3\x00", b"\x00" * 4096)


@pytest.mark.parametrize("how", [*OTHERS, 0.02, 0.3, 0.6, 0.9, 0.99])
def test_a_file_of_something_else_or_cut_off(tmp_path, tiny_kb, how):
    content = tiny_kb.path.read_bytes()
    (tmp_path / "kb").touch()
    damaged = how if isinstance(how, bytes) else content[: int(how * len(content))]
    refused(tmp_path / "kb", damaged, KnowledgeBase, tmp_path / "kb", match="E102")


@pytest.mark.parametrize("version", [0, schema.VERSION - 1, schema.VERSION + 1])
def test_a_file_of_another_schema(tmp_path, version):
    build(tmp_path / "kb", concept("a"))
    path = alter(tmp_path / "kb", f"PRAGMA user_version = {version}")
    with pytest.raises(MedlinkError, match=rf"E103.*schema {version}.*schema {schema.VERSION}"):
        KnowledgeBase(path)


def test_an_entity_has_scispacys_fields(tiny_kb: KnowledgeBase) -> None:
    entity = tiny_kb.cui_to_entity["HP:0001945"]
    assert entity._asdict() == {
        "concept_id": "HP:0001945",
        "canonical_name": "Fever",
        "aliases": ["Pyrexia", "fiebre", "Fieber", "fièvre"],
        "types": ["T184"],
        "definition": "Body temperature above normal.",
    }


def test_it_is_a_mapping(tiny_kb: KnowledgeBase) -> None:
    entities = tiny_kb.cui_to_entity
    assert len(entities) == len(list(entities)) == len(tiny_kb)
    assert all(entities[id].concept_id == id for id in entities)
    assert "HP:0001945" in entities
    assert "HP:1" not in entities
    assert entities.get("HP:1") is None
    with pytest.raises(KeyError):
        entities["HP:1"]
    assert pickle.loads(pickle.dumps(entities))["HP:0001945"] == entities["HP:0001945"]


NAMES = {
    "A:1": ("Diabetes mellitus", "Sugar diabetes"), "A:2": ("Hypertension", "Hypertensions"),
    "A:3": ("Hypotension",), "A:4": ("Fever", "Fièvre"), "A:5": ("Sjögren syndrome",),
}  # fmt: skip


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    path = tmp_path_factory.mktemp("near") / "near.kb"
    concepts = (Concept(id, own[0], tuple(map(Name, own))) for id, own in NAMES.items())
    return kb_of(path, concepts, {})


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("diabtes melitus", "Diabetes mellitus"), ("HYPERTENTION", "Hypertension"),
        ("fevr", "Fever"), ("Sjogren syndrom", "Sjögren syndrome"), (" fiebre ", ""),
        ("di", ""), ("", ""), ("x" * 10_000, ""), ("🙂🙂🙂", ""),
    ],
)  # fmt: skip
def test_misspelled_names(kb: KnowledgeBase, text: str, name: str) -> None:
    found = near_names(kb, text)
    assert (found[0][1] if found else "") == name


def test_each_concept_comes_once_the_most_similar_first(kb: KnowledgeBase) -> None:
    found = near_names(kb, "Hypertensio")
    assert [concept.id for concept, _ in found] == ["A:2", "A:3"]
    assert found[0][1] == "Hypertension"
    assert len(near_names(kb, "Hypertensio", limit=1)) == 1

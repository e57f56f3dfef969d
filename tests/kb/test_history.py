"""An update forgets no id: what a release does not say, the knowledge base before it knew."""

from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.umls import generate
from spacy_medlink.kb import KnowledgeBase, build_kb, build_knowledge_base
from spacy_medlink.kb.history import History
from spacy_medlink.terminologies.diff import diff
from spacy_medlink.types import Concept, Name, Record, Retired
from spacy_medlink.util.files import sha256_of

IDS = st.sampled_from("ABCDEFGH")


def concept(id: str, *names: str) -> Concept:
    own = tuple(Name(name) for name in (names or (f"name of {id}",)))
    return Concept(id, own[0].text, own)


def updated(path: Path, old: list[Record], new: list[Record]) -> tuple[KnowledgeBase, History]:
    build_kb(path / "old.kb", old)
    before = History(KnowledgeBase(path / "old.kb"))
    build_kb(path / "new.kb", before.apply(new))
    return KnowledgeBase(path / "new.kb"), before


def test_every_fate_of_an_id(tmp_path):
    old: list[Record] = [
        *map(concept, ("kept", "vanished", "merged now", "deleted now", "nameless now")),
        Retired("merged before", "vanished", "merged"),
        Retired("long gone", "", "deleted"),
        Retired("back again", "kept", "merged"),
        Retired("said anew", "vanished", "merged"),
    ]
    new: list[Record] = [
        concept("kept"), concept("new"), concept("back again"),
        Concept("nameless now", " ", (Name("\t"),)),
        Retired("merged now", "kept", "merged"), Retired("deleted now", "", "deleted"),
        Retired("said anew", "new", "split"),
    ]  # fmt: skip
    kb, before = updated(tmp_path, old, new)
    assert {record.id: record[1:] for record in kb.retired()} == {
        "vanished": ("", "gone"), "nameless now": ("", "gone"), "merged now": ("kept", "merged"),
        "deleted now": ("", "deleted"), "merged before": ("vanished", "merged"),
        "long gone": ("", "deleted"), "said anew": ("new", "split"),
    }  # fmt: skip
    assert before.counts == {
        "in use": 1, "retired by the release": 2, "gone": 2, "retired before": 2, "in use again": 1
    }  # fmt: skip
    assert kb.resolve("merged now") == "kept"
    assert kb.resolve("said anew") == "new"
    assert kb.resolve("back again") == "back again"
    assert kb.resolve("merged before") is None, "what it was merged into is gone"
    assert not diff(before.old, kb).counts["concept vanished"]


@settings(max_examples=25)
@given(
    old_live=st.sets(IDS, min_size=1), new_live=st.sets(IDS, min_size=1),
    old_gone=st.dictionaries(IDS, IDS), new_gone=st.dictionaries(IDS, IDS),
)  # fmt: skip
def test_agrees_with_sets(old_live, new_live, old_gone, new_gone, tmp_path_factory):
    """Any two releases, against the rule written with sets."""
    old = [*map(concept, old_live), *(Retired(*pair, "old") for pair in old_gone.items())]
    new = [*map(concept, new_live), *(Retired(*pair, "new") for pair in new_gone.items())]
    kb, _ = updated(tmp_path_factory.mktemp("any"), old, new)
    expected = dict.fromkeys(new_gone, "new")
    for id in old_live - new_live:
        expected.setdefault(id, "gone")
    for id in old_gone.keys() - new_live:
        expected.setdefault(id, "old")
    assert {record.id: record.reason for record in kb.retired()} == expected
    assert {concept.id for concept in kb} == new_live


def test_generations_of_a_release(tmp_path):
    """Three years of a release: no id that was ever in use is unknown in the end."""
    ever: Counter[str] = Counter()
    for year in range(3):
        generate(tmp_path / str(year), 600, 2200, year=year, fraction=0.05)
        kb = build_knowledge_base(
            out=tmp_path / f"{year}.kb",
            sources=[("umls", tmp_path / str(year))],
            update=tmp_path / f"{year - 1}.kb" if year else None,
        ).kb
        ever.update(concept.id for concept in kb)
        ever.update(record.id for record in kb.retired())
        known = {concept.id for concept in kb} | {record.id for record in kb.retired()}
        assert known == set(ever)


def test_manifest_says_what_was_updated(tmp_path):
    (tmp_path / "old.jsonl").write_text('{"concept_id": "A", "canonical_name": "one"}\n')
    (tmp_path / "new.jsonl").write_text('{"concept_id": "B", "canonical_name": "two"}\n')
    kb = tmp_path / "my.kb"
    build_knowledge_base(out=kb, sources=[("jsonl", tmp_path / "old.jsonl")])
    sha256 = sha256_of(kb)
    built = build_knowledge_base(out=kb, sources=[("jsonl", tmp_path / "new.jsonl")], update=kb)
    assert built.kb.manifest["updated_from"] == {
        "name": "my.kb", "sha256": sha256, "version": "", "concepts": 1, "names": 1, "retired": 0,
        "ids": {
            "gone": 1, "in use": 0, "in use again": 0, "retired before": 0,
            "retired by the release": 0,
        },
    }  # fmt: skip
    assert built.kb.resolve("A") is None and list(built.kb.retired()) == [Retired("A", "", "gone")]

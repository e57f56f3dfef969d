"""Mentions of annotated text become names."""

import pytest
from typer.testing import CliRunner

from spacy_medlink.cli.app import app
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, KnowledgeBaseBuilder
from spacy_medlink.types import Concept, Name, Retired
from tests.fits import mention_names
from tests.lines import write_lines

DIABETES, TYPE_2, TYPE_1 = "HP:0000819", "HP:0005978", "HP:0100651"


def write(path, *mentions, **document):
    lines = [{"mention": text, "ids": list(ids)} for text, *ids in mentions]
    return write_lines(path, *lines, *([document] if document else []))


def new_names(kb, old, id):
    return {name.text for name in kb[id].names} - {name.text for name in old[id].names}


def test_most_annotations_win(tiny_kb, tmp_path):
    gold = write(
        tmp_path / "gold.jsonl",
        ("high sugar", DIABETES), ("High  sugar", TYPE_2), ("high sugar", TYPE_2),
        ("sugar disease", TYPE_1), ("sugar disease", DIABETES),  # of equals the first
        ("adult-onset diabetes", TYPE_2),
        ("both kinds of diabetes", TYPE_1, TYPE_2),  # either is right, the first is taken
    )  # fmt: skip
    kb, facts = mention_names(tmp_path / "new.kb", tiny_kb, [gold])
    assert new_names(kb, tiny_kb, TYPE_2) == {
        "high sugar",
        "adult-onset diabetes",
        "both kinds of diabetes",
    }
    assert new_names(kb, tiny_kb, DIABETES) == {"sugar disease"}
    assert new_names(kb, tiny_kb, TYPE_1) == set()
    (added,) = (name for name in kb[DIABETES].names if name.text == "sugar disease")
    assert (added.source, added.tty, added.lang) == ("mentions", "MENTION", "en")
    assert facts["names"] == 4
    assert facts["concepts"] == 2
    assert kb.manifest["mention_names"]["sources"][0]["mentions"] == 7
    assert [concept.id for concept in kb.find("adult onset diabetes")] == [TYPE_2]


def test_what_teaches_no_name(tiny_kb, tmp_path):
    gold = write(
        tmp_path / "gold.jsonl",
        ("sugar", DIABETES), ("sugar",), ("sugar",),  # mostly NIL
        ("Type 2 Diabetes", TYPE_2),  # a name already
        ("DM2", "XX:1"),  # not in the knowledge base
        ("1234", TYPE_1),
    )  # fmt: skip
    kb, facts = mention_names(tmp_path / "new.kb", tiny_kb, [gold])
    assert facts["names"] == 0
    assert len(kb) == len(tiny_kb)
    assert kb.n_names == tiny_kb.n_names


def test_the_rest_stays(tiny_kb, tmp_path):
    gold = write(tmp_path / "gold.jsonl", ("high sugar", DIABETES))
    kb, _ = mention_names(tmp_path / "new.kb", tiny_kb, [gold])
    assert list(kb.retired()) == list(tiny_kb.retired())
    assert kb.resolve("HP:0005965") == "HP:0005978"
    for old, new in zip(tiny_kb, kb, strict=True):
        assert (old.id, old.name, old.types, old.codes, old.parents, old.definition) == (
            new.id, new.name, new.types, new.codes, new.parents, new.definition
        )  # fmt: skip
        assert set(old.names) <= set(new.names)
    again, _ = mention_names(tmp_path / "again.kb", tiny_kb, [gold])
    assert again.path.read_bytes() == kb.path.read_bytes()


def test_long_form_is_taken(tiny_kb, tmp_path):
    text = "Late onset sugar illness (LOSI) is frequent; LOSI was seen."
    mentions = [{"start": 45, "end": 49, "mention": "LOSI", "ids": [TYPE_2]}]
    gold = write(tmp_path / "gold.jsonl", doc_id="1", text=text, mentions=mentions)
    kb, _ = mention_names(tmp_path / "new.kb", tiny_kb, [gold])
    assert new_names(kb, tiny_kb, TYPE_2) == {"Late onset sugar illness"}


def test_command(tiny_kb, tmp_path):
    gold = write(tmp_path / "gold.jsonl", ("high sugar", DIABETES))
    arguments = ["kb", "add-mentions", tiny_kb.path, gold, "--output", tmp_path / "new.kb"]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    assert "1 names added to 1 concepts" in result.output
    assert KnowledgeBase(tmp_path / "new.kb").find("high sugar")


def test_no_such_file(tiny_kb, tmp_path):
    with pytest.raises(MedlinkError, match="E107"):
        mention_names(tmp_path / "new.kb", tiny_kb, [tmp_path / "none.jsonl"])
    assert not (tmp_path / "new.kb").exists()


def test_ids_that_are_not_there_may_become_concepts(tiny_kb, tmp_path):
    gold = write(
        tmp_path / "gold.jsonl",
        ("sweet disease", "XX:2"), ("very sweet", "XX:2"), ("very sweet", "XX:2"),
        ("very sweet", DIABETES),
        ("high sugar", "XX:1"), ("high sugar", DIABETES),  # of equals the one that is there
        ("12", "XX:3"),
        ("adult-onset diabetes", TYPE_2, "XX:4"),  # one of its concepts is there
    )  # fmt: skip
    kb, facts = mention_names(tmp_path / "new.kb", tiny_kb, [gold], new_concepts=True)
    assert {concept.id for concept in kb} - {concept.id for concept in tiny_kb} == {"XX:2"}
    assert kb["XX:2"].name == "very sweet"
    assert [name.text for name in kb["XX:2"].names] == ["very sweet", "sweet disease"]
    assert (facts["names"], facts["concepts"], facts["new_concepts"]) == (4, 3, 1)
    assert mention_names(tmp_path / "none.kb", tiny_kb, [gold]).entry["new_concepts"] == 0


def test_an_id_that_was_retired_does_not_come_back(tmp_path):
    with KnowledgeBaseBuilder(tmp_path / "old.kb", {}) as builder:
        builder.add(Concept("A:1", "asthma", (Name("asthma", "en"),)))
        builder.add(Retired("A:2"))
    gold = write(tmp_path / "gold.jsonl", ("wheezing", "A:2"), ("asthma", "A:1"))
    kb, facts = mention_names(
        tmp_path / "new.kb", KnowledgeBase(tmp_path / "old.kb"), [gold], new_concepts=True
    )
    assert facts["new_concepts"] == 0 and len(kb) == 1
    assert list(kb.retired()) == [Retired("A:2")]

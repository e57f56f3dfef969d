"""Mentions of annotated text become names."""

import pytest
from typer.testing import CliRunner

from spacy_medlink.cli.app import app
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, KnowledgeBaseBuilder
from spacy_medlink.types import Retired
from tests.fits import mention_names
from tests.lines import write_lines

DIABETES, TYPE_2, TYPE_1 = "HP:0000819", "HP:0005978", "HP:0100651"
LATE = "Late onset sugar illness (LOSI) is frequent; LOSI was seen."
LOSI = {"doc_id": "1", "text": LATE, "mentions": [{"start": 45, "end": 49, "ids": [TYPE_2]}]}
# Mentions with their ids, the names that they give, and those where ids may become concepts.
CASES = [
    ("most say so", "high sugar=1,High  sugar=2,high sugar=2", "2: high sugar", None),
    ("of equals the first", "sugar disease=T,sugar disease=1", "1: sugar disease", None),
    ("either is right, the first is taken", "both kinds=T 2", "2: both kinds", None),
    ("mostly NIL", "sugar=1,sugar=,sugar=", "", None),
    ("as many are NIL", "sugar=1,sugar=", "", None),
    ("a name already", "Type 2 Diabetes=2", "", None),
    ("no letters", "1234=T,12=XX:3", "", None),
    ("the long form", LOSI, "2: Late onset sugar illness", None),
    ("spelled in two ways", "high sugar=1,high sugars=1", "1: high sugar|high sugars", None),
    ("unknown", "sweet=X:2,very sweet=X:2,very sweet=X:2,very sweet=1", "1: very sweet",
     "X:2: very sweet|sweet"),
    ("of equals the one that is there", "high sugar=XX:1,high sugar=1", "1: high sugar", None),
    ("one of its ids is there", "adult-onset diabetes=2 XX:4", "2: adult-onset diabetes", None),
    ("retired ids do not come back", "old sugar=R", "", None),
]  # fmt: skip
IDS = {"1": DIABETES, "2": TYPE_2, "T": TYPE_1, "R": "R:1"}


@pytest.fixture(scope="module")
def kb(tiny_kb, tmp_path_factory):
    """A knowledge base with a retired id that nothing replaces."""
    path = tmp_path_factory.mktemp("names") / "kb"
    with KnowledgeBaseBuilder(path) as builder:
        for record in [*tiny_kb, *tiny_kb.retired(), Retired("R:1")]:
            builder.add(record)
    return KnowledgeBase(path)


def gold_of(path, said):
    """Write a gold file of "mention=id id,..."."""
    if isinstance(said, dict):
        return write_lines(path, said)
    split = (mention.partition("=")[::2] for mention in said.split(","))
    lines = (
        {"mention": text, "ids": [IDS.get(id, id) for id in ids.split()]} for text, ids in split
    )
    return write_lines(path, *lines)


def new_names(kb, old):
    """List the names that concepts have got, as "id: name|name"."""
    short = {id: letter for letter, id in IDS.items()}
    got = {}
    for concept in kb:
        before = old[concept.id].names if concept.id in old else ()
        if names := [name for name in concept.names if name not in before]:
            assert {(name.source, name.tty, name.lang) for name in names} == {
                ("mentions", "MENTION", "en")
            }
            got[short.get(concept.id, concept.id)] = "|".join(name.text for name in names)
    return ", ".join(f"{id}: {names}" for id, names in got.items())


@pytest.mark.parametrize(("said", "names", "with_new"), [one[1:] for one in CASES],
                         ids=[one[0] for one in CASES])  # fmt: skip
def test_what_gives_a_name(kb, tmp_path, said, names, with_new):
    gold = gold_of(tmp_path / "gold.jsonl", said)
    for new_concepts, expected in ((False, names), (True, with_new or names)):
        made = mention_names(tmp_path / "new.kb", kb, [gold], new_concepts=new_concepts)
        assert new_names(made.kb, kb) == expected
        assert made.entry["names"] == expected.count("|") + expected.count(": ")
        assert made.entry["new_concepts"] == len(made.kb) - len(kb)
        for concept in kb:  # the rest stays
            kept = made.kb[concept.id]
            assert set(concept.names) <= set(kept.names) and kept.codes == concept.codes
            assert (kept.name, kept.parents) == (concept.name, concept.parents)
        assert list(made.kb.retired()) == list(kb.retired())
        assert made.kb.manifest["mention_names"] == made.entry


def test_what_gives_none_is_counted(tiny_kb, tmp_path):
    said = "sugar=1,sugar=,sugar=,Type 2 Diabetes=2,DM2=XX:1,high sugar=1"
    gold = gold_of(tmp_path / "gold.jsonl", said)
    kb, entry = mention_names(tmp_path / "new.kb", tiny_kb, [gold])
    assert entry["no_effect"] == {
        "unknown id": 1, "is a name already": 1, "is mostly no concept": 3
    }  # fmt: skip
    assert (entry["names"], entry["concepts"], entry["sources"][0]["mentions"]) == (1, 1, 6)
    again, _ = mention_names(tmp_path / "again.kb", tiny_kb, [gold])
    assert again.path.read_bytes() == kb.path.read_bytes()


def test_command(tiny_kb, tmp_path):
    gold = gold_of(tmp_path / "gold.jsonl", "high sugar=1")
    arguments = ["kb", "add-mentions", tiny_kb.path, gold, "--output", tmp_path / "new.kb"]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    assert "1 names added to 1 concepts" in result.output
    assert KnowledgeBase(tmp_path / "new.kb").find("high sugar")


def test_no_such_file(tiny_kb, tmp_path):
    with pytest.raises(MedlinkError, match="E107"):
        mention_names(tmp_path / "new.kb", tiny_kb, [tmp_path / "none.jsonl"])
    assert not (tmp_path / "new.kb").exists()

"""Corrections: what is no concept is learned, and what changes nothing is counted."""

from pathlib import Path

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.learn import learn
from spacy_medlink.cli.app import app
from spacy_medlink.evaluation import Settings, load_gold, measure
from spacy_medlink.evaluation.gold_set import Case
from spacy_medlink.fitting.memory import Votes
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.gold import GoldMention
from spacy_medlink.linking.decision import NOT_A_CONCEPT
from spacy_medlink.types import Mention
from tests.lines import write_lines

_FIELDS = ("mention", "ids")
FEVER, PNEUMONIA, ASTHMA = "HP:0001945", "HP:0002090", "HP:0002099"


def _write(path: Path, *lines: tuple[str, list[str]] | dict[str, object]) -> Path:
    made = (
        line if isinstance(line, dict) else dict(zip(_FIELDS, line, strict=True)) for line in lines
    )
    return write_lines(path, *made)


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory, tiny_kb: KnowledgeBase) -> Assets:
    place = tmp_path_factory.mktemp("corrections")
    gold = _write(
        place / "corrections.jsonl",
        ("Fever", []),  # a name, and no concept all the same
        ("new onset", []), ("new onset", []), ("new onset", [ASTHMA]),
        ("half", []), ("half", [ASTHMA]),
        ("mostly one", []), ("mostly one", [ASTHMA]), ("mostly one", [ASTHMA]),
        {"mention": "cold", "ids": [], "type": "TEMPERATURE"},
        {"mention": "cold", "ids": [PNEUMONIA], "type": "DISEASE"},
        {"mention": "cold", "ids": [PNEUMONIA], "type": "DISEASE"},
    )  # fmt: skip
    return build_assets(place / "assets", tiny_kb.path, memory=[gold])


def _link(assets: Assets, *texts: str, **config: object) -> list[tuple[str, str]]:
    nlp = spacy.blank("en")
    linker = nlp.add_pipe("medical_linker", config={"assets": str(assets.path), **config})
    return [(link.id, link.reason) for link in linker.link_texts(texts)]


def test_what_most_call_no_concept_is_nil_and_says_so(assets: Assets) -> None:
    nil = ("NIL", NOT_A_CONCEPT)
    assert _link(assets, "fever", "FEVERS", "new onset") == [nil, nil, nil]
    assert _link(assets, "mostly one") == [(ASTHMA, "")]
    assert assets.manifest["memory"]["nil"] == 3


def test_half_of_the_votes_deny_nothing(assets: Assets) -> None:
    assert _link(assets, "half")[0][1] != NOT_A_CONCEPT
    assert not assets.memory.denies(["half", "mostly one", "never said"]).any()


def test_labels_tell_apart_what_is_denied(assets: Assets) -> None:
    memory = assets.memory
    assert memory.denies(["cold"], "TEMPERATURE").tolist() == [True]
    assert memory.denies(["cold"], "DISEASE").tolist() == [False]
    assert memory.denies(["cold"]).tolist() == [False]


def test_a_document(assets: Assets) -> None:
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "X", "pattern": text} for text in ("fever", "asthma")])
    linker = nlp.add_pipe("medical_linker", config={"assets": str(assets.path)})
    doc = nlp("fever and asthma")
    fever, asthma = doc.ents
    assert (fever.kb_id_, fever._.cui, fever._.reason) == ("NIL", None, NOT_A_CONCEPT)
    assert fever._.candidates[0]["id"] == FEVER, "what it would have been is still to be seen"
    assert asthma.kb_id_ == ASTHMA
    assert f"NIL: {NOT_A_CONCEPT}" in str(linker.explain(fever))


def test_what_the_document_identifies_is_linked_all_the_same(assets: Assets) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": "fever"}])
    nlp.add_pipe("medical_linker", config={"assets": str(assets.path)})
    (ent,) = nlp(f"a fever ({FEVER}) for days").ents
    assert (ent.kb_id_, ent._.reason) == (FEVER, "")


def test_a_denied_mention_is_not_taken_apart(assets: Assets, tmp_path: Path) -> None:
    gold = _write(tmp_path / "c.jsonl", ("pneumonia and asthma", []))
    denied = build_assets(tmp_path / "a", assets.kb.path, memory=[gold])
    asked = "pneumonia and asthma"
    assert _link(assets, asked, composite=True)[0][0] == PNEUMONIA
    assert _link(denied, asked, composite=True) == [("NIL", NOT_A_CONCEPT)]


def test_a_part_that_is_denied_is_no_part(assets: Assets, tiny_assets: Assets) -> None:
    def parts(one: Assets) -> list[str]:
        config = {"assets": str(one.path), "composite": True, "tiers": ["exact", "ngram"]}
        linker = spacy.blank("en").add_pipe("medical_linker", config=config)
        (link,) = linker.link_texts(["fever and asthma"])
        return [part["id"] for part in link.parts]

    assert parts(tiny_assets) == [FEVER, ASTHMA]
    assert parts(assets) == []


def test_evaluation_counts_it_as_nil(assets: Assets, tiny_assets: Assets, tmp_path: Path) -> None:
    gold = _write(tmp_path / "gold.jsonl", ("fever", []), ("asthma", [ASTHMA]))
    found = measure(assets, load_gold(gold, assets.kb), Settings(ks=(1,)))
    assert found["nil"]["f1"] == 1
    without = measure(tiny_assets, load_gold(gold, assets.kb), Settings(ks=(1,)))
    assert without["nil"]["f1"] == 0


def test_an_update_carries_it_over(assets: Assets, tmp_path: Path) -> None:
    new = build_assets(tmp_path / "new", assets.kb.path, update=assets.path)
    assert _link(new, "fever") == [("NIL", NOT_A_CONCEPT)]


def test_a_file_of_nil_corrections_alone(tmp_path: Path, tiny_kb: KnowledgeBase) -> None:
    gold = _write(tmp_path / "nil.jsonl", ("fever", []))
    plain = build_assets(tmp_path / "plain", tiny_kb.path)
    done = learn(plain, tmp_path / "learned", gold)
    assert _link(done.assets, "fever") == [("NIL", NOT_A_CONCEPT)]
    assert "ranker" in done.left_out


def test_what_changes_nothing_is_counted_and_shown(tmp_path: Path, tiny_kb: KnowledgeBase) -> None:
    gold = _write(
        tmp_path / "corrections.jsonl",
        ("the sugar", [ASTHMA]), ("the sugar", [FEVER]), ("the sugar", [FEVER]),
        ("hot", ["X:1"]),
        ("---", [FEVER]),
        {"doc_id": "a", "text": "so cold", "mentions": [
            {"start": 3, "end": 7, "mention": "cold", "ids": ["Y:2"]},
            {"start": 3, "end": 7, "mention": "cold", "ids": [PNEUMONIA]},
        ]},
    )  # fmt: skip
    command = ["build", tiny_kb.path, "--output", tmp_path / "a", "--memory", gold]
    stdout = CliRunner().invoke(app, list(map(str, command))).stdout
    (source,) = Assets(tmp_path / "a").manifest["memory"]["sources"]
    assert source["no_effect"] == {
        "holds nothing that could be looked up": {"count": 1, "lines": [5]},
        "other lines say something else": {"count": 1, "lines": [1]},
        "repeats an earlier line": {"count": 1, "lines": [3]},
        "unknown id": {"count": 2, "lines": [4, 6]},
    }
    assert f"{gold.name}: 2 without effect, unknown id (line 4, 6)" in stdout


@given(votes=st.dictionaries(st.sampled_from(["", "A", "B", "C"]), st.integers(1, 9), min_size=1))
def test_nil_needs_a_majority(votes: dict[str, int]) -> None:
    counted = Votes(kb=None)  # which is asked for no concept
    for id, count in votes.items():
        gold = GoldMention("key", (id,) if id else ())
        for _ in range(count):
            counted.add(Case(Mention("key"), frozenset(), gold, "0", "en"), gold.ids)
    lines, best = counted.lines(), max(votes.values())
    if not lines:
        assert votes[""] == best and 2 * best <= sum(votes.values())
    elif lines[0].id == "":
        assert 2 * votes[""] > sum(votes.values())
    else:
        assert votes[lines[0].id] == best and votes.get("", 0) < best

"""Held-out names."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase
from tests.tables import table
from tests.tiny import concept, kb_of
from training.data.holdout import Holdout, kb_identity, make_holdout
from training.data.names import read_names, string_hash

WORDS = st.text(st.sampled_from("abcAB é-"), min_size=1, max_size=3).filter(str.strip)
NAMES = st.lists(st.lists(WORDS, min_size=1, max_size=5, unique=True), min_size=3, max_size=12)


def _kb(path: Path, names: list[list[str]]) -> KnowledgeBase:
    return kb_of(path, [concept(f"C{number}", *texts) for number, texts in enumerate(names)])


@given(NAMES, st.integers(0, 9))
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_a_held_out_string_is_nowhere_else(tmp_path_factory, texts, seed):
    kb = _kb(tmp_path_factory.mktemp("kb") / "kb", texts)
    try:
        holdout = make_holdout(kb, 0.5, 100, seed)
    except MedlinkError as error:
        assert error.code == "E530"
        return
    seen = {
        string_hash(name.text)
        for row, (_, name) in enumerate(kb.iter_names())
        if row not in holdout.rows
    }
    queries = [*holdout.dev, *holdout.test]
    assert not seen & {string_hash(query.text) for query in queries}
    assert len({query.concept for query in queries}) == len(queries)
    for query in queries:
        concept = kb.concept_at(query.concept)
        assert query.id == concept.id
        assert query.row in holdout.rows
        assert concept.first_name not in holdout.rows
        assert kb.name_at(query.row).text == query.text


def test_halves_are_even_and_the_seed_decides(tiny_kb):
    holdout = make_holdout(tiny_kb, 0.5, 100, seed=1)
    assert holdout.dev
    assert 0 <= len(holdout.test) - len(holdout.dev) <= 1
    assert holdout == make_holdout(tiny_kb, 0.5, 100, seed=1)
    assert holdout != make_holdout(tiny_kb, 0.5, 100, seed=2)
    assert len(make_holdout(tiny_kb, 0.5, 3, seed=1).rows) == 3


def test_training_never_sees_a_held_out_name(tiny_kb):
    holdout = make_holdout(tiny_kb, 0.5, 100, seed=0)
    names = read_names(tiny_kb, skip=holdout.rows)
    assert not set(names.rows.tolist()) & set(holdout.rows)
    assert not {string_hash(query.text) for query in holdout.dev} & set(names.strings.tolist())


def test_files_are_mentions_and_can_be_read_back(tmp_path, tiny_kb):
    holdout = make_holdout(tiny_kb, 0.5, 100, seed=0)
    holdout.save(tmp_path / "held")
    assert Holdout.load(tmp_path / "held", tiny_kb) == holdout
    for half, queries in (("dev", holdout.dev), ("test", holdout.test)):
        lines = (tmp_path / "held" / f"{half}.jsonl").read_text("utf-8").splitlines()
        mentions = [json.loads(line) for line in lines]
        assert [mention["mention"] for mention in mentions] == [query.text for query in queries]
        assert [mention["ids"] for mention in mentions] == [[query.id] for query in queries]
        assert all(mention.keys() == {"mention", "ids", "lang", "type"} for mention in mentions)


def test_a_hold_out_of_another_kb_is_refused(tmp_path, tiny_kb):
    other = _kb(tmp_path / "other.kb", [["a", "b"], ["c", "d"]])
    make_holdout(other, 0.5, 100, seed=0).save(tmp_path / "held")
    with pytest.raises(MedlinkError, match=r"E507.*another KB"):
        Holdout.load(tmp_path / "held", tiny_kb)
    assert kb_identity(other) != kb_identity(tiny_kb)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"kb": "x", "rows": [], "dev": [1]}'])
def test_a_damaged_hold_out_is_an_error(tmp_path, tiny_kb, text):
    (tmp_path / "holdout.json").write_text(text, encoding="utf-8")
    with pytest.raises(MedlinkError, match="E507"):
        Holdout.load(tmp_path, tiny_kb)


@table(__file__, "a_kb_without_two_names_a_concept_is_an_error")
def test_a_kb_without_two_names_a_concept_is_an_error(tmp_path, names):
    with pytest.raises(MedlinkError, match="E530"):
        make_holdout(_kb(tmp_path / "kb", names), 0.5, 100, seed=0)

"""What annotated text says mentions are: learned, looked up first, carried over."""

import pytest

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import build_kb
from spacy_medlink.retrieval.memory import Remembered, memory_key, read_memory
from spacy_medlink.types import Mention
from tests.lines import note, write_lines
from tests.mutants import refused
from tests.tiny import TINY_RECORDS

MENTIONS = [
    ("the sugar", ["HP:0000819"], "DISEASE"), ("The Sugars", ["HP:0000819"], "DISEASE"),
    ("the sugar", ["HP:0005978"], "FINDING"),
    ("bad lungs", ["HP:0002099"], "DISEASE"), ("bad lungs", ["HP:0002090"], "DISEASE"),
    ("AF", ["HP:0001945"], "DISEASE"),
    ("old id", ["HP:0005965"], ""),
    ("unknown", ["X:404"], ""), ("nothing", [], ""), ("---", ["HP:0002099"], ""),
    ("fever", ["HP:0002315"], "DISEASE"),
]  # fmt: skip


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    lines = [{"mention": text, "ids": ids, "type": label} for text, ids, label in MENTIONS]
    defined = "The dropsy sickness (DSS) came back; DSS was treated."
    document = note(defined, ("DSS", "HP:0001698"), doc_id="1")
    return write_lines(tmp_path_factory.mktemp("gold") / "gold.jsonl", *lines, document)


@pytest.fixture(scope="module")
def assets(tmp_path_factory, tiny_kb, tiny_encoder, gold):
    out = tmp_path_factory.mktemp("memory") / "assets"
    return build_assets(out, tiny_kb.path, tiny_encoder, memory=[gold])


def best(assets, text, label="", **settings):
    (ranking,) = assets.engine(**settings).rank([Mention(text, label=label)], 5)
    return assets.kb.concept_at(ranking[0].row).id, ranking[0]


@pytest.mark.parametrize("exact_first", [False, True])
def test_mentions_are_what_they_were(assets, exact_first):
    def id(text, label=""):
        return best(assets, text, label, exact_first=exact_first)[0]

    assert id("the sugar") == id("THE SUGARS") == id("the-sugar") == "HP:0000819", "most votes"
    assert id("the sugar", "FINDING") == "HP:0005978"
    assert id("the sugar", "DISEASE") == id("the sugar", "UNHEARD OF") == "HP:0000819"
    assert id("bad lungs") == "HP:0002090", "of as many votes the first id"
    assert id("old id") == "HP:0005978"
    assert id("dropsy sickness") == "HP:0001698"
    assert id("fever") == "HP:0002315", "even where a name says otherwise"
    assert id("fever", "FINDING") == "HP:0002315", "remembered under another label"
    assert id("AF") == "HP:0001945"
    assert id("af") != "HP:0001945", "short upper-case forms are told apart"


def test_a_memory_is_a_perfect_match_and_a_tier(assets):
    _, first = best(assets, "fever")
    assert first.score == pytest.approx(1, abs=2e-3)
    assert first.scores["memory"] == 1
    assert first.ranks["memory"] == 1
    (ranking,) = assets.engine().rank([Mention("fever")], 5)
    assert ranking[1].scores["memory"] == 0
    assert ranking[0].decided in ("", "memory")
    assert best(assets, "fever", memory=False)[0] == "HP:0001945"
    assert "memory" not in best(assets, "fever", memory=False)[1].scores


def test_the_manifest_counts(assets, gold):
    facts = assets.manifest["memory"]
    assert facts["sources"][0]["name"] == gold.name
    assert len(facts["sources"][0]["sha256"]) == 64
    assert facts["sources"][0]["mentions"] == len(MENTIONS) + 1
    assert (facts["not_in_kb"], facts["conflicts"]) == (1, 2)
    lines = read_memory(assets.path / "memory")
    assert facts["entries"] == len(lines)
    assert Remembered("the sugar", "", "HP:0000819", 2, 3) in lines
    assert Remembered("nothing", "", "", 1, 1) in lines
    assert not any(line.key in ("unknown", "") for line in lines)
    assert Assets(assets.path, verify=True).engine().parts.memory is not None


def test_updates_carry_it_over(assets, tmp_path, tiny_encoder):
    kept = [record for record in TINY_RECORDS if record.id != "HP:0002315"]
    build_kb(tmp_path / "kb", reversed(kept))
    new = build_assets(tmp_path / "new", tmp_path / "kb", tiny_encoder, update=assets.path)
    assert best(new, "the sugar")[0] == "HP:0000819"
    assert best(new, "fever")[0] == "HP:0001945", "what it was is gone"
    assert new.manifest["memory"]["sources"] == assets.manifest["memory"]["sources"]
    assert new.manifest["memory"]["entries"] == assets.manifest["memory"]["entries"] - 2


def test_a_bad_file_is_said_before_anything_is_built(tmp_path, tiny_kb):
    with pytest.raises(MedlinkError, match="E107"):
        build_assets(tmp_path / "a", tiny_kb.path, memory=[tmp_path / "missing"])
    assert not (tmp_path / "a").exists()


def test_a_damaged_memory(assets, tmp_path):
    assets.copy_to(tmp_path / "copy")
    path = tmp_path / "copy" / "memory" / "memory.jsonl"
    refused(path, "of its size", lambda: Assets(tmp_path / "copy").engine())


def test_keys():
    assert memory_key("Heart Attacks") == memory_key("heart-attack")
    assert memory_key("ALL") != memory_key("all")
    assert memory_key("--") == ""


def test_spellings_are_told_apart_where_they_mean_something_else(tiny_kb, tmp_path):
    """Plural endings and British spelling are folded by keys; now and then they tell."""
    said = [
        ("chest cold", "HP:0002090"), ("chest cold", "HP:0002090"), ("Chest-cold", "HP:0002090"),
        ("chest colds", "HP:0002099"), ("chest colds", "HP:0002090"), ("Chest Colds", "HP:0002099"),
        ("lung trouble", "HP:0002090"), ("lung troubles", "HP:0002090"),
    ]  # fmt: skip
    lines = ({"mention": text, "ids": [id]} for text, id in said)
    gold = write_lines(tmp_path / "gold.jsonl", *lines)
    assets = build_assets(tmp_path / "assets", tiny_kb.path, memory=[gold])
    links = {text: best(assets, text)[0] for text, _ in said}
    assert links.pop("chest colds") == links.pop("Chest Colds") == "HP:0002099"
    assert set(links.values()) == {"HP:0002090"}
    assert assets.manifest["memory"]["mentions"] == 2
    spelled = [line for line in read_memory(assets.path / "memory") if line.spelling]
    assert {line.key for line in spelled} == {memory_key("chest cold")}, "only where it tells"
    assert not any(line.is_general for line in spelled)


def test_a_spelling_may_be_none_where_others_are_one_and_one_where_others_are_none(
    tiny_kb, tmp_path
):
    said = [
        *[("chest cold", "")] * 3, *[("chest colds", "HP:0002099")] * 2,
        *[("lung trouble", "HP:0002090")] * 3, *[("lung troubles", "")] * 2,
    ]  # fmt: skip
    lines = ({"mention": text, "ids": [id] if id else []} for text, id in said)
    gold = write_lines(tmp_path / "gold.jsonl", *lines)
    assets = build_assets(tmp_path / "assets", tiny_kb.path, memory=[gold])
    rows = assets.memory.find(list(dict(said)))
    found = [assets.kb.concept_at(row).id if row >= 0 else "" for row in rows.tolist()]
    assert found == ["", "HP:0002099", "HP:0002090", ""]
    again = build_assets(tmp_path / "again", tiny_kb.path, update=assets.path)
    assert again.memory.find(list(dict(said))).tolist() == rows.tolist()

"""Assets with an overlay link as assets do whose knowledge base was built with the same rules."""

import pickle

import pytest

from spacy_medlink.assets import build_assets
from spacy_medlink.assets.overlaid import OverlaidAssets
from spacy_medlink.kb.rules import Rule, Rules
from spacy_medlink.retrieval.filters import Filter
from spacy_medlink.types import Concept, Mention, Name
from tests.lines import write_lines
from tests.tiny import TINY_RECORDS, assets_of

RULES = [
    Rule(1, "add", "sweet blood", "HP:0000819"), Rule(2, "add", "Honigblut", "HP:0000819", "de"),
    Rule(3, "retire", "", "HP:0000822"), Rule(4, "deny", "heart attack"),
    Rule(5, "force", "DM", "HP:0005978"),
]  # fmt: skip
TEXTS = (
    "sweet blood", "sweet bloods", "honigblut", "high blood pressure", "heart attack", "DM",
    "Myocardial infarction", "Diabetes mellitus", "T2DM",
)  # fmt: skip
TIERS = ({"exact"}, {"exact", "ngram"}, {"exact", "ngram", "dense"})


@pytest.fixture(scope="module")
def built(tmp_path_factory, tiny_encoder):
    """The assets, and those of the knowledge base with the rules built in."""
    place = tmp_path_factory.mktemp("overlaid")
    curated = Rules([Rule(**vars(rule)) for rule in RULES]).apply(TINY_RECORDS)
    return (
        assets_of(place / "base", TINY_RECORDS, tiny_encoder),
        assets_of(place / "curated", curated, tiny_encoder),
    )


def overlaid(assets, *rules):
    return OverlaidAssets(assets, Rules(list(rules or RULES)))


def first_ids(assets, texts=TEXTS, n=3, only=None, **settings):
    linker = assets.engine(calibrator=False, **settings)
    decided = linker.decide([Mention(text=text) for text in texts], only, force=True)
    return [
        [linker.parts.kb.brief_at(one.row)[0] for one in decision.ranking[:n]]
        for decision in decided
    ]


@pytest.mark.parametrize("tiers", TIERS, ids=lambda tiers: "-".join(sorted(tiers)))
@pytest.mark.parametrize(
    "only",
    [None, Filter.of(languages=["de"]), Filter.of(types=["T047"]), Filter.of(deny=["HP:0000819"])],
)
def test_as_if_built_so(built, tiers, only):
    base, curated = built
    settings = {"tiers": sorted(tiers), "n": 1}
    if tiers != {"exact"}:  # other tiers know the names of the overlay after a build
        named = first_ids(curated, only=only, tiers=["exact"])
        settings["texts"] = [text for text, ids in zip(TEXTS, named, strict=True) if ids]
    if tiers == {"exact", "ngram", "dense"}:
        settings["weights"] = curated.weights  # which a build finds anew
    expected = first_ids(curated, only=only, **settings)
    assert first_ids(overlaid(base), only=only, **settings) == expected
    every = {**settings, "texts": TEXTS}
    assert first_ids(overlaid(base), only=only, **every) != first_ids(base, only=only, **every)


def test_the_name_that_matched_is_known(built):
    own = overlaid(built[0])
    linker = own.engine(calibrator=False)
    explanation = str(linker.explain(Mention(text="sweet blood")))
    assert "HP:0000819" in explanation and "sweet blood" in explanation
    (decision,) = linker.decide([Mention(text="sweet blood")])
    assert decision.ranking[0].scores == pytest.approx({"exact": 1, "ngram": 1})
    assert own.kb.name_at(decision.ranking[0].name_row).source == "curation"
    assert own.filters.mask((Filter.of(sources=["curation"]),)).count == 3


def test_it_is_newer_than_the_memory(tmp_path, tiny_encoder):
    said = {
        "T2DM": "HP:0000819", "heart attack": "HP:0001658", "cold hands": "", "DM": "HP:0000819",
    }  # fmt: skip
    mentions = ({"mention": text, "ids": [id] if id else []} for text, id in said.items())
    gold = write_lines(tmp_path / "gold.jsonl", *mentions)
    kb = assets_of(tmp_path, TINY_RECORDS).kb
    base = build_assets(tmp_path / "base", kb.path, tiny_encoder, memory=[gold])
    rules = [
        Rule(1, "force", "T2DM", "HP:0005978"), Rule(2, "deny", "heart attack", "HP:0001658"),
        Rule(3, "add", "cold hands", "HP:0005978"),
    ]  # fmt: skip
    assert [line.id for line in overlaid(base, *rules).memory_lines] == ["HP:0000819"]
    ids = first_ids(overlaid(base, *rules), ["T2DM", "heart attack", "cold hands", "DM"], 1)
    assert ids[0] == ids[2] == ["HP:0005978"] and ids[1] != ["HP:0001658"]
    assert ids[3] == ["HP:0000819"]
    retired = overlaid(base, Rule(1, "retire", "", "HP:0000819"))
    assert {line.id for line in retired.memory_lines} == {"HP:0001658", ""}
    assert first_ids(retired, ["DM"], 1) != [["HP:0000819"]]


def test_it_travels_and_reloads(built):
    own = overlaid(built[0])
    expected = first_ids(own)
    assert first_ids(pickle.loads(pickle.dumps(own))) == expected
    assert first_ids(own.reload()) == expected
    assert own.move("cpu") is own


def test_nothing_to_add(built):
    own = overlaid(built[0], Rule(1, "add", "x", "HP:9"))
    assert own.added_names() is None
    assert first_ids(own) == first_ids(built[0])


def test_a_concept_that_loses_all_names(tmp_path):
    records = [Concept("1", "Fever", (Name("Fever"),)), Concept("2", "Fevers", (Name("Fevered"),))]
    own = overlaid(assets_of(tmp_path, records), Rule(1, "deny", "fever"))
    assert first_ids(own, ["fever"]) == [["2"]]
    assert own.kb["1"].names == ()


def test_a_build_of_assets_is_untouched(built, tmp_path):
    own = overlaid(built[0])
    own.copy_to(tmp_path / "copy")
    assert build_assets(tmp_path / "again", own.kb.path).manifest["kb"] == built[0].manifest["kb"]
    assert "sweet blood" not in (tmp_path / "copy" / "manifest.json").read_text()

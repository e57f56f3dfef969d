import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.assets import Assets
from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation import Settings, load_gold, measure
from spacy_medlink.evaluation.gold_set import Case
from spacy_medlink.evaluation.judging import judge, rank_names
from spacy_medlink.evaluation.outcome import unpack
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Candidate, Mention
from tests.lines import write_lines

TEXT = "Type 2 diabetes (TD) and fiebre; TD is treated. NIDDM. No zebra."
NOTE = {
    "doc_id": "note",
    "text": TEXT,
    "mentions": [
        {"start": 0, "end": 15, "mention": "Type 2 diabetes", "ids": ["HP:0005978"], "type": "D"},
        {"start": 25, "end": 31, "mention": "fiebre", "ids": ["C0015967"], "type": "S"},
        {"start": 33, "end": 35, "mention": "TD", "ids": ["ICD10CM:E11"], "type": "D"},
        {"start": 58, "end": 63, "mention": "zebra", "ids": [], "type": "S"},
    ],
}
BARE = [
    {"mention": "PE", "ids": ["HP:0001698"], "lang": "es"},  # shared with lung embolism
    {"mention": "Fever", "ids": ["HP:9999999"], "lang": "es"},
]


@pytest.fixture(scope="module")
def gold_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lines(tmp_path_factory.mktemp("gold") / "gold.jsonl", NOTE, *BARE)


def _measure(assets: Assets, gold: Path, **settings: Any) -> dict[str, Any]:
    return measure(assets, load_gold(gold, assets.kb), Settings(**settings))


def test_what_the_linker_does_not_ask_is_not_measured(tiny_assets, gold_file):
    assets = Assets(tiny_assets.path)
    assets.manifest["fusion"]["weights"] = {"exact": 0.5, "ngram": 0.0, "dense": 0.5}
    assert _measure(assets, gold_file)["tiers_used"] == ["exact", "dense"]
    report = _measure(assets, gold_file, tiers=("exact", "ngram"))
    assert report["tiers_used"] == ["exact", "ngram"]
    assert "ngram" in _measure(assets, gold_file)["baselines"]


def test_the_whole_report(tiny_assets, gold_file):
    report = _measure(tiny_assets, gold_file, ks=(1, 3), each_tier=True)
    alone = report["baselines"]
    assert json.loads(json.dumps(report)) == report
    assert (report["n"], report["gold_in_kb"], report["mismatches"]) == (5, 4, 0)
    # Exact matches: two names, one long form; of PE one concept is first, the other second; the
    # last one's gold concept is unknown.
    assert alone["exact"]["acc@3"] == alone["dense"]["acc@3"] == report["acc@3"] == 0.8
    assert alone["exact"]["acc@1"] in (0.6, 0.8)
    assert list(alone) == ["exact", "ngram", "dense"]
    assert list(_measure(tiny_assets, gold_file)["baselines"]) == ["exact", "ngram"]
    assert not _measure(tiny_assets, gold_file, baselines=False)["baselines"]
    assert report["by_lang"]["es"]["n"] == 2
    assert report["by_type"]["D"]["acc@1"] == 1.0
    assert report["kb"]["concepts"] == 12
    assert report["kb"]["version"] == "1"
    assert report["speed"]["mentions_per_s"] > 0
    assert report["speed"]["peak_rss_mb"] > 10
    assert report["nil"]["n"] == 1


def test_exact_tier_abstains_where_it_knows_no_name(tiny_assets, gold_file):
    report = _measure(tiny_assets, gold_file, tiers=("exact",))
    assert report["tiers_used"] == ["exact"]
    assert report["nil"] == {"n": 1, "predicted": 1, "precision": 1.0, "recall": 1.0, "f1": 1.0}


def test_threshold_makes_nils(tiny_assets, gold_file):
    nobody = _measure(tiny_assets, gold_file, threshold=0.0)["nil"]["predicted"]
    most = _measure(tiny_assets, gold_file, threshold=0.8)["nil"]
    assert nobody < most["predicted"] < 6
    assert most["recall"] == 1.0


def test_without_abbreviations(tiny_assets, gold_file):
    report = _measure(
        tiny_assets, gold_file, tiers=("exact",), ks=(1, 3), resolve_abbreviations=False
    )
    assert report["acc@3"] == pytest.approx(0.6)


def test_splits(tiny_assets, gold_file, tmp_path):
    splits = _measure(tiny_assets, gold_file, train=["dictionary"])["splits"]
    assert {name: split["n"] for name, split in splits.items()} == {
        # Of the mentions only TD is no name.
        "full": 5, "filtered_dictionary": 1, "filtered_0.2_dictionary": 1,
    }  # fmt: skip
    lines = [{"mention": "type 2 diabetes", "ids": []}, {"mention": "fiebres", "ids": ["x"]}]
    train = write_lines(tmp_path / "train.jsonl", *lines)
    splits = _measure(tiny_assets, gold_file, train=[str(train)])["splits"]
    # The training mentions name no concept of the gold file.
    assert {name: split["n"] for name, split in splits.items()} == {
        "full": 5, "filtered_train": 4, "filtered_0.2_train": 3, "unseen_codes": 5,
    }  # fmt: skip


@pytest.mark.parametrize("protocol", ["concepts", "names", "entries"])
def test_ties_count_in_part(tiny_assets, tmp_path, protocol):
    lines = [{"mention": text, "ids": ["HP:0001698"]} for text in ("PE", "pericardial effusion")]
    gold = write_lines(tmp_path / "gold.jsonl", *lines)
    # Two concepts have the first mention as a name, one has the second.
    assert _measure(tiny_assets, gold, protocol=protocol, lexicon=None)["acc@1_ties"] == 0.75


def test_names_protocol_counts_names(tiny_assets, gold_file):
    report = _measure(tiny_assets, gold_file, tiers=("exact",), protocol="names")
    # PE is one name of two concepts: right at once, whichever comes first.
    assert report["acc@1"] == 0.8
    assert report["protocol"] == "names"


def _brute_force(kb: KnowledgeBase, names: list[int], right: frozenset[int], own: bool) -> int:
    """Rank of the first right name: by comparing strings as they are, without keys.

    own (bool): each concept has its own names.
    """
    seen: list[object] = []
    concepts = kb.name_concepts()
    gold = {name.text.lower() for row in right for name in kb.concept_at(row).names}
    for row in names:
        name, concept = kb.name_at(row).text, int(concepts[row])
        entry = (name, concept) if own else name.lower()
        if entry not in seen:
            seen.append(entry)
            if concept in right if own else name.lower() in gold:
                return len(seen)
    return 0


@pytest.mark.parametrize("protocol", ["names", "entries"])
def test_names_against_comparing_strings(tiny_assets, gold_file, protocol):
    kb = tiny_assets.kb
    engine = tiny_assets.engine()
    cases = [case for case in load_gold(gold_file, kb).cases() if case.right]
    judged = judge(engine, kb, cases, depth=40, protocol=protocol)
    for case, outcome in zip(cases, judged.outcomes, strict=True):
        text = case.mention.long_form or case.mention.text
        ranked = [row for row, _ in rank_names(engine, [text], 1000)[0]]
        assert outcome.rank == _brute_force(kb, ranked, case.right, protocol == "entries")


def test_ranks_beyond_the_depth_do_not_count(tiny_assets, gold_file):
    engine = tiny_assets.engine()
    cases = list(load_gold(gold_file, tiny_assets.kb).cases())
    for protocol in ("concepts", "names", "entries"):
        deep = judge(engine, tiny_assets.kb, cases, depth=12, protocol=protocol).outcomes
        flat = judge(engine, tiny_assets.kb, cases, depth=1, protocol=protocol).outcomes
        assert [outcome.rank for outcome in flat] == [int(one.rank == 1) for one in deep]


def test_any_number_of_mentions(tiny_assets, gold_file):
    cases = list(load_gold(gold_file, tiny_assets.kb).cases())
    many: list[Case] = cases * 200
    judged = judge(tiny_assets.engine(["exact"]), tiny_assets.kb, many, depth=1)
    once = judge(tiny_assets.engine(["exact"]), tiny_assets.kb, cases, depth=1)
    assert judged.outcomes == once.outcomes * 200
    assert judge(tiny_assets.engine(["exact"]), tiny_assets.kb, [], depth=1).outcomes == []


def test_white_space_is_a_mention_like_any_other(tiny_assets, tmp_path):
    lines = [{"mention": text, "ids": ["HP:0001945"]} for text in ("", " ", "🙂", "x" * 5000)]
    path = write_lines(tmp_path / "gold.jsonl", *lines)
    for protocol in ("concepts", "names", "entries"):
        assert _measure(tiny_assets, path, protocol=protocol)["n"] == 4


def test_unknown_tier(tiny_assets, gold_file, tmp_path):
    from spacy_medlink.assets import build_assets

    light = build_assets(tmp_path / "light", tiny_assets.kb.path)
    with pytest.raises(MedlinkError, match="E405"):
        _measure(light, gold_file, tiers=("dense",))


def test_records(tiny_assets, gold_file):
    report = _measure(tiny_assets, gold_file, ks=(1, 3), keep=2, tiers=("exact", "ngram"))
    records = unpack(report["mentions"])
    assert [(record.doc, record.number, record.start) for record in records[:2]] == [
        ("note", 0, 0), ("note", 1, 25)
    ]  # fmt: skip
    assert [record.right for record in records] == [
        ["HP:0005978"], ["HP:0001945"], ["HP:0005978"], [], ["HP:0001698"], [],
    ]  # fmt: skip
    first = records[0]
    assert (first.rank, first.verdict, first.candidates[0].id) == (1, "right", "HP:0005978")
    assert first.candidates[0].matched == "Type 2 diabetes"
    assert max(len(record.candidates) for record in records) == 2
    assert records[2].labels["abbreviation"] == ["yes"]
    assert records[3].verdict == "missed NIL"
    assert records[5].verdict == "not in KB"
    assert report["concepts"]["HP:0005978"] == ["Type II diabetes mellitus", ["T047"]]
    named = {one.id for record in records for one in record.candidates}
    assert named <= report["concepts"].keys()
    hits = [record.rank == 1 for record in records if record.gold]
    assert report["acc@1"] == pytest.approx(sum(hits) / len(hits), abs=1e-6)
    assert sum(report["verdicts"].values()) == len(records)


def test_rollup(tiny_assets, tmp_path):
    # The gold concept is above, below, or elsewhere.
    pairs = [("T2DM", "HP:0000819"), ("DM", "HP:0005978"), ("T2DM", "HP:0001945"),
             ("T2DM", "HP:0005978"), ("T2DM", "HP:0100651")]  # fmt: skip
    lines = [{"mention": text, "ids": [id]} for text, id in pairs]
    path = write_lines(tmp_path / "gold.jsonl", *lines)
    report = _measure(tiny_assets, path, tiers=("exact",))
    assert report["rollup"]["by_distance"] == {"-1": 1, "0": 1, "1": 1}
    assert (report["acc@1"], report["rollup"]["acc@1_within_1"]) == (0.2, 0.6)
    flat = write_lines(tmp_path / "flat.jsonl", {"mention": "asthma", "ids": ["HP:0002099"]})
    assert "rollup" not in _measure(tiny_assets, flat, tiers=("exact",))


def test_composite_mentions(tiny_assets, tmp_path):
    both = {"ids": ["HP:0005978", "HP:0100651"]}
    lines = [{"mention": "type 1 and type 2 diabetes", **both},  # taken apart, both found
             {"mention": "asthma/fever", "ids": ["HP:0002099", "HP:0002090"]},  # one part is wrong
             {"mention": "T2DM", **both}]  # fmt: skip
    path = write_lines(tmp_path / "gold.jsonl", *lines)
    report = _measure(tiny_assets, path, tiers=("exact",), composites="biosyn")
    assert [record.rank for record in unpack(report["mentions"])] == [1, 0, 1]
    assert report["gold"]["composites"] == 2
    whole = _measure(tiny_assets, path, tiers=("exact",))
    # Not taken apart, the first is linked to its head, "type 2 diabetes".
    assert [record.rank for record in unpack(whole["mentions"])] == [1, 0, 1]


def test_only_known(tiny_assets, gold_file):
    every, known = (_measure(tiny_assets, gold_file, only_known=only) for only in (False, True))
    assert (every["n"], known["n"], known["gold_in_kb"]) == (5, 4, 4)
    assert (every["gold"]["not_in_kb"], every["gold"]["left_out"]) == (1, 0)
    assert (known["gold"]["not_in_kb"], known["gold"]["left_out"]) == (1, 1)
    assert known["nil"]["n"] == every["nil"]["n"] == 1


def test_the_manifest_names_files_not_places(tiny_assets, gold_file, tiny_encoder):
    manifest = _measure(tiny_assets, gold_file, train=[str(gold_file)])["manifest"]
    assert manifest["gold"] == manifest["train"]
    assert manifest["gold"]["name"] == "gold.jsonl"
    assert len(manifest["gold"]["sha256"]) == 64
    assert str(gold_file.parent) not in json.dumps(manifest)
    assert manifest["settings"]["train"] == ["gold.jsonl"]


class _Reversed:
    """A reranker that puts the last candidate first."""

    top, reads_context, fingerprint = 0, False, "reversed"

    def rescore(
        self,
        mentions: Sequence[Mention],
        rankings: Sequence[Sequence[Candidate]],
        every: bool = False,
    ) -> list[list[Candidate]]:
        return [list(ranking)[::-1] for ranking in rankings]


class _Doubtful:
    """A calibrator that believes in perfect matches only."""

    def rate(self, rankings: Sequence[Sequence[Candidate]]) -> list[tuple[float, bool]]:
        return [(0.9 if ranking[0].score > 0.999 else 0.1, True) for ranking in rankings]


def test_a_reranker_changes_ranks_and_not_what_was_retrieved(tiny_assets, gold_file):
    cases = [case for case in load_gold(gold_file, tiny_assets.kb).cases() if case.right]
    retriever = tiny_assets.engine(["exact", "ngram"])
    reranked = tiny_assets.engine(["exact", "ngram"], rescorer=_Reversed())
    alone = judge(retriever, tiny_assets.kb, cases, depth=12).outcomes
    both = judge(reranked, tiny_assets.kb, cases, depth=12).outcomes
    assert [one.retrieved for one in both] == [one.rank for one in alone]
    rankings = retriever.rank([case.mention for case in cases], 64)
    for one, two, ranking in zip(alone, both, rankings, strict=True):
        assert two.rank == (len(ranking) + 1 - one.rank if one.rank else 0)


def test_the_threshold_holds_for_probabilities_where_there_are_any(tiny_assets, gold_file):
    cases = list(load_gold(gold_file, tiny_assets.kb).cases())
    engine = tiny_assets.engine(["exact", "ngram"], calibrator=_Doubtful(), threshold=0.5)
    judged = judge(engine, tiny_assets.kb, cases, depth=3)
    for outcome, own in zip(judged.outcomes, judged.candidates, strict=True):
        sure = bool(own) and own[0].score > 0.999
        assert outcome.abstained is not sure
        assert not own or own[0].prob == (0.9 if sure else 0.1)
    assert {outcome.abstained for outcome in judged.outcomes} == {True, False}


def test_baselines_have_no_memory(tiny_kb, tmp_path):
    from spacy_medlink.assets import build_assets

    gold = write_lines(tmp_path / "gold.jsonl", {"mention": "qxz", "ids": ["HP:0001945"]})
    assets = build_assets(tmp_path / "assets", tiny_kb.path, memory=[gold])
    report = _measure(assets, gold)
    assert (report["acc@1"], report["baselines"]["exact"]["acc@1"]) == (1.0, 0.0)


def test_links_by_identifiers_are_counted_and_can_be_left_aside(tiny_assets, tmp_path):
    text = "The PE (HP:0002204) was small."
    mention = {"start": 4, "end": 6, "mention": "PE", "ids": ["HP:0002204"]}
    note = {"doc_id": "1", "text": text, "mentions": [mention]}
    path = write_lines(tmp_path / "gold.jsonl", note)
    for heeded in (True, False):
        settings = Settings(resolve_identifiers=heeded, lexicon=None)
        report = measure(tiny_assets, load_gold(path, tiny_assets.kb), settings)
        assert (report["identified"], report["acc@1"]) == (int(heeded), float(heeded))
        assert report["baselines"]["exact"]["acc@1"] == 0.0

"""A gate is fitted by what the dense tier changes, and a linker with one encodes less."""

import pytest

from spacy_medlink.assets.overlaid import OverlaidAssets
from spacy_medlink.assets.variant import write_variant
from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation import load_gold
from spacy_medlink.evaluation.measurement import alone
from spacy_medlink.fitting.folds import rank_unannotated
from spacy_medlink.fitting.gate import MAX_CHANGED, at_most, fit_gate
from spacy_medlink.fitting.reranker import MAX_CHANGED as MOST
from spacy_medlink.fitting.reranker import fit_rerank_gate
from spacy_medlink.kb.rules import Rule, Rules
from spacy_medlink.linking import Linker
from spacy_medlink.retrieval.filters import Filter
from spacy_medlink.types import Candidate, Concept, Mention, Name
from tests.lines import write_lines
from tests.tiny import assets_of

SYLLABLES = "ba da fo gi ka le mu no pa ri so tu va we".split()
KNOWN = [f"{a}{b} {c}itis" for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES[:6]]
TWINS = "Twin disease"


@pytest.fixture(scope="module")
def assets(tmp_path_factory, tiny_encoder):
    """Assets of 1,176 names, each of one concept, and one that two have."""
    texts = [*KNOWN, TWINS, TWINS]
    records = [Concept(f"C{n:04}", text, (Name(text),)) for n, text in enumerate(texts)]
    return assets_of(tmp_path_factory.mktemp("gate"), records, tiny_encoder)


@pytest.fixture
def asked(monkeypatch, assets):
    """The texts that are encoded from now on."""
    found = []
    encode = assets.encoder.encode
    monkeypatch.setattr(
        assets.encoder, "encode", lambda texts, *args: found.extend(texts) or encode(texts, *args)
    )
    return found


def opened(assets, **settings):
    """Make a linker in which every tier counts, as it does after a build with a real encoder."""
    weights = {"exact": 0.2, "ngram": 0.3, "dense": 0.5}
    settings = {"calibrator": False, **settings}
    return assets.engine(["exact", "ngram", "dense"], weights=weights, **settings)


@pytest.fixture(scope="module")
def gate(assets):
    """What a gate is opened by."""
    linker = opened(assets, exact_first=False)
    return fit_gate(linker, assets.kb, assets.conditions(linker))


@pytest.fixture(scope="module")
def gated(assets, gate, tmp_path_factory):
    """A linker with this gate."""
    place = tmp_path_factory.mktemp("gated") / "assets"
    return opened(write_variant(assets, place, {"gate": gate}))


def rows(linker: Linker, *texts, **given):
    decided = linker.decide([Mention(text) for text in texts], **given)
    return [one.link.row if one.link else None for one in decided]


def test_a_build_fits_one(assets):
    facts = assets.manifest["gate"]
    assert facts["max_changed"] == MAX_CHANGED and facts["confidence"] == 0.95
    verbatim = facts["answers"]["verbatim"]
    assert verbatim["examples"] >= len(KNOWN)  # in other cases, too
    assert verbatim["changed"] == 0
    assert 0 < verbatim["at_most"] < MAX_CHANGED
    shared = facts["answers"]["shared"]
    assert shared["examples"] <= 3 and shared["at_most"] > MAX_CHANGED


def test_what_passes_is_not_encoded(assets, gate, tmp_path, asked):
    folded = {**gate["answers"]["folded"], "at_most": 0.001}
    open_gate = {**gate, "answers": {**gate["answers"], "folded": folded}}
    linker = opened(write_variant(assets, tmp_path / "gated", {"gate": open_gate}))
    monitored = linker.with_parts(encoder=assets.encoder)
    asked.clear()
    texts = [KNOWN[0], KNOWN[1].upper(), TWINS, "nothing like it"]
    found = rows(monitored, *texts)
    assert set(asked) == {TWINS, "nothing like it"}
    assert found == rows(monitored.using(exact_first=False), *texts)
    assert found[:2] == [0, 1]


def test_alternatives_come_from_the_other_tiers(gated):
    (ranking,) = gated.rank([Mention(KNOWN[0])], 5)
    assert len(ranking) == 5 and ranking[0].score == pytest.approx(1.0)
    assert all("dense" not in one.scores for one in ranking)
    assert all(one.score < 1 for one in ranking[1:])
    explained = gated.explain(Mention(KNOWN[0])).as_dict()
    assert "dense" in explained["candidates"][0]["tiers"]  # which asks all


def test_a_fusion_without_ngrams_still_has_alternatives(assets, tmp_path):
    weights = {"exact": 0.2, "ngram": 0.0, "dense": 0.8}
    fusion = {**assets.manifest["fusion"], "weights": weights}
    plain = write_variant(assets, tmp_path / "plain", {"fusion": fusion})
    assert plain.used_tiers == ["exact", "dense"]
    linker = plain.engine(calibrator=False, exact_first=False)
    facts = fit_gate(linker, plain.kb, plain.conditions(linker))
    variant = write_variant(plain, tmp_path / "gated", {"gate": facts})
    linker = variant.engine(calibrator=False)
    assert linker.parts.gate is not None and "ngram" not in linker.parts.others
    passing, other = linker.rank([Mention(KNOWN[0]), Mention("nothing like it")], 5)
    assert len(passing) == 5 and passing[0].row == 0 and passing[0].score == pytest.approx(1.0)
    assert all("dense" not in one.scores and one.scores["ngram"] > 0 for one in passing)
    assert all(one.score < 1 for one in passing[1:])
    assert all("ngram" not in one.scores for one in other)
    curation = Rules([Rule(1, "add", "wholly new", "C0000")])
    added = OverlaidAssets(variant, curation).engine(calibrator=False)
    new, old = added.rank([Mention("wholly new"), Mention(KNOWN[1])], 5)
    assert (new[0].row, old[0].row) == (0, 1) and len(old) == 5


def test_filters_hold(gated):
    for only in (Filter.of(deny=["C0000"]), Filter.of(allow=["C0000", "C0001"])):
        expected = rows(gated.using(exact_first=False), *KNOWN[:3], only=only)
        assert rows(gated, *KNOWN[:3], only=only) == expected


def test_an_encoder_that_changes_links_closes_it(assets, tmp_path):
    weights = {"exact": 0.0, "ngram": 0.0, "dense": -1.0}

    class Contrary:
        """A fusion in which the dense tier says the opposite."""

        def __init__(self, given):
            self.weights = given

        def __call__(self, scores):
            return -scores["dense"] if "dense" in scores else scores["exact"]

        def with_weights(self, given):
            return Contrary(given)

    linker = opened(assets, exact_first=False).with_parts(fusion=Contrary(weights))
    facts = fit_gate(linker, assets.kb, {})
    assert facts["answers"]["verbatim"]["changed"] > 100
    assert facts["answers"]["verbatim"]["at_most"] > MAX_CHANGED


def test_a_gate_for_another_linker_is_left_out(assets, gate, gated, tmp_path):
    assert gated.parts.gate is not None
    for_another = {**gate, "fitted_for": {"encoder": "another"}}
    other = write_variant(assets, tmp_path / "other", {"gate": for_another})
    assert opened(other).parts.gate is None


@pytest.mark.parametrize(
    "damage",
    [{"fitted_for": None}, {"answers": []}, {"answers": {"verbatim": {}}}, {"max_changed": "x"}],
)
def test_a_damaged_gate_is_told(assets, gate, tmp_path, damage):
    with pytest.raises(MedlinkError, match="E202"):
        opened(write_variant(assets, tmp_path / "damaged", {"gate": {**gate, **damage}}))


def test_what_orders_candidates_sees_them_as_without_a_gate(assets, gate, tmp_path):
    lines = [
        {"doc_id": str(n), "mentions": [{"mention": KNOWN[n], "ids": [f"C{n:04}"]}]}
        for n in range(10)
    ]
    gold = write_lines(tmp_path / "gold.jsonl", *lines)
    weights = {"weights": {"exact": 0.2, "ngram": 0.3, "dense": 0.5}}
    fusion = {"fusion": {**assets.manifest["fusion"], **weights}}
    open_gate = write_variant(assets, tmp_path / "open", {"gate": gate, **fusion})
    assert open_gate.engine().parts.gate is not None
    for one in rank_unannotated(open_gate, load_gold(gold, open_gate.kb), 3):
        assert all("dense" in candidate.scores for candidate in one.ranking)


def test_without_an_encoder_there_is_none(tiny_kb, tmp_path):
    from spacy_medlink.assets import build_assets

    assert build_assets(tmp_path / "assets", tiny_kb.path).manifest["gate"] is None


@pytest.mark.parametrize("tier", ["exact", "ngram", "dense"])
def test_a_tier_that_is_asked_alone_has_no_gate(assets, gated, tier):
    assert rows(alone(gated, tier, assets), KNOWN[0], KNOWN[1]) == rows(gated, KNOWN[0], KNOWN[1])


class _Swapping:
    """A reranker that puts the second candidate first for some texts."""

    def __init__(self, texts, weight):
        self.texts, self.weight = texts, weight

    def rescore(self, mentions, rankings):
        pairs = zip(mentions, rankings, strict=True)
        return [ranking[::-1] if one.text in self.texts else ranking for one, ranking in pairs]


@pytest.mark.parametrize(("n", "allowed"), [(500, -1), (800, 0), (1200, 1)])
def test_a_gate_of_a_reranker_changes_few_links(n, allowed):
    margins = [place / n for place in range(n)]
    rankings = [[Candidate(0, 0, own, {}), Candidate(1, 1, 0.0, {})] for own in margins]
    mentions = [Mention(f"m{place}") for place in range(n)]
    swapped = [int(n * share) for share in (0.8, 0.7, 0.5)]
    facts = fit_rerank_gate(
        _Swapping({f"m{place}" for place in swapped}, 0.95), mentions, rankings, {"tiers": []}
    )
    want = 1.0 if allowed < 0 else margins[swapped[allowed]]
    assert facts["margin"] == want and facts["fitted_for"] == {"tiers": []}
    assert facts["passing"] == sum(margin > want for margin in margins)
    assert facts["changed"] == max(0, allowed)
    assert allowed < 0 or facts["at_most"] == at_most(allowed, n) <= MOST


def test_what_a_small_weight_cannot_change_passes_without_examples():
    ranking = [Candidate(0, 0, 0.9, {}), Candidate(1, 1, 0.1, {})]
    facts = fit_rerank_gate(_Swapping(set(), 0.2), [Mention("a"), Mention("A")], [ranking] * 2, {})
    assert (facts["margin"], facts["at_most"]) == (0.25, 0.0)
    assert (facts["mentions"], facts["examples"], facts["passing"]) == (2, 1, 2)


def test_the_same_text_counts_once_with_its_widest_margin():
    rankings = [[Candidate(0, 0, own, {}), Candidate(1, 1, 0.0, {})] for own in (0.2, 0.4, 0.3)]
    mentions = [
        Mention("same"),
        Mention("Same"),
        Mention("same"),
        *map(Mention, map(str, range(700))),
    ]
    rankings += [[Candidate(0, 0, 1.0, {})]] * 700
    facts = fit_rerank_gate(_Swapping({"same", "Same"}, 0.95), mentions, rankings, {})
    assert (facts["margin"], facts["examples"], facts["changed"]) == (0.4, 701, 0)

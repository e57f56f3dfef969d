"""Fitting a ranker to annotated text: what it learns, what it must not see, when it is left out."""

from pathlib import Path

import numpy as np
import pytest
import spacy

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.manifest import MEMORY, RANKER_FILE
from spacy_medlink.assets.reranker import store_reranker
from spacy_medlink.assets.variant import add_ranker
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings
from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation import load_gold
from spacy_medlink.fitting.folds import folds, forget
from spacy_medlink.fitting.memory import learn_memory
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.kb.schema import kb_fingerprint
from spacy_medlink.linking.ranker import RANKER, CandidateRanker, Chain
from spacy_medlink.linking.reranking import Reranker
from spacy_medlink.retrieval.concepts import RESOLUTION
from spacy_medlink.retrieval.fusion import ReciprocalRankFusion
from spacy_medlink.retrieval.memory import MentionMemory, Remembered, read_memory
from spacy_medlink.types import Concept, Mention, Name
from tests.fits import calibrated_on, mention_names, ranked_on
from tests.fitting.samples import PAIRS, SITES, document
from tests.lines import write_lines
from training.recipe.reading import read_recipe
from training.reranking.rerank import lists_of

RERANK = read_recipe(Path("training/configs/rerank.cfg"))
# Two vocabularies have everything; annotators use one of them, which comes second by id.
CONCEPTS = [
    Concept(f"{scheme}{number}", f"{kind} of {site}", (Name(f"{site} {kind}{end}"),))
    for number, (site, kind) in enumerate(PAIRS)
    for scheme, end in (("C", " syndrome"), ("D", " disorder"))
]


def write_gold(path, scheme_of):
    """Write documents of three mentions each; scheme_of gives the vocabulary of a mention."""
    mentions = [
        {"mention": f"{site} {kind}", "ids": [f"{scheme_of(place)}{place}"]}
        for place, (site, kind) in enumerate(PAIRS)
    ]
    made = (document(str(at), mentions[at : at + 3], " was seen. ") for at in range(0, 96, 3))
    return write_lines(path, *made)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("ranker")
    build_kb(path / "kb", CONCEPTS)
    write_gold(path / "gold.jsonl", lambda place: "D")
    write_gold(path / "random.jsonl", lambda place: "CD"[place % 2])
    build_assets(path / "plain", path / "kb")
    return path


@pytest.fixture(scope="module")
def fitted(place):
    # Half of the documents are remembered, so that it is known which vocabulary is used.
    lines = (place / "gold.jsonl").read_text("utf-8").splitlines(keepends=True)
    (place / "half.jsonl").write_text("".join(lines[::2]), encoding="utf-8")
    (place / "rest.jsonl").write_text("".join(lines[1::2]), encoding="utf-8")
    build_assets(place / "assets", place / "kb", memory=[place / "half.jsonl"])
    return ranked_on(Assets(place / "assets"), place / "ranked", place / "gold.jsonl")


def links(assets, texts, **settings):
    rankings = assets.engine(**settings).rank([Mention(text) for text in texts], 5)
    return [assets.kb.concept_at(own[0].row).id for own in rankings]


def test_it_learns_what_annotators_choose(place, fitted):
    assert fitted.kept and fitted.facts["ranked"]["acc@1"] > fitted.facts["retrieval"]["acc@1"]
    texts = [f"{PAIRS[n][0]} {PAIRS[n][1]}" for n in (3, 4, 5)]  # of a document not remembered
    assert links(Assets(place / "assets"), texts) == ["C3", "C4", "C5"]
    assert links(fitted.assets, texts) == ["D3", "D4", "D5"]
    assert links(fitted.assets, texts, ranker=False) == ["C3", "C4", "C5"]
    (ranking,) = fitted.assets.engine().rank([Mention(texts[0])], 5)
    assert ranking[0].ranks[RANKER] == 1 and 0 < ranking[0].scores[RANKER] <= 1
    assert ranking == sorted(ranking, key=lambda one: -round(one.score / RESOLUTION))


def test_the_manifest_says_how(place, fitted):
    facts = fitted.assets.manifest["ranker"]
    assert facts["fitted_on"]["file"] == "gold.jsonl"
    assert facts["gain"] > 2 * facts["standard_error"]
    # What is remembered keeps its place, and is not counted.
    assert facts["mentions"] == len(PAIRS)
    assert (fitted.assets.path / "kb.sqlite").stat().st_nlink > 1


def test_where_there_is_nothing_to_learn_it_is_left_out(place):
    left_out = ranked_on(Assets(place / "plain"), place / "left_out", place / "random.jsonl")
    assert not left_out.kept and left_out.assets.manifest["ranker"] is None
    assert "does not beat retrieval" in left_out.assets.manifest["left_out"]["ranker"]
    assert not (left_out.assets.path / RANKER_FILE).exists()
    assert links(left_out.assets, ["heart trauma"]) == links(
        Assets(place / "plain"), ["heart trauma"]
    )


def test_too_little_text(place, tmp_path):
    few = tmp_path / "few.jsonl"
    few.write_text((place / "gold.jsonl").read_text("utf-8").splitlines()[0], encoding="utf-8")
    with pytest.raises(MedlinkError, match="E530"):
        ranked_on(Assets(place / "plain"), tmp_path / "out", few)
    assert not (tmp_path / "out").exists()


def test_a_fold_does_not_remember_itself(place, tmp_path):
    """Memory and names that come from the text itself would make every mention an easy one."""
    gold = place / "gold.jsonl"
    kb = mention_names(tmp_path / "kb", KnowledgeBase(place / "kb"), [gold]).kb
    own = build_assets(tmp_path / "own", kb.path, memory=[gold])
    plain = build_assets(tmp_path / "plain", place / "kb")
    assert links(own, ["heart trauma"]) == ["D7"], "remembered"
    facts = ranked_on(own, tmp_path / "a", gold).facts
    assert facts["retrieval"] == ranked_on(plain, tmp_path / "b", gold).facts["retrieval"]
    assert facts["mentions"] == len(PAIRS), "none was taken for remembered"


def test_forgetting(place):
    kb = KnowledgeBase(place / "kb")
    cases = list(load_gold(place / "gold.jsonl", kb).cases())[:2]
    lines = [
        Remembered("heart carcinoma", "", "D0", 3, 4),
        Remembered("heart infarction", "", "D1", 1, 1),
        Remembered("heart abscess", "", "D2", 2, 2),
    ]
    assert forget(lines, cases, kb) == [lines[0]._replace(votes=2, of=3), lines[2]]


def test_it_is_left_out_where_it_was_not_fitted(fitted):
    texts = [f"{PAIRS[n][0]} {PAIRS[n][1]}" for n in (3, 4, 5)]
    plain = ["C3", "C4", "C5"]
    assert links(fitted.assets, texts, fusion=ReciprocalRankFusion()) == plain
    assert links(fitted.assets, texts, tiers=["ngram"]) == plain
    assert links(fitted.assets, texts, weights={"exact": 0.5, "ngram": 0.5}) == plain
    assert links(fitted.assets, texts, tiers=["exact", "ngram"]) == ["D3", "D4", "D5"]


def test_of_another_version(fitted, tmp_path):
    fitted.assets.copy_to(tmp_path / "changed")
    file = tmp_path / "changed" / RANKER_FILE
    text = file.read_text("utf-8").replace('"format": 6', '"format": 9')
    file.unlink()  # it is a link to the one that others use
    file.write_text(text, encoding="utf-8")
    with pytest.raises(MedlinkError, match=r"^\[E214\]"):
        Assets(tmp_path / "changed").engine()
    assert links(Assets(tmp_path / "changed"), ["lung trauma"], ranker=False)


def test_a_ranker_takes_the_place_of_that_of_the_build(fitted, tmp_path):
    fitted.assets.copy_to(tmp_path / "own")
    before = (fitted.assets.path / RANKER_FILE).stat()
    built = Assets(tmp_path / "own")
    ranker = add_ranker(built.path, built, fitted.fit).ranker
    assert ranker is not None and ranker.fingerprint == fitted.fit.ranker.fingerprint
    assert (fitted.assets.path / RANKER_FILE).stat().st_mtime_ns == before.st_mtime_ns


def test_a_reranker_chosen_behind_another_order_is_left_out(place, tiny_encoder, tmp_path):
    own = build_assets(tmp_path / "own", place / "kb", tiny_encoder, memory=[place / "half.jsonl"])
    kb = kb_fingerprint(own.manifest["kb"])
    cross = CrossEncoder.of(BiEncoder.load(tiny_encoder), CrossSettings(kb=kb, top=3))
    both = store_reranker(own, tmp_path / "both", cross, {})
    after = ranked_on(both, tmp_path / "both", place / "gold.jsonl").assets
    assert after.reranker is None and not (after.path / "reranker").exists()
    # The other way round both stay: a reranker is trained for what the ranker puts first.
    again = store_reranker(after, tmp_path / "again", cross, {})
    assert isinstance(again.engine().parts.rescorer, Chain)
    assert isinstance(again.engine(rerank_top=0).parts.rescorer, CandidateRanker)
    assert isinstance(again.engine(ranker=False).parts.rescorer, Reranker)


def test_a_reranker_has_to_beat_the_ranker(place, fitted):
    gold = place / "gold.jsonl"
    _, held = lists_of(fitted.assets, RERANK, gold, gold)
    first = [own.candidates[0] for own in held if own.candidates]
    assert all(RANKER in one.scores for one in first if not one.scores.get("memory"))


def test_what_was_learned_from_a_document_is_not_known_while_it_trains_a_reranker(place, tmp_path):
    gold = place / "gold.jsonl"
    kb, _ = mention_names(tmp_path / "named.kb", KnowledgeBase(place / "kb"), [gold])
    own = build_assets(tmp_path / "own", kb.path, memory=[gold])
    lists, held = lists_of(own, RERANK, gold, gold)
    assert lists and not any(one.scores.get("memory") for each in lists for one in each.candidates)
    assert all(each.candidates[0].scores.get("memory") for each in held)
    for each in lists:  # every mention stands in one document alone
        names = [kb.name_at(one.name_row) for one in each.candidates]
        own_text = each.mention.text.lower()
        assert not any(one.source == "mentions" and one.text == own_text for one in names)
    assert any(
        kb.name_at(one.name_row).source == "mentions" for each in held for one in each.candidates
    )


def test_a_fold_remembers_what_the_other_documents_say(place, tmp_path):
    """Not what is left of a count of all: who else would have won must win."""
    texts = [f"{site} trouble" for site in SITES] * 6
    lines = [
        document(str(n), [{"mention": text, "ids": ["CD"[n % 5 % 2] + f"{n % 3}"]}], "")
        for n, text in enumerate(texts)
    ]
    gold = write_lines(tmp_path / "gold.jsonl", *lines)
    other = tmp_path / "other.jsonl"
    assets = build_assets(tmp_path / "assets", place / "kb", memory=[gold])
    row_of = {id: row for row, id in enumerate(assets.kb.iter_ids())}
    whole = MentionMemory.of(read_memory(assets.path / MEMORY), row_of).find(texts, "")
    changed = 0
    for fold in folds(assets, load_gold(gold, assets.kb)):
        own = {int(case.doc_id) for case in fold.cases}
        write_lines(other, *(line for n, line in enumerate(lines) if n not in own))
        learned = learn_memory([load_gold(other, assets.kb)], assets.kb).lines
        want = MentionMemory.of(learned, row_of).find(texts, "")
        assert np.array_equal(fold.memory.find(texts, ""), want)
        changed += int((want != whole).sum())
    assert changed


def test_in_a_pipeline_and_with_a_calibrator(place, fitted, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions", config={"assets": str(fitted.assets.path)})
    linker = nlp.add_pipe(
        "medical_linker", config={"assets": str(fitted.assets.path), "threshold": 0.0}
    )
    (link,) = linker.link_texts(["heart dystrophy"])
    assert link.id == "D3"
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert again.get_pipe("medical_linker").link_texts(["heart dystrophy"])[0].id == "D3"
    done = calibrated_on(
        fitted.assets, tmp_path / "calibrated", place / "gold.jsonl", target_precision=0.5
    )
    assert done.assets.engine(calibrator=True).parts.calibrator is not None
    with pytest.raises(MedlinkError, match="E214"):
        done.assets.engine(calibrator=True, ranker=False)


@pytest.mark.parametrize("top", [1, 0, -3])
def test_one_candidate_has_no_order(place, tmp_path, top):
    with pytest.raises(MedlinkError, match="E302"):
        ranked_on(Assets(place / "assets"), tmp_path / "no", place / "gold.jsonl", top=top)

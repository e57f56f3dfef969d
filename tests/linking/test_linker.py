"""The linker: immutable, five verbs, and a short way from `pipe` to faiss."""

import traceback
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import faiss
import numpy as np
import pytest
import spacy

from spacy_medlink.linking import Linker, LinkSettings, open_linker
from spacy_medlink.linking.prepare import Document, Place
from spacy_medlink.retrieval import dense, word_ngram
from spacy_medlink.retrieval.filters import Filter
from spacy_medlink.retrieval.mask import Mask
from spacy_medlink.retrieval.memory import MentionMemory, Remembered
from spacy_medlink.types import Mention

PACKAGE = str(Path(spacy.__file__).parents[1])
MOST_CALLS = 8


def test_the_five_verbs_give_what_is_linked(tiny_assets):
    linker = open_linker(tiny_assets)
    text = "Pulmonary embolism (PE), then PE and fever."
    places = [Place("PE", 30, 32, "D"), Place("fever", 37, 42)]
    mentions = linker.prepare(Document(text, places))
    assert [one.long_form for one in mentions] == ["Pulmonary embolism", ""]
    retrieved = linker.retrieve(mentions, 3)
    assert retrieved.outside == [None, None]
    ranked = linker.rank(mentions, 3, retrieved=retrieved.rankings)
    assert ranked == linker.rank(mentions, 3)
    decisions = linker.decide(mentions)
    assert [one.link and one.link.row for one in decisions] == [own[0].row for own in ranked]
    said = linker.explain(mentions[0])
    assert said.link["id"] == "HP:0002204" and said.candidates[0]["id"] == said.link["id"]


def test_a_misspelt_mention_is_linked_by_the_name_that_it_means(tiny_assets):
    linker = open_linker(tiny_assets, LinkSettings(tiers=("exact",)))
    mention = Mention("pulmonary embolsim")
    (decision,) = linker.decide([mention])
    assert decision.link and tiny_assets.kb.brief_at(decision.link.row)[0] == "HP:0002204"
    whys = [form["why"] for form in linker.explain(mention).forms]
    assert whys == ["the mention is misspelt", "the mention"]
    row_of = {"HP:0001945": tiny_assets.kb.row_of("HP:0001945")}
    memory = MentionMemory.of([Remembered(mention.text, "", "HP:0001945", 1, 1)], row_of)
    (decision,) = linker.with_parts(memory=memory).decide([mention])
    assert decision.link and tiny_assets.kb.brief_at(decision.link.row)[0] == "HP:0001945"


def test_nothing_of_a_linker_can_be_set(tiny_assets):
    linker = open_linker(tiny_assets)
    for whole in (linker, linker.parts, linker.settings, linker.retrieval.tiers):
        for field in fields(whole):
            with pytest.raises(FrozenInstanceError):
                setattr(whole, field.name, None)


def test_other_settings_share_what_is_remembered(tiny_assets):
    linker = open_linker(tiny_assets)
    other = linker.using(threshold=0.9, top_k=2)
    assert other.retrieval is linker.retrieval and linker.settings.threshold is None
    assert linker.using(threshold=None) is linker
    assert linker.using(names_per_tier=8).retrieval is not linker.retrieval
    (ranking,) = (one.ranking for one in other.decide([Mention("diabetes")]))
    assert len(ranking) == 2


def test_filters_of_settings_and_call_hold_together(tiny_assets):
    linker = open_linker(tiny_assets, LinkSettings(only=Filter.of(deny=["HP:0005978"])))
    mentions = [Mention("type 2 diabetes")]
    ids = list(tiny_assets.kb.iter_ids())
    denied = {ids[one.row] for one in linker.decide(mentions, keep=64, force=True)[0].ranking}
    assert "HP:0005978" not in denied
    both = linker.decide(mentions, Filter.of(deny=["HP:0100651"]), keep=64, force=True)[0].ranking
    assert {ids[one.row] for one in both} == denied - {"HP:0100651"}


def test_what_is_kept_for_judging_does_not_change_the_link(tiny_assets):
    linker = open_linker(tiny_assets, LinkSettings(top_k=2))
    mentions = [Mention(text) for text in ("diabetes", "typ 1 diabetis", "feverish", "heart")]
    for few, many in zip(linker.decide(mentions), linker.decide(mentions, keep=64), strict=True):
        assert (few.chosen, few.reason) == (many.chosen, many.reason)
        assert many.ranking[: len(few.ranking)] == few.ranking
        assert len(many.ranking) > 2 and len({one.row for one in many.ranking}) == len(many.ranking)


def test_at_most_eight_own_calls_from_pipe_to_faiss(tiny_assets, monkeypatch):
    nlp = spacy.blank("en")
    linker = nlp.add_pipe("medical_linker", config={"assets": str(tiny_assets.path)})
    stacks: list[list[str]] = []

    class Watched:
        """A faiss index that notes who asks it."""

        def __init__(self, index: faiss.Index) -> None:
            self._index = index

        def __getattr__(self, name: str) -> object:
            return getattr(self._index, name)

        def search(self, *given: object, **named: object) -> object:
            frames = [frame.name for frame in traceback.extract_stack() if _is_own(frame.filename)]
            stacks.append(frames)
            return self._index.search(*given, **named)

    searched = linker.engine.parts.others["dense"]
    monkeypatch.setattr(searched, "_index", Watched(searched._index))
    doc = nlp.make_doc("a hart attak")
    doc.ents = [doc.char_span(2, 12, label="D")]
    assert [done.ents[0].kb_id_ for done in linker.pipe([doc])]
    assert stacks
    for frames in stacks:
        # The first is the body of `pipe`; the rest are the calls that lead from it to faiss.
        assert len(frames) - 1 <= MOST_CALLS, frames
        assert {"decide", "retrieve"} <= set(frames)


def _is_own(path: str) -> bool:
    return path.startswith(str(Path(dense.__file__).parents[1]))


def test_a_linker_is_made_of_assets_alone(tiny_assets):
    assert isinstance(tiny_assets.engine(), Linker)
    wrapped = tiny_assets.engine(["exact", "ngram"], exact_first=True, memory=False)
    made = open_linker(
        tiny_assets, LinkSettings(tiers=["exact", "ngram"], exact_first=True, memory=False)
    )
    mentions = [Mention("fever"), Mention("hart attak")]
    assert wrapped.decide(mentions) == made.decide(mentions)
    assert wrapped.parts.tier_names == made.parts.tier_names == ["exact", "ngram"]


def test_a_text_is_weighed_once_for_all_tiers(tiny_assets, monkeypatch):
    weighed, weigh = list[str](), word_ngram.count

    def counted(texts: Sequence[str]) -> object:
        weighed.extend(texts)
        return weigh(texts)

    monkeypatch.setattr(word_ngram, "count", counted)
    linker = open_linker(tiny_assets, LinkSettings(exact_first=False))
    assert linker.parts.tier_names == ["exact", "ngram", "dense"]
    (ranking,) = linker.rank([Mention("sore hart")], 3)
    assert weighed == ["sore hart"]
    assert {"exact", "ngram", "dense"} <= ranking[0].scores.keys()


def test_a_mask_is_a_scope_that_leaves_nothing_in_the_cache(tiny_assets):
    linker, mention = open_linker(tiny_assets), Mention("fever")
    (every,) = linker.rank([mention], 3)
    allowed = linker.name_concept != every[0].row
    (masked,) = linker.rank([mention], 3, Mask.of(allowed))
    assert every[0].row not in {candidate.row for candidate in masked} and masked
    assert linker.rank([mention], 3) == [every]
    assert len(linker.retrieval._cache) == 1
    (filtered,) = linker.rank(
        [mention], 3, Filter.of(deny=[tiny_assets.kb.concept_at(every[0].row).id])
    )
    assert [candidate.row for candidate in filtered] == [candidate.row for candidate in masked]


def test_vectors_of_another_arithmetic(tiny_assets, monkeypatch):
    engine = tiny_assets.engine(cache_size=0, exact_first=False)
    encode = engine.parts.encoder.encode

    def rounded(texts):
        """What a processor that computes in another precision makes of them."""
        vectors = encode(texts) + np.float32(0.004)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    monkeypatch.setattr(engine.parts.encoder, "encode", rounded)
    (ranking,) = engine.rank([Mention("Heart attack")], 2)
    assert ranking[0].scores["exact"] == ranking[0].scores["dense"] == 1
    assert round(ranking[0].score, 6) == 1
    # The same key is not the same string.
    (ranking,) = engine.rank([Mention("heart attacks")], 2)
    assert ranking[0].scores["exact"] == np.float32(0.95)
    assert ranking[0].scores["dense"] < 1

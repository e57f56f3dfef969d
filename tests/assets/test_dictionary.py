"""What medical_mentions looks for: a part of the terminology, stop lists, words in any order."""

import pickle
import tracemalloc
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language

from spacy_medlink.assets import Assets
from spacy_medlink.errors import MedlinkError
from spacy_medlink.retrieval.exact import ExactIndex
from spacy_medlink.text.any_order import any_order_key
from spacy_medlink.types import Concept, Name, Retired
from tests.mapped import is_mapped
from tests.tables import table
from tests.tiny import concept, kb_of

TEXT = "Severe asthma, fiebre, type 2 diabetes, DM and a headache."


RECORDS = [
    concept("ALL", "All of it"),
    concept("ABN", "Abnormality", parents=("ALL",)),
    concept("MOD", "Modifier", parents=("ALL",)),
    concept("SEV", "Severe", parents=("MOD",), types=("T080",)),
    concept("KID", "Kidney malformation", parents=("ABN",), types=("T019",)),
    concept("EAR", "Abnormality of the outer ear", "OF ear", parents=("ABN",), types=("T019",)),
    concept("AST", "Asthma", parents=("ABN", "KID"), types=("T047",)),
    Concept("FEV", "Fever", (Name("fiebre", "es"),), ("T184",), parents=("ABN",)),
    Retired("OLD", "ABN", "merged"),
]


def pipeline(assets: Assets, **config: Any) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions", config={"assets": str(assets.path), **config})
    return nlp


def found(nlp: Language, text: str) -> list[str]:
    return [ent.text for ent in nlp(text).ents]


@table(__file__, "choices")
def test_choices(assets, tmp_path, config, ents):
    nlp = pipeline(assets, **config, leave_out=[])
    text = "Severe asthma, fiebre."
    assert found(nlp, text) == ents
    # What was chosen is what is saved, sent and copied.
    nlp.to_disk(tmp_path)
    assert found(spacy.load(tmp_path), text) == ents
    sent = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert found(sent, text) == ents
    copy = pickle.loads(pickle.dumps(nlp.get_pipe("medical_mentions")))
    assert [ent.text for ent in copy(nlp.make_doc(text)).ents] == ents


@table(__file__, "what_there_is_not")
def test_what_there_is_not(assets, config, code):
    with pytest.raises(MedlinkError, match=code):
        pipeline(assets, **config)("text")


@table(__file__, "words_in_any_order")
def test_words_in_any_order(assets, text, ents):
    assert found(pipeline(assets), text) == ents


WORDS = st.lists(
    st.sampled_from(["of", "the", "OF", "kidney", "ears", "b-12", ".", ""]), max_size=9
)


@given(WORDS, st.randoms(use_true_random=False))
def test_the_key_forgets_order_and_links(words, random):
    own = any_order_key(words)
    shuffled = random.sample(words, len(words))
    assert any_order_key(shuffled) == own
    assert any_order_key([*words, "of"]) == own
    assert own == "" or own.startswith("\x00")


def test_the_assets_own_tier_is_mapped_where_all_is_chosen(assets):
    component = pipeline(assets).get_pipe("medical_mentions")
    assert is_mapped(component.exact.rows)


@pytest.mark.parametrize(
    "config", [{"types": ["T047"]}, {"within": "<< ABN"}, {"languages": ["es"]}]
)
def test_a_choice_is_a_mask_over_the_mapped_tier(assets, config, monkeypatch):
    def refuse(*arguments: Any) -> None:
        raise AssertionError("an index is made in memory")

    monkeypatch.setattr("spacy_medlink.retrieval.exact.ExactIndex.build", refuse)
    nlp = pipeline(assets, **config)
    assert found(nlp, "asthma, fiebre")
    component = nlp.get_pipe("medical_mentions")
    assert is_mapped(component.exact.rows)


def test_an_index_of_many_names_is_made_in_arrays(tmp_path):
    count = 20_000
    names = (f"a{one // 150} b{one % 150}" for one in range(count))  # of few words
    kb = kb_of(tmp_path / "kb", (concept(name, name) for name in names))
    tracemalloc.start()
    try:
        made = ExactIndex.build(kb.lookup_table(), kb.iter_texts(), kb.texts_at)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(made.rows) == 2 * count  # by its key, and by its words in any order
    assert peak < 200 * count  # bytes

"""Examples made of names: what each kind hides, and what is right for it."""

import tracemalloc
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.fitting.mutations import broader, mutated
from spacy_medlink.fitting.name_examples import (
    BROADER,
    MUTATED,
    NARROWER,
    NOTHING,
    SLIP,
    SYNONYM,
    TRANSLATED,
    UNKNOWN,
    VERBATIM,
    everyday,
    name_examples,
    nonsense,
    phrases_of_nothing,
    short_form,
)
from spacy_medlink.text.normalisation import is_short_form, key
from spacy_medlink.types import Concept, Name
from tests.tiny import concept, kb_of

SITES = "heart lung liver kidney spleen stomach bladder thyroid pancreas prostate".split()


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    """Cancers of organs below a cancer, with names in another order and in German."""
    concepts = [
        concept(f"X:{site}", f"chronic cancer of {site}", f"{site} cancer, chronic of",
                f"neoplasm in the {site}", Name(f"{site.title()}krebs", "de"),
                parents=("X:cancer",))
        for site in SITES
    ]  # fmt: skip
    path = tmp_path_factory.mktemp("examples") / "kb"
    return kb_of(path, [concept("X:cancer", "cancer"), *concepts])


def test_each_kind_hides_what_it_should_not_find(kb):
    examples = name_examples(kb)
    names = [kb.name_at(row) for row in range(kb.n_names)]
    for one in examples:
        concept = kb.concept_at(one.concept) if one.concept >= 0 else None
        every = set() if concept is None else set(
            range(concept.first_name, concept.first_name + len(concept.names))
        )  # fmt: skip
        hidden = {names[row].text for row in one.hidden}
        assert one.hidden <= every
        if one.kind == VERBATIM:
            assert not one.hidden and one.right == {one.concept} and kb.find(one.text)
        elif one.kind == SYNONYM:
            own = sorted(key(one.text).split())
            left = [names[row].text for row in every - one.hidden]
            assert hidden and left and one.right == {one.concept}
            assert all(sorted(key(text).split()) != own for text in left)
        elif one.kind == TRANSLATED:
            langs = {names[row].lang for row in every - one.hidden}
            own = next(name.lang for name in concept.names if name.text == one.text)
            assert langs and own not in langs
        elif one.kind == UNKNOWN:
            assert one.hidden == every and not one.right
        elif one.kind in (MUTATED, SLIP, NARROWER):
            assert not kb.find(one.text) and one.right == {one.concept} and not one.hidden
        else:
            assert one.kind in (BROADER, NOTHING)
            assert not kb.find(one.text) and not one.right
    counts = Counter(one.kind for one in examples)
    kinds = {VERBATIM, SYNONYM, TRANSLATED, MUTATED, SLIP, BROADER, UNKNOWN, NOTHING}
    assert kinds <= set(counts)
    assert counts[VERBATIM] == len(kb)


def test_they_are_the_same_every_time(kb):
    assert name_examples(kb) == name_examples(kb)
    assert len({one.concept for one in name_examples(kb, sample=5)} - {-1}) == 5


@given(st.text(max_size=40), st.integers(0, 1000), st.sampled_from(["en", "es", "de", "fr", ""]))
def test_a_mutation_has_another_key_or_is_none(text, seed, lang):
    made = mutated(text, np.random.default_rng(seed), lang)
    assert made == "" or key(made) != key(text)


def test_mutations_keep_the_words_that_mean_something():
    """Any one mutation changes one word at most, and drops none that narrows the meaning."""
    for seed in range(200):
        made = mutated("chronic bronchitis of childhood", np.random.default_rng(seed))
        kept = {"chronic", "bronchitis", "childhood"} & set(key(made).split())
        assert len(kept) >= 2 or " " not in made or "chronicbronchitis" in made, made
        assert made


def test_a_broader_text_lacks_one_word():
    for seed in range(20):
        made = broader("chronic bronchitis of childhood", np.random.default_rng(seed))
        assert made in {
            "bronchitis of childhood", "chronic of childhood", "chronic bronchitis of"
        }  # fmt: skip
    assert broader("bronchitis", np.random.default_rng(0)) == ""


def test_phrases_of_nothing_are_no_names_and_of_all_kinds():
    generator = np.random.default_rng(0)
    kinds = "cancer stone abscess atrophy ulcer trauma cyst polyp fracture rupture".split()
    texts = [f"{site} {kind}" for site, kind in zip(SITES, kinds, strict=True)]
    known = {key("water pill"), *map(key, texts)}
    found = phrases_of_nothing(texts, {"en"}, lambda text: key(text) in known, 80, generator)
    assert len(found) == len(set(found)) == 80
    assert "water pill" not in found
    assert len(set(found) & set(everyday(["en"]))) == 20
    assert sum(map(is_short_form, found)) >= 20
    words = {word for text in texts for word in text.split()}
    assert sum(set(text.split()) <= words for text in found) >= 20


def test_everyday_phrases_are_of_the_languages_of_the_names():
    assert "water pill" in everyday(["en"]) and "water pill" not in everyday(["de", "fr"])
    assert everyday([]) == everyday(["ja"]) == everyday(["en"])
    for lang in ("en", "es", "de", "fr"):
        own = everyday([lang])
        assert len(own) == len({text.casefold() for text in own}) >= 40


@given(st.integers(0, 10_000))
def test_made_up_texts_have_a_key(seed):
    generator = np.random.default_rng(seed)
    assert key(nonsense(generator)) and is_short_form(short_form(generator))


class _ManyNames:
    """A knowledge base of many concepts with one name each, which takes no memory."""

    n_names = 200_000

    def name_concepts(self) -> np.ndarray:
        return np.arange(self.n_names)

    def concept_at(self, row: int) -> Concept:
        name = f"name {row}"
        return Concept(f"C{row}", name, (Name(name),), row=row, first_name=row)

    def find(self, text: str) -> list[Concept]:
        return []


def test_the_names_to_draw_from_are_no_list():
    kb: Any = _ManyNames()
    tracemalloc.start()
    try:
        found = name_examples(kb, sample=10, phrases=0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len({one.concept for one in found}) == 10
    assert peak < 24 * kb.n_names  # bytes: two arrays, of the names and of their concepts

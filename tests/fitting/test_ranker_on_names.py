"""The ranker of a build: names show what each tier is worth, and leave the rest to the rules."""

import numpy as np
import pytest
from rapidfuzz import process

from spacy_medlink.assets import build_assets
from spacy_medlink.fitting.name_examples import SYNONYM
from spacy_medlink.fitting.ranker import fit_ranker_on_names
from spacy_medlink.fitting.retrieved import RetrievedExamples
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.linking import Linker, Parts
from spacy_medlink.linking.ranker import OF_NAMES, RANKER_FEATURES
from spacy_medlink.retrieval.dense import DenseIndex
from spacy_medlink.retrieval.fusion import WeightedFusion, usual_weights
from spacy_medlink.retrieval.tier import tier_of_names
from spacy_medlink.types import Concept, Name
from tests.tiny import assets_of, concept

SYLLABLES = "ba co di fu ge ha ki lo mu ne pa ri so tu ve".split()


class Encoder:
    """An encoder that knows the concept of every name, or draws vectors.

    Of any other text it takes the name that is written most like it.
    """

    dim = 128

    def __init__(self, kb, knows):
        self.concept = {name.text: row for row, name in kb.iter_names()}
        places = np.random.default_rng(2).permutation(len(self.concept)) % self.dim
        self.place = self.concept if knows else dict(zip(self.concept, places, strict=True))

    def encode(self, texts):
        nearest = [process.extractOne(text, self.concept.keys())[0] for text in texts]
        vectors = np.eye(self.dim, dtype=np.float32)[[self.place[name] for name in nearest]]
        return vectors + np.float32(1e-4)


def written(path, spelt_alike):
    """Write 120 concepts of two names, which share all but an ending, or not a single trigram."""
    generator = np.random.default_rng(0)
    first = ["".join(generator.choice(SYLLABLES, 4)) for _ in range(120)]
    other = [f"{text}ity" if spelt_alike else f"zz{n:03d}zz" for n, text in enumerate(first)]
    pairs = zip(first, other, strict=True)
    build_kb(path, [Concept(name, name, (Name(name), Name(end))) for name, end in pairs])
    return path


def fitted(path, knows, spelt_alike):
    written(path, spelt_alike)
    kb = KnowledgeBase(path)
    encoder, texts = Encoder(kb, knows), list(kb.iter_texts())
    dense = DenseIndex.build([encoder.encode(texts)], len(texts), encoder.dim, "Flat")
    tiers = {"ngram": tier_of_names("ngram").build(texts), "dense": dense}
    fusion = WeightedFusion(usual_weights(list(tiers)))
    linker = Linker.of(Parts(kb.name_concepts(), others=tiers, encoder=encoder, fusion=fusion))
    names = RetrievedExamples.of(linker, kb)
    return names, fit_ranker_on_names(names, kb, linker.parts.conditions(None))


def first_places(names, linker):
    examples = names.of_kinds([SYNONYM])
    ranked = names.asking(linker).rank(examples, 3)
    found = zip(ranked, examples, strict=True)
    return np.mean([bool(it) and it[0].row in example.right for it, example in found])


@pytest.mark.parametrize(("knows", "spelt_alike"), [(True, False), (False, True)])
def test_a_tier_counts_as_much_as_it_finds(tmp_path, knows, spelt_alike):
    names, fit = fitted(tmp_path / "kb", knows, spelt_alike)
    ranked = names.engine if fit.ranker is None else names.engine.with_parts(rescorer=fit.ranker)
    assert first_places(names, ranked) >= max(0.9, first_places(names, names.engine))
    assert fit.entry["examples"][SYNONYM] == 120
    if not knows:  # an encoder that draws its vectors stands before the n-grams without a ranker
        assert fit.ranker is not None and first_places(names, names.engine) < 0.9
        of = dict(zip(RANKER_FEATURES, fit.ranker.model.weights.tolist(), strict=True))
        assert {name for name in of if of[name]} <= OF_NAMES


def test_few_names_fit_nothing(tmp_path):
    assert assets_of(tmp_path, [concept("1", "fever", "pyrexia")]).ranker is None


def test_an_update_fits_the_same_and_stated_weights_none(tmp_path, tiny_encoder, monkeypatch):
    monkeypatch.setattr("spacy_medlink.fitting.ranker._judged", lambda *_, **__: ({}, ""))
    kb = written(tmp_path / "kb", spelt_alike=True)
    made = build_assets(tmp_path / "a", kb, tiny_encoder)
    assert made.ranker is not None and made.ranker.on_names
    again = build_assets(tmp_path / "b", kb, update=made.path)
    assert again.manifest["ranker"] == made.manifest["ranker"]
    assert again.engine(calibrator=True).parts.calibrator is not None
    stated = {"exact": 1, "ngram": 1, "dense": 2}
    plain = build_assets(tmp_path / "c", kb, tiny_encoder, weights=stated)
    assert plain.ranker is None and plain.weights["dense"] == 0.5

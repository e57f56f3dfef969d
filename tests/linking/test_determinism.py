"""The same mention has the same answers in any company, order, batch and number of threads."""

import random

import faiss
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.assets import build_assets
from spacy_medlink.encoders import bi_encoder
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings
from spacy_medlink.kb import build_kb
from spacy_medlink.kb.readers import obo
from spacy_medlink.linking.reranking import Reranker
from spacy_medlink.types import Concept, Mention
from training.embedded import MODEL_PACKAGE, ONTOLOGY_PACKAGE, place_model, place_ontology

TEXTS = [
    "heart attack", "HEART ATTACKS", "PE", "type 2 diabetes", "sugar", "hart atack", "fiebre",
    "high blood pressure and fever", "x" * 300, "Kopfschmerz", "pain", "lung",
]  # fmt: skip
LABELS = {"SYMPTOM": ["T184", "T033"]}
EACH, N_MENTIONS = 20, 210  # every twentieth concept of HPO is in the knowledge base


@pytest.fixture(scope="module")
def hpo(tmp_path_factory):
    """Assets with an encoder of real size, and names, also misspelt and of concepts not there."""
    for package in (MODEL_PACKAGE, ONTOLOGY_PACKAGE):
        pytest.importorskip(package)
    path, chance = tmp_path_factory.mktemp("hpo"), random.Random(0)
    place_model(path / "model")
    place_ontology(path / "hp.obo")
    concepts = [one for one in obo.read(path / "hp.obo") if isinstance(one, Concept)]
    build_kb(path / "kb", concepts[::EACH])
    texts = []
    for number in range(N_MENTIONS):
        of = concepts[::EACH] if number % 4 else concepts
        text = chance.choice(chance.choice(of).names).text
        at = chance.randrange(len(text)) if number % 2 else len(text)
        texts.append(text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :])
    with pytest.MonkeyPatch.context() as patch:  # bf16 rounds by more than the tolerance
        patch.setattr(bi_encoder, "has_native_bf16", lambda device: False)
        yield build_assets(path / "assets", path / "kb", path / "model"), texts


WORLDS = ["tiny", pytest.param("hpo", marks=[pytest.mark.slow, pytest.mark.timeout(1200)])]


@pytest.fixture(scope="module", params=WORLDS)
def world(request, tiny_assets):
    """Assets, the path of their encoder, and mentions."""
    assets, texts = (
        (tiny_assets, TEXTS) if request.param == "tiny" else request.getfixturevalue("hpo")
    )
    labels = ("", "DISEASE", "SYMPTOM") if request.param == "tiny" else ("",)
    mentions = [
        Mention(text, label=label, left=f"a {label} of", right="was seen")
        for text in texts for label in labels
    ]  # fmt: skip
    return assets, mentions


@pytest.fixture(scope="module", params=[False, True])
def encoder(request, world):
    """A cross-encoder, or none."""
    if not request.param:
        return None
    made = CrossEncoder.of(BiEncoder.load(world[0].path / "encoder"), CrossSettings(top=4))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        torch.nn.init.normal_(made.module.head.weight)
    return made


@pytest.fixture(scope="module")
def ranked(world, encoder):
    assets, _ = world

    def rank(mentions, size=1000, threads=1):
        before = torch.get_num_threads(), faiss.omp_get_max_threads()
        torch.set_num_threads(threads)
        faiss.omp_set_num_threads(threads)
        try:
            rescorer = encoder and Reranker(encoder, assets.kb, cache_size=0)
            labels = LABELS if len(assets.kb) < 100 else {}
            engine = assets.engine(labels=labels, cache_size=0, rescorer=rescorer)
            batches = [mentions[start : start + size] for start in range(0, len(mentions), size)]
            return [ranking for batch in batches for ranking in engine.rank(batch, 6)]
        finally:
            torch.set_num_threads(before[0])
            faiss.omp_set_num_threads(before[1])

    return rank


@pytest.fixture(scope="module")
def expected(ranked, world):
    return dict(zip(world[1], ranked(world[1]), strict=True))


@settings(max_examples=6)
@given(st.randoms(use_true_random=False), st.integers(1, 40), st.sampled_from([1, 2]))
def test_order_batches_and_threads(ranked, expected, world, chance, size, threads):
    mentions = [*world[1]]
    chance.shuffle(mentions)
    for mention, ranking in zip(mentions, ranked(mentions, size, threads), strict=True):
        want = expected[mention]
        assert [(one.row, one.name_row) for one in ranking] == [
            (one.row, one.name_row) for one in want
        ]
        for one, other in zip(ranking, want, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-4)
            assert (one.ranks, one.decided, one.tied) == (other.ranks, other.decided, other.tied)

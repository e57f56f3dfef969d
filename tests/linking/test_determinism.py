"""The same mention has the same answers in any company, order, batch and number of threads."""

import random

import faiss
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.encoders import bi_encoder
from spacy_medlink.kb import build_kb
from spacy_medlink.kb.readers import obo
from spacy_medlink.linking.reranking import Reranker
from spacy_medlink.types import Concept, Mention
from tests.complete_assets import random_cross_encoder, write_complete_assets
from tests.rankings import assert_same
from training.embedded import MODEL_PACKAGE, ONTOLOGY_PACKAGE, place_model, place_ontology

TEXTS = [
    "heart attack", "HEART ATTACKS", "PE", "type 2 diabetes", "sugar", "hart atack", "fiebre",
    "high blood pressure and fever", "x" * 300, "Kopfschmerz", "pain", "lung", "",
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


@pytest.fixture(scope="module")
def complete(tmp_path_factory, tiny_kb, tiny_encoder):
    """Assets with memory, ranker, reranker and calibrator."""
    place = tmp_path_factory.mktemp("complete") / "assets"
    return write_complete_assets(place, tiny_kb.path, tiny_encoder), TEXTS


WORLDS = [
    "tiny",
    "complete",
    pytest.param("hpo", marks=[pytest.mark.slow, pytest.mark.timeout(1200)]),
]


@pytest.fixture(scope="module", params=WORLDS)
def world(request, tiny_assets):
    """Assets, the path of their encoder, and mentions."""
    assets, texts = (
        (tiny_assets, TEXTS) if request.param == "tiny" else request.getfixturevalue(request.param)
    )
    labels = ("",) if request.param == "hpo" else ("", "DISEASE", "SYMPTOM")
    mentions = [
        Mention(text, label=label, left=f"a {label} of", right="was seen")
        for text in texts for label in labels
    ]  # fmt: skip
    return assets, mentions


@pytest.fixture(scope="module", params=[False, True])
def encoder(request, world):
    """A cross-encoder, or that of the assets, if they have one."""
    if not request.param:
        return None
    return random_cross_encoder(world[0].path / "encoder", 2, top=4)


@pytest.fixture(scope="module")
def ranked(world, encoder):
    def rank(mentions, size=1000, threads=1, cached=False):
        assets = Assets(world[0].path)  # with caches of its own
        before = torch.get_num_threads(), faiss.omp_get_max_threads()
        torch.set_num_threads(threads)
        faiss.omp_set_num_threads(threads)
        try:
            kept = {} if cached else {"cache_size": 0}
            own = {"rescorer": Reranker(encoder, assets.kb, **kept)} if encoder else {}
            labels = LABELS if len(assets.kb) < 100 else {}
            engine = assets.engine(labels=labels, **kept, **own)
            if cached:
                engine.rank(mentions, 6)
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
@given(
    st.randoms(use_true_random=False), st.integers(1, 40), st.sampled_from([1, 2]), st.booleans()
)
def test_order_batches_threads_and_cache(ranked, expected, world, chance, size, threads, cached):
    mentions = [*world[1]]
    chance.shuffle(mentions)
    assert_same(ranked(mentions, size, threads, cached), [expected[one] for one in mentions])

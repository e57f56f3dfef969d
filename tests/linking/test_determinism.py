"""The same mention has the same answers in any company, order, batch and number of threads.

`test_determinism_hpo.py` asks the same of the component, with an encoder of real size.
"""

import faiss
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings
from spacy_medlink.linking.reranking import Reranker
from spacy_medlink.types import Mention

TEXTS = [
    "heart attack", "HEART ATTACKS", "PE", "type 2 diabetes", "sugar", "hart atack", "fiebre",
    "high blood pressure and fever", "x" * 300, "Kopfschmerz", "pain", "lung",
]  # fmt: skip
MENTIONS = [
    Mention(text, label=label, left=f"a {label} of", right="was seen")
    for text in TEXTS for label in ("", "DISEASE", "SYMPTOM")
]  # fmt: skip
LABELS = {"SYMPTOM": ["T184", "T033"]}


@pytest.fixture(scope="module", params=[False, True])
def encoder(request, tiny_encoder):
    """A cross-encoder, or none."""
    if not request.param:
        return None
    settings = CrossSettings(top=4)
    made = CrossEncoder.of(BiEncoder.load(tiny_encoder), settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        torch.nn.init.normal_(made.module.head.weight)
    return made


@pytest.fixture(scope="module")
def ranked(tiny_assets, encoder):
    def rank(mentions, size=1000, threads=1):
        before = torch.get_num_threads(), faiss.omp_get_max_threads()
        torch.set_num_threads(threads)
        faiss.omp_set_num_threads(threads)
        try:
            rescorer = encoder and Reranker(encoder, tiny_assets.kb, cache_size=0)
            engine = tiny_assets.engine(labels=LABELS, cache_size=0, rescorer=rescorer)
            batches = [mentions[start : start + size] for start in range(0, len(mentions), size)]
            return [ranking for batch in batches for ranking in engine.rank(batch, 6)]
        finally:
            torch.set_num_threads(before[0])
            faiss.omp_set_num_threads(before[1])

    return rank


@pytest.fixture(scope="module")
def expected(ranked):
    return dict(zip(MENTIONS, ranked(MENTIONS), strict=True))


@settings(max_examples=6, deadline=None)
@given(st.permutations(MENTIONS), st.integers(1, 40), st.sampled_from([1, 2]))
def test_order_batches_and_threads(ranked, expected, mentions, size, threads):
    for mention, ranking in zip(mentions, ranked(mentions, size, threads), strict=True):
        want = expected[mention]
        assert [(one.row, one.name_row) for one in ranking] == [
            (one.row, one.name_row) for one in want
        ]
        for one, other in zip(ranking, want, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-4)
            assert (one.ranks, one.decided, one.tied) == (other.ranks, other.decided, other.tied)

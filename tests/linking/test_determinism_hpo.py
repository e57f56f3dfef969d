"""The whole linker over the Human Phenotype Ontology: nothing but the mention changes its answer.

All tiers, a reranker, a calibrator, and a sentence encoder of real size; several hundred mentions
that are names, misspelt names, and names of concepts that are not there.
"""

import json
import random
from importlib.util import find_spec
from unittest.mock import patch

import pytest
import spacy
import torch
from spacy.tokens import Doc, Span

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.reranker import store_reranker
from spacy_medlink.components.linker import opened
from spacy_medlink.encoders import bi_encoder, light
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings
from spacy_medlink.kb import build_kb
from spacy_medlink.kb.readers import obo
from spacy_medlink.kb.schema import kb_fingerprint
from spacy_medlink.types import Concept
from tests.fits import calibrated_on
from training.embedded import MODEL_PACKAGE, ONTOLOGY_PACKAGE, place_model, place_ontology

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.slow,
    pytest.mark.skipif(
        not (find_spec(MODEL_PACKAGE) and find_spec(ONTOLOGY_PACKAGE)),
        reason="needs the extra starter",
    ),
]
EACH = 20  # every twentieth concept is in the knowledge base
DOCUMENTS, PER_DOCUMENT = 70, 3
TOLERANCE = 1e-4
LEFT = ["The patient has", "No sign of", "His mother had", "There was also", "Since birth :"]
RIGHT = ["was seen on the left .", ", which runs in the family .", "and fever .", "."]


@pytest.fixture(scope="module", autouse=True)
def _fp32():
    """Compute alike on all processors: bf16 rounds by more than the tolerance in other batches."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (bi_encoder, light):
            patch.setattr(module, "has_native_bf16", lambda device: False)
        yield


def misspelt(text, generator):
    place = generator.randrange(max(1, len(text) - 1))
    return text[:place] + text[place + 1 : place + 2] + text[place : place + 1] + text[place + 2 :]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Assets with all tiers, mentions as words of documents, and a gold file of some of them."""
    path = tmp_path_factory.mktemp("hpo")
    place_model(path / "model")
    place_ontology(path / "hp.obo")
    concepts = [one for one in obo.read(path / "hp.obo") if isinstance(one, Concept)]
    kept, generator = concepts[::EACH], random.Random(0)
    build_kb(path / "kb", kept)
    build_assets(path / "assets", path / "kb", path / "model")
    mentions = []
    for number in range(DOCUMENTS * PER_DOCUMENT):
        concept = generator.choice(kept if number % 4 else concepts)
        text = generator.choice(concept.names).text
        mentions.append((misspelt(text, generator) if number % 2 else text, concept.id))
    gold = [{"mention": text, "ids": [id]} for text, id in mentions[:80]]
    (path / "gold.jsonl").write_text("\n".join(map(json.dumps, gold)), encoding="utf-8")
    texts = [text for text, _ in mentions]
    generator.shuffle(texts)
    (path / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def assets(place):
    plain = Assets(place / "assets")
    settings = CrossSettings(top=5, weight=0.4, kb=kb_fingerprint(plain.manifest["kb"]))
    encoder = CrossEncoder.of(BiEncoder.load(place / "assets" / "encoder"), settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        torch.nn.init.normal_(encoder.module.head.weight)
    out = place / "reranked"
    reranked = store_reranker(plain, out, encoder, {})
    calibrated_on(reranked, out, place / "gold.jsonl", target_precision=0.6)
    return out


def documents(vocab, place):
    texts = iter(json.loads((place / "texts.json").read_text(encoding="utf-8")))
    for number in range(DOCUMENTS):
        words, spans = [], []
        for place_ in range(PER_DOCUMENT):
            words += LEFT[(number + place_) % len(LEFT)].split()
            mention = next(texts).split() or ["?"]
            spans.append((len(words), len(words) + len(mention)))
            words += [*mention, *RIGHT[(number * place_) % len(RIGHT)].split()]
        doc = Doc(vocab, words)
        doc.ents = [Span(doc, start, end, label="PHENOTYPE") for start, end in spans]
        yield doc


def linked(assets, place, order=None, **settings):
    """Link all documents with a linker of their own: a list of answers for each document."""
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_linker", config={"assets": str(assets), **settings})
    docs = list(documents(nlp.vocab, place))
    order = order or list(range(len(docs)))
    with patch.object(opened, "CACHE_SIZE", 0):
        done = dict(zip(order, nlp.pipe([docs[number] for number in order]), strict=True))
    return [
        [(ent.text, ent.kb_id_, ent._.candidates) for ent in done[number].ents]
        for number in range(len(docs))
    ]


@pytest.fixture(scope="module")
def expected(assets, place):
    found = linked(assets, place, n_threads=1)
    answers = [answer for doc in found for answer in doc]
    assert len(answers) > 0.9 * DOCUMENTS * PER_DOCUMENT
    ids = [id for _, id, _ in answers]
    assert 0.1 < ids.count("NIL") / len(ids) < 0.9
    first = [candidates[0] for _, _, candidates in answers if candidates]
    assert all({"exact", "ngram", "dense", "rerank"} <= set(one["scores"]) for one in first)
    assert len({one["prob"] for one in first}) > 5
    return found


CASES = {
    "again": {"n_threads": 1},
    "one document at a time": {"batch_size": 1, "n_threads": 1},
    "other batches, two threads": {"batch_size": 7, "n_threads": 2},
    "another order, two threads": {"order": 3, "n_threads": 2},
    "another order, other batches": {"order": 4, "batch_size": 13, "n_threads": 1},
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_answers(assets, place, expected, case):
    settings = dict(CASES[case])
    order = list(range(DOCUMENTS))
    if "order" in settings:
        random.Random(settings.pop("order")).shuffle(order)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)  # settings only lower it
    try:
        found = linked(assets, place, order, **settings)
    finally:
        torch.set_num_threads(threads)
    for own, want in zip(found, expected, strict=True):
        assert [answer[:2] for answer in own] == [answer[:2] for answer in want]
        for (_, _, candidates), (_, _, others) in zip(own, want, strict=True):
            check_same(candidates, others)


def check_same(candidates, others):
    assert [one["id"] for one in candidates] == [one["id"] for one in others]
    for one, other in zip(candidates, others, strict=True):
        assert one["matched"] == other["matched"]
        assert one["score"] == pytest.approx(other["score"], abs=TOLERANCE)
        assert one["scores"] == pytest.approx(other["scores"], abs=TOLERANCE)
        assert one["prob"] == pytest.approx(other["prob"], abs=TOLERANCE)

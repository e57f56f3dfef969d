"""A terminology of sites and diseases, and rankings that one could give, made without any."""

import numpy as np

from spacy_medlink.fitting.examples import RankedExamples
from spacy_medlink.linking.calibrator import CALIBRATOR_FEATURES, calibrator_features
from spacy_medlink.linking.facts import NameFacts, Prior
from spacy_medlink.types import Candidate, Name

SITES = (
    "heart lung liver kidney spleen stomach bladder thyroid pancreas prostate colon skin".split()
)
KINDS = "carcinoma infarction abscess dystrophy stenosis aplasia hyperplasia trauma".split()
PAIRS = [(site, kind) for site in SITES for kind in KINDS]


def document(doc_id, mentions, end):
    """Make a document of mentions, with `end` after each of them in its text."""
    text, placed = "", []
    for mention in mentions:
        start, text = len(text), f"{text}{mention['mention']}"
        placed.append({**mention, "start": start, "end": len(text)})
        text += end
    return {"doc_id": doc_id, "text": text, "mentions": placed}


# Three names each.
FACTS = NameFacts(
    np.repeat(np.arange(400, dtype=np.int32), 3),
    lambda row: Name(f"some text {row}"),
    Prior((), str),
)


def ranking(score, margin=0.1, exact=False, row=0, form="some text", tied=()):
    own = {"exact": 0.95 if exact else 0.0, "ngram": score, "dense": score}
    ranks = {"exact": 1, "ngram": 1, "dense": 1} if exact else {"dense": 1}
    best = Candidate(row, 3 * row, score, own, None, ranks, form, "", tied)
    second = {"exact": own["exact"], "ngram": score - margin, "dense": score - margin}
    return [best, Candidate(row + 1, 3 * row + 3, score - margin, second)]


def ranked_examples(n=1500, seed=0, slope=8.0):
    """Rankings that are right with the probability 1 / (1 + exp(-slope * (score - 0.5)))."""
    generator = np.random.default_rng(seed)
    scores, margins = generator.random(n), 0.3 * generator.random(n)
    rankings = [
        ranking(score, margin, row=int(row))
        for score, margin, row in zip(scores, margins, generator.integers(0, 300, n), strict=True)
    ]
    promise = 1 / (1 + np.exp(-slope * (scores - 0.5)))
    right = generator.random(n) < promise
    known = right | (generator.random(n) < 0.8)
    features = calibrator_features(rankings, FACTS)
    assert features.shape == (n, len(CALIBRATOR_FEATURES))
    weights = generator.choice([0.2, 0.8, 1.6], n)
    groups = np.array([one[0].row for one in rankings])
    return RankedExamples(features, right, known, weights, groups), promise

"""The n-gram tier as a comparison with all names, for tests to compare with."""

from collections.abc import Iterable

import numpy as np

from spacy_medlink.retrieval.grams import BUCKETS, count, inverse_frequency, weigh
from training.data.tfidf import TfidfIndex


def ngram_index(names: Iterable[str]) -> TfidfIndex:
    """Build an index of trigrams over names, with the weights that a `WordNgramIndex` has."""
    counts = count(names)
    frequency = np.bincount(counts.indices, minlength=BUCKETS)
    idf = inverse_frequency(frequency, counts.shape[0])
    return TfidfIndex(weigh(counts, idf), lambda texts: weigh(count(texts), idf))

"""The tasks of `benchmarks.kb`, each in a fresh process (`measured.run_task`).

Each returns its figures by what they measure, with the unit behind a comma.
"""

import itertools
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from benchmarks.grown import grown_concepts
from benchmarks.measured import percentiles, private, resident, seconds_of
from spacy_medlink.assets import Assets
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.retrieval.grams import BUCKETS, count, weigh
from spacy_medlink.retrieval.mask import Mask
from spacy_medlink.retrieval.word_ngram import WordNgramIndex
from spacy_medlink.types import Floats2d

if TYPE_CHECKING:
    from spacy.language import Language

Figures = dict[str, Any]
NOTE = Path(__file__).parents[1] / "assets" / "sample_note.txt"
_WORDS, _NAMES_A_NOTE = 300, 20
_K, _RECALL = 64, 20  # names that the linker asks for, and names whose recall is measured
_SAMPLE = 10_000  # names and ids that are looked up
_TEXTS = 400  # misspelt names that are searched, and notes that are linked
_LONG = 10  # letters of names that are misspelt
_PART = 7  # of so many concepts a filter lets one pass
_MEASURED, _ZONE = 4, 500  # times that memory is measured, notes of a memory zone


def grow(kb: str, out: str, names: int, year: int) -> Figures:
    """Build a knowledge base of names that are made of those of another one."""
    build_kb(Path(out), grown_concepts(KnowledgeBase(kb), names, year))
    return {}


def read(kb: str) -> Figures:
    """Open a knowledge base; read concepts by id, and find names."""
    start = time.perf_counter()
    base = KnowledgeBase(kb)
    base.concept_at(len(base) // 2)
    seconds = time.perf_counter() - start
    memory, rng = resident(), random.Random(0)
    ids = [base.concept_at(rng.randrange(len(base))).id for _ in range(_SAMPLE)]
    names = _names(base)
    by_id = min(seconds_of(lambda: [base[id] for id in ids]) for _ in range(2))
    return {
        "open and read a concept, ms": seconds * 1e3,
        "memory of the process then, MB": memory / 1e6,
        "a concept by id, µs": by_id / len(ids) * 1e6,
        "a name by `kb.find`, µs": seconds_of(lambda: [*map(base.find, names)]) / len(names) * 1e6,
    }


def exact(assets: str) -> Figures:
    """Look names up in the exact tier: the first time, and again."""
    opened = Assets(assets)
    texts, index = _names(opened.kb), opened.exact
    first, again = (seconds_of(lambda: index.search(texts)) for _ in range(2))
    return {f"{len(texts):,} look-ups, s": again, "the first time, s": first}


def ngrams(assets: str) -> Figures:
    """Search for misspelt names by n-grams; recall is against a comparison with all names."""
    opened = Assets(assets)
    texts, index = misspelt(opened.kb), opened.ngram
    figures = _search(lambda some, mask: index.search(some, _K, mask), texts)
    return {**figures, "recall@20": _recall(index, texts)}


def dense(assets: str) -> Figures:
    """Search for vectors of misspelt names, also within a seventh of the concepts."""
    opened = Assets(assets)
    vectors, index = opened.encoder.encode(misspelt(opened.kb)), opened.dense
    mask = Mask.of(opened.name_concept % _PART == 0)
    index_facts = opened.manifest["index"]
    figures = _search(lambda some, mask: index.search(some, _K, mask), vectors, mask)
    recall = index_facts.get("recall", {}).get("recall@25", 1.0)
    return {**figures, f"recall@25 of {index_facts['spec']}, by the build": recall}


def _search(search: Callable[[Any, Any], object], texts: Any, mask: Mask | None = None) -> Figures:
    """Search for each text alone, and for all at once; then alone within a mask."""
    alone = [seconds_of(partial(search, texts[at : at + 1], None)) for at in range(len(texts))]
    figures = {
        "alone, median, ms": percentiles(alone)["p50"],
        "alone, 99th percentile, ms": percentiles(alone)["p99"],
        "of many, ms": seconds_of(partial(search, texts, None)) / len(texts) * 1e3,
    }
    if mask is not None:
        search(texts[:1], mask)
        within = [seconds_of(partial(search, texts[at : at + 1], mask)) for at in range(100)]
        figures["within a seventh of the concepts, ms"] = median(within) * 1e3
    return figures


def _recall(index: Any, texts: Sequence[str]) -> float:
    """Compute the share of found names that are as similar as the 20 most similar of all names."""
    shares, texts = [], texts[::4]
    for text, scores in zip(texts, index.search(texts, _K).scores, strict=True):
        best = _products(index, text)
        best = best[best > 0]
        if len(best):
            shares.append(np.count_nonzero(scores[:_RECALL] >= best[-1] - 1e-5) / len(best))
    return float(np.mean(shares))


def _products(index: WordNgramIndex, text: str) -> Floats2d:
    """Compare a text with all names. RETURNS the highest cosines, descending."""
    grams, names = index._words.grams, index._names
    words = sparse.csr_matrix((len(grams), BUCKETS), dtype=np.float32)
    words.data, words.indices, words.indptr = grams.weights, grams.items, grams.offsets
    weights = np.asarray(weigh(count([text]), index._words.idf).todense(), np.float32).ravel()
    products = (words @ weights)[names.words.items]
    has_words = np.diff(names.words.offsets) > 0
    cosines = np.add.reduceat(products, names.words.offsets[:-1][has_words])
    cosines /= names.norms[has_words]
    best: Floats2d = -np.sort(np.partition(-cosines, _RECALL)[:_RECALL])
    return best


def notes(assets: str, more: int) -> Figures:
    """Find and link in notes of 300 words.

    more (int): notes that are linked after those that are timed, to see how memory grows; in memory
        zones, as `medlink annotate` does.
    """
    start = time.perf_counter()
    nlp = _pipeline(assets)
    nlp("A history of hypertention.")
    first, base = time.perf_counter() - start, Assets(assets).kb
    texts = (write_note(base, seed) for seed in itertools.count())
    with nlp.select_pipes(enable="medical_mentions"):
        finding = [seconds_of(partial(nlp, note)) for note in itertools.islice(texts, _TEXTS)]
    linked = [seconds_of(partial(nlp, note)) for note in itertools.islice(texts, _TEXTS)]
    memory, share = [private() / 1e6], more // _MEASURED
    for _ in range(_MEASURED):
        for start in range(0, share, _ZONE):
            with nlp.memory_zone():
                for _ in nlp.pipe(itertools.islice(texts, min(_ZONE, share - start))):
                    pass
        memory.append(private() / 1e6)
    return {
        "from `add_pipe` to the first link, s": first,
        "`medical_mentions`, median, ms": percentiles(finding)["p50"],
        "with `medical_linker`, median, ms": percentiles(linked)["p50"],
        "with `medical_linker`, 99th percentile, ms": percentiles(linked)["p99"],
        f"memory beside mapped files in {more:,} more notes, MB": " ".join(
            f"{size:.0f}" for size in memory
        ),
    }


def filters(assets: str) -> Figures:
    """Link misspelt names within a large and a small part of the hierarchy."""
    linker: Any = _pipeline(assets).get_pipe("medical_linker")
    base, texts = Assets(assets).kb, misspelt(Assets(assets).kb)[:200]

    def link(**given: Any) -> float:
        """Link twice, since the first time reads words and pages. RETURNS ms of the second."""
        for _ in range(2):
            linker.engine.retrieval.clear()
            seconds = seconds_of(lambda: [linker.link_texts([text], **given) for text in texts])
        return seconds / len(texts) * 1e3

    figures: Figures = {"a misspelt name, ms": link()}
    for share, id in _parts(base):
        scope: dict[str, Any] = {"within": f"<< {id}"}
        start = seconds_of(partial(linker.link_texts, texts[:1], **scope))
        part = f"within {share:.0%} of the concepts"
        figures[f"{part}, the first call, s"] = start
        figures[f"{part}, ms"] = link(**scope, force_within_filter=True)
        figures[f"{part}, and searched outside, ms"] = link(**scope)
    return figures


def _parts(base: KnowledgeBase) -> list[tuple[float, str]]:
    """Choose two concepts with most and with about a twentieth of the concepts below them."""
    rng, sizes = random.Random(4), dict[str, float]()
    for _ in range(20):
        for id in base.ancestors(base.concept_at(rng.randrange(len(base))).id):
            # An ancestor whose names are all left out is no concept of the knowledge base.
            if id in base and id not in sizes and len(sizes) < 40:
                sizes[id] = sum(1 for _ in base.descendants(id)) / len(base)
    near = (min(sizes.items(), key=lambda pair: abs(pair[1] - share)) for share in (1.0, 0.05))
    return [(share, id) for id, share in near] if sizes else []


def _pipeline(assets: str) -> "Language":
    import spacy

    nlp = spacy.blank("en")
    for name in ("medical_mentions", "medical_linker"):
        nlp.add_pipe(name, config={"assets": assets})
    return nlp


def misspelt(base: KnowledgeBase) -> list[str]:
    """Misspell names: a letter is left out, put in, or changes places with the next one."""
    rng = random.Random(2)
    texts: list[str] = []
    while len(texts) < _TEXTS:
        name = base.name_at(rng.randrange(base.n_names)).text
        if len(name) < _LONG:
            continue
        at, slip = rng.randrange(1, len(name) - 1), rng.randrange(3)
        middle = ["", name[at] + rng.choice("aeiornst"), name[at + 1] + name[at]][slip]
        texts.append(name[:at] + middle + name[at + 1 + (slip == 2) :])
    return texts


def _names(kb: KnowledgeBase) -> list[str]:
    rng = random.Random(2)
    return [kb.name_at(rng.randrange(kb.n_names)).text for _ in range(_SAMPLE)]


def write_note(kb: KnowledgeBase, seed: int) -> str:
    """Write a clinical note of 300 words, with names put in anywhere."""
    rng = random.Random(seed)
    words = NOTE.read_text(encoding="utf8").split()
    words = (words * 3)[rng.randrange(len(words)) :][:_WORDS]
    for _ in range(_NAMES_A_NOTE):
        words.insert(rng.randrange(len(words)), kb.name_at(rng.randrange(kb.n_names)).text)
    return " ".join(" ".join(words).split()[:_WORDS])

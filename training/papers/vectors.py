"""What vectors know besides linking: each task of a corpus gives a row, some a figure."""

import json
from pathlib import Path

import numpy as np

from spacy_medlink.encoders.adapters import adapter_parameters
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Floats2d

from ..corpora.tally import Tally
from ..representations.mcsm import TypedTerms, encode_terms, mcsm, read_typed
from ..representations.relations import HeadSettings, classify, divide, read_triplets
from ..representations.similarities import middles, similarities
from ..train import FIGURES
from .figures import Panel, Series
from .plan import Corpus, System
from .table import Row

_DRAWN, _PERPLEXITY = 1500, 30.0  # concepts of a picture; of t-SNE
_FEWEST = 4  # concepts that make a picture
Measured = tuple[list[Row], list[Panel]]


def measure_vectors(
    corpus: Corpus, system: System, encoder: BiEncoder, path: Path, kb: KnowledgeBase | None,
    seed: int,
) -> Measured:  # fmt: skip
    """Measure an encoder by the task of a corpus. path (Path): of the encoder."""
    if corpus.task == "weights":
        return _counted(system.name, encoder, path)
    if corpus.task == "relations" or kb is None:
        return _of_relations(corpus, system, encoder, kb, seed)
    if corpus.task == "similarities":
        return _of_pairs(system.name, encoder, kb, seed)
    return _of_types(corpus, system.name, encoder, kb, seed)


def _of_relations(
    corpus: Corpus, system: System, encoder: BiEncoder, kb: KnowledgeBase | None, seed: int
) -> Measured:
    train, test = divide(read_triplets(Path(corpus.source), Tally(), kb, seed), seed)
    accuracy = classify(encoder, train, test, HeadSettings(tune=system.tune, seed=seed))
    part = "tuned" if system.tune else "frozen"
    return [Row(system.name, part, len(test), {"accuracy": 100 * accuracy})], []


def _of_pairs(name: str, encoder: BiEncoder, kb: KnowledgeBase, seed: int) -> Measured:
    """Compare pairs of one concept with pairs of two, before mining and after."""
    rows, panels = [], []
    for title, pairs in similarities(encoder, kb, seed).items():
        rows.append(Row(name, title, len(pairs.negative), {"overlap": 100 * pairs.overlap}))
        series = [
            Series(what, list(zip(middles(), shares.tolist(), strict=True)), "line", colour)
            for colour, (what, shares) in enumerate(
                zip(("of one concept", "of two"), pairs.shares(), strict=True)
            )
        ]
        ticks = {-1.0: "-1", 0.0: "0", 1.0: "1"}
        panels.append(Panel(f"{name}: cosines of {title}", series, ticks))
    return rows, panels


def _of_types(
    corpus: Corpus, name: str, encoder: BiEncoder, kb: KnowledgeBase, seed: int
) -> Measured:
    typed = read_typed(kb)
    vectors = encode_terms(encoder, typed.terms)
    figures: dict[str, float | None] = {}
    for type, scores in mcsm(vectors, typed.types, corpus.types).items():
        figures |= {type: float(scores.mean()), f"{type} sd": float(scores.std())}
    panels = [] if seed else _picture(name, vectors, typed, corpus.types)
    return [Row(name, "full", len(vectors), figures)], panels


def _picture(
    title: str, vectors: Floats2d, typed: TypedTerms, types: tuple[str, ...]
) -> list[Panel]:
    """Place concepts of some types in the plane, by t-SNE."""
    wanted = [row for row, of_concept in enumerate(typed.types) if set(of_concept) & set(types)]
    rows = np.random.default_rng(0).permutation(wanted)[:_DRAWN].astype(np.int64)
    if len(rows) < _FEWEST:
        return []
    from sklearn.manifold import TSNE

    perplexity = min(_PERPLEXITY, (len(rows) - 1) / 3)
    plane = TSNE(metric="cosine", init="random", perplexity=perplexity, random_state=0)
    places = plane.fit_transform(vectors[rows]).tolist()
    points: dict[str, list[tuple[float, float]]] = {type: [] for type in types}
    for row, (x, y) in zip(rows, places, strict=True):
        for type in set(typed.types[row]) & points.keys():
            points[type].append((x, y))
    drawn = ((type, dots) for type, dots in points.items() if dots)
    series = [Series(type, dots, "dots", colour) for colour, (type, dots) in enumerate(drawn)]
    return [Panel(title, series)]


def _counted(name: str, encoder: BiEncoder, path: Path) -> Measured:
    """Count the weights that a training changes, of all of its base's (SapBERT, table 7)."""
    figures = path / FIGURES
    data = json.loads(figures.read_text("utf-8"))["data"] if figures.is_file() else {}
    adapters = sum(weight.numel() for weight in adapter_parameters(encoder.module))
    every = sum(weight.numel() for weight in encoder.module.parameters()) - adapters
    trained = data.get("trained_weights", every)
    counts = {"millions": trained / 1e6, "per cent": 100 * trained / every}
    return [Row(name, "trained", trained, dict(counts))], []

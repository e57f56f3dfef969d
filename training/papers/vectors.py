"""What vectors know besides linking: each task of a corpus gives rows, some a figure or lines."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spacy_medlink.encoders.adapters import adapter_parameters
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Floats2d

from ..corpora.tally import Tally
from ..representations.mcsm import encode_terms, mcsm, nearest, read_typed
from ..representations.names import draw_names, translate
from ..representations.relations import HeadSettings, classify, divide, read_triplets
from ..representations.similarities import MIDDLES, overlap, shares, similarities
from ..run import FIGURES
from .figures import Panel, Series
from .plan import Corpus, System
from .table import Row

_DRAWN, _PERPLEXITY = 1500, 30.0  # vectors of a picture; of t-SNE
_FEWEST = 4  # vectors that make a picture


class Measured(NamedTuple):
    """What a task found for a system: rows, panels of a figure, and lines under the table."""

    rows: list[Row]
    panels: Sequence[Panel] = ()
    lines: Sequence[str] = ()


def measure_vectors(
    corpus: Corpus, system: System, encoder: BiEncoder, path: Path, kb: KnowledgeBase | None,
    names: KnowledgeBase | None, seed: int,
) -> Measured:  # fmt: skip
    """Measure an encoder by the task of a corpus.

    path (Path): of the encoder. kb, names (Optional[KnowledgeBase]): what is measured with, and
        the dictionary of the corpus.
    """
    if corpus.task == "weights":
        return _counted(system.name, encoder, path)
    if corpus.task == "relations" or kb is None:
        return _of_relations(corpus, system, encoder, kb, seed)
    if corpus.task == "similarities":
        return _of_pairs(system.name, encoder, kb, seed)
    if corpus.task == "names":
        return _of_names(system.name, encoder, kb)
    if corpus.task == "languages" and names is not None:
        return _of_languages(corpus, system.name, encoder, kb, names)
    return _of_types(corpus, system.name, encoder, kb, seed)


def _of_relations(
    corpus: Corpus, system: System, encoder: BiEncoder, kb: KnowledgeBase | None, seed: int
) -> Measured:
    train, test = divide(read_triplets(Path(corpus.source), Tally(), kb, seed), seed)
    right = classify(encoder, train, test, HeadSettings(tune=system.tune, seed=seed))
    part, accuracy = "tuned" if system.tune else "frozen", 100 * float(right.mean())
    hits = {(str(number), number): float(is_right) for number, is_right in enumerate(right)}
    return Measured([Row(system.name, part, len(test), {"accuracy": accuracy}, hits)])


def _of_pairs(name: str, encoder: BiEncoder, kb: KnowledgeBase, seed: int) -> Measured:
    """Compare pairs of one concept with pairs of two, before mining and after."""
    rows, panels = [], []
    for title, pairs in similarities(encoder, kb, seed).items():
        rows.append(Row(name, title, len(pairs[1]), {"overlap": 100 * overlap(pairs)}))
        series = [
            Series(what, list(zip(MIDDLES, shares(cosines).tolist(), strict=True)), "line", colour)
            for colour, (what, cosines) in enumerate(
                zip(("of one concept", "of two"), pairs, strict=True)
            )
        ]
        ticks = {-1.0: "-1", 0.0: "0", 1.0: "1"}
        panels.append(Panel(f"{name}: cosines of {title}", series, ticks))
    return Measured(rows, panels)


def _of_types(
    corpus: Corpus, name: str, encoder: BiEncoder, kb: KnowledgeBase, seed: int
) -> Measured:
    terms, types = read_typed(kb, corpus.types)
    vectors = encode_terms(encoder, terms)
    figures: dict[str, float | None] = {}
    scores = mcsm(vectors, types)
    for type in (type for type in corpus.types if type in scores):
        of_type = scores[type]
        figures |= {type: float(of_type.mean()), f"{type} sd": float(of_type.std())}
    panels = [] if seed else _picture(name, vectors, types)
    return Measured([Row(name, "full", len(vectors), figures)], panels)


def _of_names(name: str, encoder: BiEncoder, kb: KnowledgeBase) -> Measured:
    """Draw names in the colours of their concepts (SapBERT, figures 1 and 3; CODER, figure 2)."""
    names, concepts = zip(*draw_names(kb), strict=True)
    vectors = encode_terms(encoder, names)
    beside = nearest(vectors, 1)[:, 0].tolist()
    together = [concepts[row] == concepts[other] for row, other in enumerate(beside)]
    figures = {"nearest is of the concept": 100 * float(np.mean(together))}
    panels = _picture(name, vectors, concepts)
    return Measured([Row(name, "full", len(vectors), dict(figures))], panels)


def _of_languages(
    corpus: Corpus, name: str, encoder: BiEncoder, kb: KnowledgeBase, names: KnowledgeBase
) -> Measured:
    found = list(translate(encoder, corpus.concept, names, kb))
    figures = {"right": 100 * float(np.mean([is_right for *_, is_right in found]))}
    lines = [f"{name}, {lang}: {said} -> {target}" for lang, said, target, _ in found]
    return Measured([Row(name, "full", len(found), dict(figures))], (), lines)


def _picture(title: str, vectors: Floats2d, labels: Sequence[str]) -> list[Panel]:
    """Place vectors, (n, dim), in the plane by t-SNE, in the colours of their labels, n."""
    rows = np.random.default_rng(0).permutation(len(vectors))[:_DRAWN]
    if len(rows) < _FEWEST:
        return []
    from sklearn.manifold import TSNE

    perplexity = min(_PERPLEXITY, (len(rows) - 1) / 3)
    plane = TSNE(metric="cosine", init="random", perplexity=perplexity, random_state=0)
    places = plane.fit_transform(vectors[rows]).tolist()
    points: dict[str, list[tuple[float, float]]] = {}
    for row, (x, y) in sorted(zip(rows.tolist(), places, strict=True)):
        points.setdefault(labels[row], []).append((x, y))
    series = [
        Series(label, dots, "dots", colour) for colour, (label, dots) in enumerate(points.items())
    ]
    return [Panel(title, series)]


def _counted(name: str, encoder: BiEncoder, path: Path) -> Measured:
    """Count the weights that a training changes, of all of its base's (SapBERT, table 7)."""
    figures = path / FIGURES
    data = json.loads(figures.read_text("utf-8"))["data"] if figures.is_file() else {}
    adapters = sum(weight.numel() for weight in adapter_parameters(encoder.module))
    every = sum(weight.numel() for weight in encoder.module.parameters()) - adapters
    trained = data.get("trained_weights", every)
    counts = {"millions": trained / 1e6, "per cent": 100 * trained / every}
    return Measured([Row(name, "trained", trained, dict(counts))])

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
from .measuring import Part, Row
from .plan import Corpus, System

_DRAWN, _PERPLEXITY = 1500, 30.0  # concepts of a picture; of t-SNE
_FEWEST = 4  # concepts that make a picture


def measure_vectors(
    corpus: Corpus, system: System, encoder: BiEncoder, place: Path, kb: KnowledgeBase | None,
    seed: int,
) -> Row:  # fmt: skip
    """Measure an encoder by the task of a corpus. place (Path): of the encoder."""
    if corpus.task == "weights":
        return Row(system.name, _counted(encoder, place))
    if corpus.task == "relations" or kb is None:
        return _of_relations(corpus, system, encoder, kb, seed)
    if corpus.task == "similarities":
        return _of_pairs(system, encoder, kb, seed)
    return _of_types(corpus, system, encoder, kb, seed)


def _of_relations(
    corpus: Corpus, system: System, encoder: BiEncoder, kb: KnowledgeBase | None, seed: int
) -> Row:
    train, test = divide(read_triplets(Path(corpus.source), Tally(), kb, seed), seed)
    found = classify(encoder, train, test, HeadSettings(tune=system.tune, seed=seed))
    part = "tuned" if found["tuned"] else "frozen"
    return Row(system.name, {part: Part(found["n_test"], {"accuracy": 100 * found["accuracy"]})})


def _of_pairs(system: System, encoder: BiEncoder, kb: KnowledgeBase, seed: int) -> Row:
    """Compare pairs of one concept with pairs of two, before mining and after."""
    parts, panels = {}, []
    for title, own in similarities(encoder, kb, seed).items():
        parts[title] = Part(len(own.negative), {"overlap": 100 * own.overlap})
        series = [
            Series(name, list(zip(middles(), shares.tolist(), strict=True)), "line", number)
            for number, (name, shares) in enumerate(
                zip(("of one concept", "of two"), own.shares(), strict=True)
            )
        ]
        ticks = {-1.0: "-1", 0.0: "0", 1.0: "1"}
        panels.append(Panel(f"{system.name}: cosines of {title}", series, ticks))
    return Row(system.name, parts, tuple(panels))


def _of_types(
    corpus: Corpus, system: System, encoder: BiEncoder, kb: KnowledgeBase, seed: int
) -> Row:
    typed = read_typed(kb)
    vectors = encode_terms(encoder, typed.terms)
    found = mcsm(vectors, typed.types, corpus.types)
    figures = {name: own["mcsm"] for name, own in found["types"].items()}
    figures |= {f"{name} sd": own["std"] for name, own in found["types"].items()}
    panels = () if seed else _picture(system.name, vectors, typed, corpus.types)
    return Row(system.name, {"full": Part(found["concepts"], figures)}, panels)


def _picture(
    title: str, vectors: Floats2d, typed: TypedTerms, types: tuple[str, ...]
) -> tuple[Panel, ...]:
    """Place concepts of some types in the plane, by t-SNE."""
    wanted = [row for row, own in enumerate(typed.types) if set(own) & set(types)]
    rows = np.random.default_rng(0).permutation(wanted)[:_DRAWN].astype(np.int64)
    if len(rows) < _FEWEST:
        return ()
    from sklearn.manifold import TSNE

    perplexity = min(_PERPLEXITY, (len(rows) - 1) / 3)
    plane = TSNE(metric="cosine", init="random", perplexity=perplexity, random_state=0)
    places = plane.fit_transform(vectors[rows]).tolist()
    points: dict[str, list[tuple[float, float]]] = {type: [] for type in types}
    for row, (x, y) in zip(rows, places, strict=True):
        for type in set(typed.types[row]) & points.keys():
            points[type].append((x, y))
    own = ((type, places) for type, places in points.items() if places)
    series = [Series(type, places, "dots", number) for number, (type, places) in enumerate(own)]
    return (Panel(title, series),)


def _counted(encoder: BiEncoder, place: Path) -> dict[str, Part]:
    """Count the weights that a training changes, of all of its base's (SapBERT, table 7)."""
    figures = place / FIGURES
    data = json.loads(figures.read_text("utf-8"))["data"] if figures.is_file() else {}
    adapters = sum(weight.numel() for weight in adapter_parameters(encoder.module))
    every = sum(weight.numel() for weight in encoder.module.parameters()) - adapters
    trained = data.get("trained_weights", every)
    counts = {"millions": trained / 1e6, "per cent": 100 * trained / every}
    return {"trained": Part(trained, dict(counts))}

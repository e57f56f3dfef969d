"""Measuring the systems of a table by a paper's protocol."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.manifest import MANIFEST, RERANKER
from spacy_medlink.encoders.bi_encoder import BiEncoder, says_pooling
from spacy_medlink.encoders.cross_encoder import CrossEncoder
from spacy_medlink.evaluation import load_gold, measure
from spacy_medlink.evaluation.gold_set import GoldSet
from spacy_medlink.evaluation.measure import alone, default_linker
from spacy_medlink.fitting.weights import DEFAULT_WEIGHTS
from spacy_medlink.linking import Linker
from spacy_medlink.linking.reranking import Reranker
from spacy_medlink.util.devices import find_device
from spacy_medlink.util.files import sha256_of
from spacy_medlink.util.progress import show_progress

from .figures import Panel
from .plan import Layout
from .tfidf import TfidfIndex

_SHOWN = 12  # characters of a fingerprint, which pooling is part of
_TFIDF = "Tf-idf"
_TFIDF_NAMES = 1_000_000  # with more, a comparison with all of them takes too long, and 400 MB
_BASELINES = {"ngram": "n-gram tier"}


class Part(NamedTuple):
    """The figures of a system on a part of the mentions.

    n (int): mentions. figures (Dict[str, Optional[float]]): in per cent.
    """

    n: int
    figures: dict[str, float | None]


class Row(NamedTuple):
    """A system with its parts, by name, and the panels of a figure."""

    system: str
    parts: dict[str, Part]
    panels: tuple[Panel, ...] = ()


class Material(NamedTuple):
    """The data to measure on: knowledge base, gold mentions, training mentions ("" for none)."""

    kb: Path
    gold: Path
    train: str = ""


class Source(NamedTuple):
    """A system to measure.

    path (Path): directory of an encoder, which assets are built with; or assets, to be measured
        with all their tiers. pooling (str): "" for what is saved with the encoder, or the layout's.
    reranker (Optional[Path]): assets with a cross-encoder, which orders what the encoder finds.
    lang (str): measured on mentions of this language alone, "" for all.
    """

    name: str
    path: Path
    pooling: str = ""
    reranker: Path | None = None
    lang: str = ""

    @property
    def is_linker(self) -> bool:
        """Tell whether the system is assets."""
        return (self.path / MANIFEST).is_file()


def measure_systems(
    layout: Layout,
    material: Material,
    sources: Sequence[Source],
    work: Path,
    say: Callable[[str], None],
    device: str,
    baselines: bool,
) -> Iterator[Row]:
    """Measure the baselines, each encoder alone, and complete linkers.

    work (Path): keeps the assets; those that are there for the same encoder and KB are taken.
    device (str): where networks compute.
    """
    # All assets are built before measuring, so that missing parts are found early.
    every = [
        Assets(source.path, device=device)
        if source.is_linker
        else _assets(layout, material.kb, source, work, device)
        for source in sources
    ]
    for number, (source, assets) in enumerate(zip(sources, every, strict=True)):
        say(f"measuring {source.name}")
        gold = _in_language(load_gold(material.gold, assets.kb), source.lang)
        tiers = () if source.is_linker else _tiers(source)
        settings = layout.settings(material.train, tiers, baselines and number == 0)
        linker = _reranking(source.reranker, assets, layout) if source.reranker else None
        others = _sparse(assets, layout) if settings.baselines else {}
        metrics = measure(assets, gold, settings, show_progress, linker, baselines=others)
        for key, own in metrics.get("baselines", {}).items():
            yield Row(_BASELINES.get(key, key), _parts(own, layout))
        parts = _parts(metrics, layout)
        if layout.f1:
            parts = _with_f1(parts, gold)
        yield Row(source.name, parts)


def _reranking(place: Path, assets: Assets, layout: Layout) -> Linker:
    """Make a linker whose cross-encoder orders what the dense tier finds, and nothing else."""
    encoder = CrossEncoder.load(place / RERANKER, device=find_device(assets.device))
    depth = max(*layout.ks, encoder.settings.top)
    linker = alone(default_linker(assets, ["dense"], depth), "dense", assets)
    return linker.using(threshold=0.0).with_parts(rescorer=Reranker(encoder, assets.kb))


def _sparse(assets: Assets, layout: Layout) -> dict[str, Linker]:
    """Make the linker of the papers' sparse vectors, where there are not too many names."""
    if assets.kb.n_names > _TFIDF_NAMES:
        return {}
    linker = alone(default_linker(assets, ["ngram"], max(layout.ks)), "ngram", assets)
    return {_TFIDF: linker.with_parts(ngram=TfidfIndex(assets.kb.iter_texts()))}


def _tiers(source: Source) -> tuple[str, ...]:
    """List the tiers that an encoder was trained for: BioSyn's has a weight for spelling, too."""
    encoder = BiEncoder.load(source.path)
    return ("dense",) if encoder.sparse_weight is None else ("ngram", "dense")


def _assets(layout: Layout, kb: Path, source: Source, work: Path, device: str) -> Assets:
    # The pooling saved with an encoder is that of its training.
    said = None if says_pooling(source.path) else layout.pooling
    pooling = source.pooling or said
    encoder = BiEncoder.load(source.path, pooling)
    place = work / f"{kb.stem}-{source.path.name}-{encoder.fingerprint()[:_SHOWN]}"
    if (place / MANIFEST).is_file():
        found = Assets(place, device=device)
        if sha256_of(found.kb.path) == sha256_of(kb):
            return found
    spelling = encoder.sparse_weight
    weights = None if spelling is None else {**DEFAULT_WEIGHTS, "ngram": spelling}
    return build_assets(
        place, kb, source.path, pooling=pooling, weights=weights, device=device,
        progress=show_progress,
    )  # fmt: skip


def _parts(metrics: dict[str, Any], layout: Layout) -> dict[str, Part]:
    groups = metrics.get(f"by_{layout.by}") if layout.by else None
    parts = groups or {"full": metrics, **metrics.get("splits", {})}
    return with_averages({name: _part(own, layout) for name, own in parts.items()}, layout)


def with_averages(parts: dict[str, Part], layout: Layout) -> dict[str, Part]:
    """Add the means over groups that a layout wants, where all of these groups are there."""
    groups = {name: part for name, part in parts.items() if name not in layout.averages}
    means = {
        name: _mean([groups[group] for group in wanted or groups])
        for name, wanted in layout.averages.items()
        if groups.keys() >= set(wanted) and len(groups) > 1
    }
    return {**groups, **means}


def _in_language(gold: GoldSet, lang: str) -> GoldSet:
    if not lang:
        return gold
    return replace(gold, documents=[one for one in gold.documents if one.lang == lang])


def _with_f1(parts: dict[str, Part], gold: GoldSet) -> dict[str, Part]:
    """Replace accuracies by F1: one candidate a mention, against all of its ids."""
    full = parts["full"]
    ids = sum(len(one.ids) for document in gold.documents for one in document.mentions)
    right = full.n * (full.figures["acc@1"] or 0.0)
    return {"full": Part(full.n, {"F1": 2 * right / (full.n + ids)})}


def _part(metrics: dict[str, Any], layout: Layout) -> Part:
    values = {f"acc@{k}": metrics[f"acc@{k}"] for k in layout.ks}
    figures = {name: None if value is None else 100 * value for name, value in values.items()}
    return Part(metrics["n"], figures)


def _mean(parts: Sequence[Part]) -> Part:
    """Average each figure over groups; None, which tables show as "-", where a group has none."""
    figures: dict[str, float | None] = {}
    for name in parts[0].figures:
        values = [value for part in parts if (value := part.figures[name]) is not None]
        figures[name] = mean(values) if len(values) == len(parts) else None
    return Part(sum(part.n for part in parts), figures)

"""Measuring the systems of a table by a paper's protocol."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.manifest import MANIFEST, RERANKER
from spacy_medlink.encoders.bi_encoder import BiEncoder, says_pooling
from spacy_medlink.encoders.cross_encoder import CrossEncoder
from spacy_medlink.evaluation import load_gold, measure
from spacy_medlink.evaluation.gold_set import GoldSet
from spacy_medlink.evaluation.measurement import alone, default_linker
from spacy_medlink.evaluation.outcome import Outcome, unpack
from spacy_medlink.linking import Linker
from spacy_medlink.linking.reranking import Reranker
from spacy_medlink.retrieval.fusion import DEFAULT_WEIGHTS
from spacy_medlink.util.devices import find_device
from spacy_medlink.util.files import sha256_of
from spacy_medlink.util.progress import show_progress

from ..data.tfidf import TfidfIndex
from ..verbs import per_cent
from .plan import Layout, System
from .table import Mention, Row

_SHOWN = 12  # characters of a fingerprint, which pooling is part of
_TFIDF = "Tf-idf"
_TFIDF_NAMES = 1_000_000  # with more, a comparison with all of them takes too long, and 400 MB
_BASELINES = {"ngram": "n-gram tier"}


class Material(NamedTuple):
    """What systems are measured on, and how.

    train (str): file of training mentions, "" for none. work (Path): keeps the assets; those that
    are there for the same encoder and KB are taken. device (str): where networks compute.
    """

    layout: Layout
    kb: Path
    gold: Path
    train: str
    work: Path
    device: str


def is_linker(path: Path) -> bool:
    """Tell whether a directory is assets, which are measured with all their tiers."""
    return (path / MANIFEST).is_file()


def measure_links(
    material: Material,
    system: System,
    encoder: Path,
    reranker: Path | None = None,
    baselines: bool = False,
) -> Iterator[Row]:
    """Measure an encoder alone, or a complete linker.

    encoder (Path): its directory, which assets are built with, or assets. reranker
    (Optional[Path]): assets with a cross-encoder, which orders what the encoder finds.
    baselines (bool): measure these, too, before.
    """
    layout = material.layout
    given = is_linker(encoder)
    assets = (
        Assets(encoder, device=material.device) if given else _assets(material, system, encoder)
    )
    gold = _in_language(load_gold(material.gold, assets.kb), system.lang)
    tiers = () if given else _tiers(encoder)
    settings = layout.settings(material.train, tiers, baselines)
    linker = _reranking(reranker, assets, layout) if reranker else None
    if linker is None and "ngram" in tiers:
        linker = _by_tfidf(assets, tiers, layout)
    sparse = _by_tfidf(assets, ["ngram"], layout) if baselines else None
    others = {_TFIDF: alone(sparse, "ngram", assets)} if sparse else {}
    metrics = measure(assets, gold, settings, show_progress, linker, baselines=others)
    for name, figures in metrics.get("baselines", {}).items():
        yield from rows_of(_BASELINES.get(name, name), figures, layout)
    rows = rows_of(system.name, metrics, layout)
    hits = _hits(unpack(metrics["mentions"]), material)
    rows = [row._replace(hits=hits.get(row.part, {})) for row in rows]
    yield from _with_f1(rows, gold) if layout.f1 else rows


def _hits(records: Sequence[Outcome], material: Material) -> dict[str, dict[Mention, float]]:
    """List, by part, which mentions are right at the least depth; folds have different files."""
    hits: dict[str, dict[Mention, float]] = {}
    depth, by_lang = min(material.layout.ks), material.layout.by == "lang"
    for record in records:
        if record.gold:
            mention = (f"{material.gold.name} {record.doc}", record.number)
            of_part = hits.setdefault(record.lang if by_lang else "full", {})
            of_part[mention] = float(0 < record.rank <= depth)
    return hits


def _reranking(path: Path, assets: Assets, layout: Layout) -> Linker:
    """Make a linker whose cross-encoder orders what the dense tier finds, and nothing else."""
    encoder = CrossEncoder.load(path / RERANKER, device=find_device(assets.device))
    depth = max(*layout.ks, encoder.settings.top)
    linker = alone(default_linker(assets, ["dense"], depth), "dense", assets)
    return linker.using(threshold=0.0).with_parts(rescorer=Reranker(encoder, assets.kb))


def _by_tfidf(assets: Assets, tiers: Sequence[str], layout: Layout) -> Linker | None:
    """Make a linker with the papers' sparse vectors, where there are not too many names."""
    if assets.kb.n_names > _TFIDF_NAMES:
        return None
    linker = default_linker(assets, tiers, max(layout.ks))
    others = {**linker.parts.others, "ngram": TfidfIndex.of(assets.kb.iter_texts())}
    return linker.with_parts(others=others)


def _tiers(encoder: Path) -> tuple[str, ...]:
    """List the tiers that an encoder was trained for: BioSyn's has a weight for spelling, too."""
    return ("dense",) if BiEncoder.load(encoder).sparse_weight is None else ("ngram", "dense")


def _assets(material: Material, system: System, path: Path) -> Assets:
    # The pooling saved with an encoder is that of its training.
    default = None if says_pooling(path) else material.layout.pooling
    pooling = system.pooling or default
    encoder, kb = BiEncoder.load(path, pooling), material.kb
    made = material.work / f"{kb.stem}-{path.name}-{encoder.fingerprint()[:_SHOWN]}"
    if is_linker(made):
        assets = Assets(made, device=material.device)
        if sha256_of(assets.kb.path) == sha256_of(kb):
            return assets
    spelling = encoder.sparse_weight
    weights = None if spelling is None else {**DEFAULT_WEIGHTS, "ngram": spelling}
    return build_assets(
        made, kb, path, pooling=pooling, weights=weights, calibrate=False,
        device=material.device,
        progress=show_progress,
    )  # fmt: skip


def rows_of(system: str, metrics: dict[str, Any], layout: Layout) -> list[Row]:
    """Take the figures of a layout's parts out of metrics."""
    groups = metrics.get(f"by_{layout.by}") if layout.by else None
    parts = groups or {"full": metrics, **metrics.get("splits", {})}
    return [Row(system, part, own["n"], per_cent(own, layout.ks)) for part, own in parts.items()]


def _in_language(gold: GoldSet, lang: str) -> GoldSet:
    documents = [document for document in gold.documents if lang in ("", document.lang)]
    return replace(gold, documents=documents)


def _with_f1(rows: list[Row], gold: GoldSet) -> Iterator[Row]:
    """Replace accuracies by F1: one candidate a mention, against all of its ids."""
    ids = sum(len(mention.ids) for document in gold.documents for mention in document.mentions)
    for row in rows:
        if row.part == "full":
            right = row.n * (row.figures["acc@1"] or 0.0)
            yield row._replace(figures={"F1": 2 * right / (row.n + ids)})

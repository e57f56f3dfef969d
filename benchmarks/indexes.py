"""Kinds of faiss indices: recall against Flat, size and speed.

`python -m benchmarks.indexes KB --encoder MODEL`: names of KB are encoded once and kept in VECTORS
(an .npy), so that another run only builds the indices. Queries are a sample of the names. Figures
go to OUTPUT as JSON, and to a Markdown table beside it.

`python -m benchmarks.indexes --invented 15000000` has random projections of the trigrams of
invented names instead of an encoder's vectors, and measures the index that `medlink build` takes.
"""

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Protocol

import numpy as np
import typer
from scipy import sparse

from benchmarks.measured import machine, resident, write_results
from benchmarks.synthetic.names import Names
from spacy_medlink.building.recall import RecallProbe
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.retrieval.dense import DenseIndex
from spacy_medlink.retrieval.grams import inverse_frequency
from spacy_medlink.retrieval.index_size import default_spec
from spacy_medlink.retrieval.name_words import count_names, count_trigrams, number_words
from spacy_medlink.retrieval.tuning import SearchSettings
from spacy_medlink.types import Floats2d

_CHUNK = 8192
_DIM = 384  # of invented vectors
_K = 64  # names that the linker asks a tier for
_REPEATS = 3
_SEED = 0
_REFINED = ((32, 4), (64, 4), (64, 8), (96, 8))  # lists to read, k times names to score anew
_DEEPER = ((64, 8), (128, 8), (256, 8), (512, 8), (512, 16))  # the same for a kind not listed here
# By factory string, the measured settings of the search.
_KINDS: tuple[tuple[str, tuple[SearchSettings, ...]], ...] = (
    ("Flat", (SearchSettings(),)),
    ("SQ8", (SearchSettings(),)),
    ("HNSW32", tuple(SearchSettings(ef_search=ef) for ef in (64, 128, 256, 512))),
    ("HNSW32,SQ8", tuple(SearchSettings(ef_search=ef) for ef in (128, 256))),
    ("IVF512,PQ192x4fs", (SearchSettings(nprobe=64),)),
    ("IVF512,PQ96x4fs,RFlat", tuple(SearchSettings(nprobe=n, k_factor=k) for n, k in _REFINED)),
    ("IVF512,PQ96x4fs,Refine(SQ8)", (SearchSettings(nprobe=64, k_factor=8),)),
)


class Vectors(Protocol):
    """Vectors of names, as `encoded` and `InventedVectors` make them."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of names, and of dimensions."""

    def __getitem__(self, rows: Any) -> Floats2d:
        """Get the vectors of some names, (n, dim)."""


class InventedVectors:
    """Random projections of the trigrams of invented names, as a stand-in for an encoder.

    count (int): how many names. dim (int): dimensions.
    """

    def __init__(self, count: int, dim: int) -> None:
        self.shape = (count, dim)
        concepts = max(1, count * 28 // 100)
        names = Names(concepts, count, _SEED)
        blocks = (
            names.block(first, min(first + _CHUNK, concepts)).texts
            for first in range(0, concepts, _CHUNK)
        )
        words, self._lists = number_words(text for texts in blocks for text in texts)
        counts = count_trigrams(words)
        idf = inverse_frequency(count_names(self._lists, counts), count)
        random = np.random.default_rng(_SEED)
        directions = random.standard_normal((len(idf), dim), dtype=np.float32) * idf[:, None]
        self._words: Floats2d = counts @ directions

    def __getitem__(self, rows: Any) -> Floats2d:
        """Add up the vectors of the words of each name, and scale to length 1."""
        rows = np.arange(self.shape[0])[rows]
        lists = self._lists.taken(rows, _CHUNK)
        ones = np.ones(len(lists.items), dtype=np.float32)
        shape = (len(rows), len(self._words))
        found = sparse.csr_matrix((ones, lists.items, lists.offsets), shape) @ self._words
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        return np.ascontiguousarray(found, dtype=np.float32)


def measure(
    vectors: Vectors, queries: int, training_sample: int, kinds: Sequence[str]
) -> list[dict[str, Any]]:
    """Build each kind of index over vectors and search it.

    queries (int): how many of the vectors are queries. kinds (Sequence[str]): factory strings to
        measure: known here, or any other with the default settings.
    RETURNS (List[Dict]): a row for each kind and setting.
    """
    known = dict(_KINDS)
    rows = np.random.default_rng(_SEED).choice(vectors.shape[0], queries, replace=False)
    wanted = np.ascontiguousarray(vectors[np.sort(rows)])
    probe = RecallProbe(wanted)
    for _ in probe.watch(_chunks(vectors)):
        pass
    found = []
    with TemporaryDirectory() as directory:
        for spec in kinds or list(known):
            start = time.perf_counter()
            index = DenseIndex.build(
                _chunks(vectors), vectors.shape[0], vectors.shape[1], spec,
                training_sample=training_sample,
            )  # fmt: skip
            seconds = time.perf_counter() - start
            path = Path(directory) / "index.faiss"
            index.save(path)
            del index  # whose memory is not that of the mapped file
            before = resident()
            index = DenseIndex.load(path)
            for settings in known.get(spec, _settings(spec)):
                index.tune(settings)
                row = _search(index, wanted, probe)
                found.append(
                    {
                        "index": spec,
                        **{name: value for name, value in settings._asdict().items() if value},
                        **row,
                        "mb": round(path.stat().st_size / 1e6, 1),
                        "build_s": round(seconds, 1),
                        "more_rss_mb": round((resident() - before) / 1e6, 1),
                    }
                )
                typer.echo(json.dumps(found[-1]), err=True)
    return found


def _settings(spec: str) -> tuple[SearchSettings, ...]:
    if not spec.startswith("IVF"):
        return (SearchSettings(),)
    return tuple(SearchSettings(nprobe=nprobe, k_factor=factor) for nprobe, factor in _DEEPER)


def _search(index: DenseIndex, queries: Floats2d, probe: RecallProbe) -> dict[str, Any]:
    quality = probe.measure(index)
    batch = min(_seconds(index, queries, len(queries)) for _ in range(_REPEATS))
    single = min(_seconds(index, queries[:100], 1) for _ in range(_REPEATS))
    return {
        **{name: value for name, value in quality.items() if name != "queries"},
        "queries_per_s": round(len(queries) / batch),
        "one_query_ms": round(single / min(100, len(queries)) * 1e3, 3),
    }


def _seconds(index: DenseIndex, queries: Floats2d, size: int) -> float:
    start = time.perf_counter()
    for place in range(0, len(queries), size):
        index.search(queries[place : place + size], _K)
    return time.perf_counter() - start


def _chunks(vectors: Vectors) -> Iterator[Floats2d]:
    return (vectors[start : start + _CHUNK] for start in range(0, vectors.shape[0], _CHUNK))


def encoded(kb: Path, encoder: str, path: Path) -> Floats2d:
    """Load the vectors of all names, or make and keep them."""
    if path.is_file():
        return np.asarray(np.load(path, allow_pickle=False))
    from spacy_medlink.building.vectors import name_vectors
    from spacy_medlink.encoders.bi_encoder import BiEncoder
    from spacy_medlink.util.progress import show_progress

    model = BiEncoder.load(encoder)
    vectors = np.concatenate(list(name_vectors(model, KnowledgeBase(kb), None, show_progress)))
    np.save(path, vectors, allow_pickle=False)
    return vectors


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    lines = [
        "| index | search | recall@1 | recall@25 | queries/s | one query, ms | MB | of them in "
        "memory | build, s |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in results["indices"]:
        search = ", ".join(f"{key} {row[key]}" for key in SearchSettings._fields if key in row)
        lines.append(
            f"| {row['index']} | {search} | {row['recall@1']:.3f} | {row['recall@25']:.3f} | "
            f"{row['queries_per_s']:,} | {row['one_query_ms']:.2f} | {row['mb']:,.0f} | "
            f"{row['more_rss_mb']:,.0f} | {row['build_s']:,.0f} |"
        )
    facts = ", ".join(f"{key} {value}" for key, value in results["machine"].items())
    lines += [
        "",
        f"{results['names']:,} names, {results['dim']} dimensions; {results['queries']} of the "
        f"names as queries, {_K} names asked for; in memory: pages that the searches have touched. "
        f"{facts}.",
    ]
    return "\n".join(lines)


def main(
    kb: Annotated[Path | None, typer.Argument(metavar="KB", help="A knowledge base.")] = None,
    encoder: Annotated[str, typer.Option(help="Directory of a model.")] = "",
    vectors: Annotated[Path, typer.Option(help="Where the vectors are kept.")] = Path(
        "vectors.npy"
    ),
    kind: Annotated[list[str] | None, typer.Option(help="Factory string; all by default.")] = None,
    invented: Annotated[int, typer.Option(help="Number of invented names, without KB.")] = 0,
    queries: Annotated[int, typer.Option(min=1, help="Names that play the queries.")] = 500,
    training_sample: Annotated[int, typer.Option(min=1, help="Names that train IVF, PQ.")] = 20_000,
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/indexes.json"
    ),
) -> None:
    """Compare kinds of indices."""
    if kb is None and not invented:
        raise typer.BadParameter("give a knowledge base, or --invented")
    made: Vectors = InventedVectors(invented, _DIM) if kb is None else encoded(kb, encoder, vectors)
    count, dim = made.shape
    kinds = kind or ([default_spec(count, dim)] if kb is None else [])
    results = {
        "indices": measure(made, min(queries, count), training_sample, kinds),
        "names": count,
        "dim": dim,
        "queries": min(queries, count),
        "training_sample": training_sample,
        "machine": machine(),
    }
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

"""Kinds of faiss indices: how much of Flat they find, how large and how fast they are.

`python -m benchmarks.indexes KB --encoder MODEL`: names of KB are encoded once and kept in VECTORS
(an .npy), so that another run only builds the indices. Queries are a sample of the names. Figures
go to OUTPUT as JSON, and to a Markdown table beside it.
"""

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.measured import machine, resident, write_results
from spacy_medlink.building.recall import RecallProbe
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.retrieval.dense import DenseIndex
from spacy_medlink.retrieval.tuning import SearchSettings
from spacy_medlink.types import Floats2d

_CHUNK = 8192
_K = 64  # names that the linker asks of a tier
_REPEATS = 3
_SEED = 0
_REFINED = ((32, 4), (64, 4), (64, 8), (96, 8))  # lists read, times as many names scored anew
# Factory string, and the settings of the search that are measured.
_KINDS: tuple[tuple[str, tuple[SearchSettings, ...]], ...] = (
    ("Flat", (SearchSettings(),)),
    ("SQ8", (SearchSettings(),)),
    ("HNSW32", tuple(SearchSettings(ef_search=ef) for ef in (64, 128, 256, 512))),
    ("HNSW32,SQ8", tuple(SearchSettings(ef_search=ef) for ef in (128, 256))),
    ("IVF512,PQ192x4fs", (SearchSettings(nprobe=64),)),
    ("IVF512,PQ96x4fs,RFlat", tuple(SearchSettings(nprobe=n, k_factor=k) for n, k in _REFINED)),
    ("IVF512,PQ96x4fs,Refine(SQ8)", (SearchSettings(nprobe=64, k_factor=8),)),
)


def measure(
    vectors: Floats2d, queries: int, training_sample: int, kinds: Sequence[str]
) -> list[dict[str, Any]]:
    """Build each kind of index over vectors and search it.

    queries (int): how many of the vectors play the queries. kinds (Sequence[str]): factory strings
        to measure, of those known here, or any other with the default settings.
    RETURNS (List[Dict]): a row for each kind and setting.
    """
    known = dict(_KINDS)
    rows = np.random.default_rng(_SEED).choice(len(vectors), queries, replace=False)
    probe = RecallProbe(np.ascontiguousarray(vectors[np.sort(rows)]))
    for _ in probe.watch(_chunks(vectors)):
        pass
    found = []
    with TemporaryDirectory() as directory:
        for spec in kinds or list(known):
            start = time.perf_counter()
            index = DenseIndex.build(
                _chunks(vectors), len(vectors), vectors.shape[1], spec,
                training_sample=training_sample,
            )  # fmt: skip
            seconds = time.perf_counter() - start
            path = Path(directory) / "index.faiss"
            index.save(path)
            del index  # whose memory is not that of the mapped file
            before = resident()
            index = DenseIndex.load(path)
            for settings in known.get(spec, (SearchSettings(),)):
                index.tune(settings)
                row = _search(index, vectors[rows], probe)
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


def _chunks(vectors: Floats2d) -> Iterator[Floats2d]:
    return (vectors[start : start + _CHUNK] for start in range(0, len(vectors), _CHUNK))


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
    kb: Annotated[Path, typer.Argument(metavar="KB", help="A knowledge base.")],
    encoder: Annotated[str, typer.Option(help="Directory of a model.")] = "",
    vectors: Annotated[Path, typer.Option(help="Where the vectors are kept.")] = Path(
        "vectors.npy"
    ),
    kind: Annotated[list[str] | None, typer.Option(help="Factory string; all by default.")] = None,
    queries: Annotated[int, typer.Option(min=1, help="Names that play the queries.")] = 500,
    training_sample: Annotated[int, typer.Option(min=1, help="Names that train IVF, PQ.")] = 20_000,
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/indexes.json"
    ),
) -> None:
    """Compare kinds of indices."""
    made = encoded(kb, encoder, vectors)
    results = {
        "indices": measure(made, min(queries, len(made)), training_sample, kind or ()),
        "names": len(made),
        "dim": made.shape[1],
        "queries": min(queries, len(made)),
        "training_sample": training_sample,
        "machine": machine(),
    }
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

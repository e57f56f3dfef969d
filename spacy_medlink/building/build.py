"""build_assets: from a knowledge base and an encoder to the directory of a linker."""

import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..assets import (
    DENSE_FILE,
    ENCODER,
    EXACT,
    KB_FILE,
    NAME_CONCEPT,
    NGRAM,
    Assets,
    write_manifest,
)
from ..files import link_or_copy, replacing_directory
from ..kb import KnowledgeBase
from ..linking import LinkingEngine
from ..progress import no_progress
from ..retrieval.arrays import save_arrays
from ..retrieval.exact import ExactIndex
from ..retrieval.ngram import NgramIndex
from ..types import Floats2d, Progress
from .weights import DEFAULT_WEIGHTS, choose_weights

if TYPE_CHECKING:  # torch and transformers are not needed to build the starter's tiers
    from ..encoders.bi_encoder import BiEncoder

_CHUNK = 4096
_LIBRARIES = ("numpy", "scipy", "faiss-cpu", "torch", "transformers", "spacy")


def build_assets(
    out: str | Path,
    kb: str | Path,
    encoder: str | Path | None = None,
    *,
    index: str = "Flat",
    pooling: str | None = None,
    progress: Progress = no_progress,
) -> Assets:
    """Build the assets of a linker; what is at `out` is replaced when all is done.

    out (Path): directory to write. kb (Path): a file that `medlink kb build` wrote.
    encoder (Optional[str]): directory or Hub name of a transformer; None builds no dense tier.
    index (str): faiss factory string. pooling (Optional[str]): "mean" or "cls"; default: what was
        saved with the encoder, else "mean".
    progress (Progress): shows how far encoding has come.
    RETURNS (Assets): the new assets, opened.
    RAISES (MedlinkError): E101-E103 the knowledge base, E205-E209 encoder and index, E109 the disk.
    """
    knowledge = KnowledgeBase(kb)
    bi_encoder = _load_encoder(encoder, pooling) if encoder is not None else None
    with replacing_directory(Path(out)) as path:
        link_or_copy(knowledge.path, path / KB_FILE)
        engine = _build_tiers(path, knowledge, bi_encoder, index, progress)
        fusion = choose_weights(engine, knowledge)
        facts = {
            "kb": knowledge.manifest,
            "tiers": ["exact", "ngram", *(["dense"] if bi_encoder else [])],
            "encoder": _describe(bi_encoder, encoder) if bi_encoder else None,
            "index": {"spec": index, "names": knowledge.n_names} if bi_encoder else None,
            "fusion": fusion,
            "versions": _versions(),
        }
        write_manifest(path, facts)
    return Assets(out)


def _load_encoder(source: str | Path, pooling: str | None) -> "BiEncoder":
    from ..encoders.bi_encoder import BiEncoder

    return BiEncoder.load(source, pooling)


def _build_tiers(
    path: Path,
    kb: KnowledgeBase,
    encoder: "BiEncoder | None",
    spec: str,
    progress: Progress,
) -> LinkingEngine:
    name_concept = kb.name_concepts().astype(np.int32)
    save_arrays(path, {NAME_CONCEPT: name_concept})
    exact = ExactIndex.build(kb.lookup_table(), _texts(kb))
    exact.save(path / EXACT)
    ngram = NgramIndex.build(_texts(kb))
    ngram.save(path / NGRAM)
    dense = None
    if encoder is not None:
        from ..retrieval.dense import DenseIndex

        encoder.save(path / ENCODER)
        chunks = _vectors(encoder, kb, progress)
        dense = DenseIndex.build(chunks, kb.n_names, encoder.dim, spec)
        dense.save(path / DENSE_FILE)
    return LinkingEngine(
        name_concept,
        exact=exact,
        ngram=ngram,
        dense=dense,
        encoder=encoder,
        weights=DEFAULT_WEIGHTS,
    )


def _vectors(encoder: "BiEncoder", kb: KnowledgeBase, progress: Progress) -> Iterator[Floats2d]:
    """Encode the names chunk by chunk; within a chunk equal strings are encoded once."""
    starts = range(0, kb.n_names, _CHUNK)
    texts = _texts(kb)
    for start in progress(starts, len(starts), "encoding names"):
        chunk = [next(texts) for _ in range(min(_CHUNK, kb.n_names - start))]
        distinct = {text: position for position, text in enumerate(dict.fromkeys(chunk))}
        vectors = encoder.encode(list(distinct))
        yield vectors[[distinct[text] for text in chunk]]


def _texts(kb: KnowledgeBase) -> Iterator[str]:
    return (name.text for _, name in kb.iter_names())


def _describe(encoder: "BiEncoder", source: str | Path | None) -> dict[str, Any]:
    return {
        "source": Path(str(source)).name,
        "fingerprint": encoder.fingerprint(),
        "pooling": encoder.pooling,
        "max_length": encoder.max_length,
        "dim": encoder.dim,
    }


def _versions() -> dict[str, str]:
    versions = {library: version(library) for library in _LIBRARIES}
    return {"spacy-medlink": __version__, "python": platform.python_version(), **versions}

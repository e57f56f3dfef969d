"""The tasks of `benchmarks.gpu`: encoding, training, flat search, and a build, on one device."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertModel

from benchmarks.measured import resident
from benchmarks.synthetic.names import Names
from benchmarks.training import take_turns, wait_for_device, ways_of
from spacy_medlink.building import build_assets
from spacy_medlink.building.vectors import kept_or_encoded, name_chunks
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.loading import load_transformer
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.retrieval.flat import FlatVectors
from spacy_medlink.types import Concept, Floats2d, Name
from spacy_medlink.util.devices import find_device

_NAMES_A_CONCEPT = 5
_WARM = 2048  # names that are encoded before the clock runs
_BLOCK = 65_536
_K = 64


def write_kb(path: Path, names: int) -> Path:
    """Write a knowledge base of invented names, unless it is there."""
    if not path.is_file():
        build_kb(path, _concepts(names))
    return path


def _concepts(names: int) -> Iterator[Concept]:
    count = max(1, names // _NAMES_A_CONCEPT)
    invented = Names(count, names, seed=0, languages=1)
    for first in range(0, count, 4096):
        block = invented.block(first, min(count, first + 4096))
        ends = np.flatnonzero(np.diff(block.concept)) + 1
        for number, own in enumerate(np.split(np.array(block.texts, dtype=object), ends)):
            texts = tuple(Name(text) for text in dict.fromkeys(own))
            yield Concept(f"C{first + number:07}", texts[0].text, texts)


def write_random_bert(path: Path, tokenizer: str, **changes: int) -> str:
    """Write a random BERT-base, with the tokenizer of another encoder, unless it is there.

    changes: of its config, for a smaller one.
    """
    if not (path / "config.json").is_file():
        words, _ = load_transformer(Path(tokenizer))
        words.save_pretrained(path)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            BertModel(BertConfig(vocab_size=len(words), **changes)).save_pretrained(path)
    return str(path)


def encoding(encoder: str, kb: Path, device: str) -> dict[str, Any]:
    """Encode all names as a build does. RETURNS names a second."""
    place = find_device(device)
    model, knowledge = BiEncoder.load(encoder, device=place), KnowledgeBase(kb)
    model.encode([text for text, _ in zip(knowledge.iter_texts(), range(_WARM), strict=False)])
    forget_memory()
    start = time.perf_counter()
    count = sum(map(len, kept_or_encoded(model, None, name_chunks(knowledge, place))))
    seconds = time.perf_counter() - start
    return {"names": count, "names_per_s": round(count / seconds, 1), **memory()}


def training(encoder: str, kb: Path, pairs: int, seconds: float, device: str) -> dict[str, Any]:
    """Train as SAP does, our way and the reference way in turn. RETURNS names a second."""
    forget_memory()
    experiment, ways = ways_of(kb, encoder, pairs, str(find_device(device)))
    speeds = take_turns(ways, seconds)
    return {
        "names_per_s": {name: round(speed, 1) for name, speed in speeds.items()},
        "ratio": {
            name: round(speeds["ours"] / speed, 2) for name, speed in speeds.items()
            if name != "ours"
        },
        "pairs_a_batch": pairs,
        "precision": experiment._precision.name,
        **memory(),
    }  # fmt: skip


def flat(names: int, dim: int, queries: int, device: str) -> dict[str, Any]:
    """Move invented vectors to the device, and search them. RETURNS queries a second."""
    place = find_device(device)
    forget_memory()
    start = time.perf_counter()
    vectors = FlatVectors(_invented(names, dim), names, dim, place)
    wait_for_device()
    made = time.perf_counter()
    asked = next(_invented(queries, dim, seed=1))
    vectors.search(asked[:8], _K)
    began = time.perf_counter()
    vectors.search(asked, _K)
    seconds = time.perf_counter() - began
    return {
        "names": names, "dim": dim, "k": _K, "queries": len(asked),
        "moved_s": round(made - start, 2), "queries_per_s": round(len(asked) / seconds, 1),
        **memory(),
    }  # fmt: skip


def building(encoder: str, kb: Path, out: Path, device: str) -> dict[str, Any]:
    """Build assets as `medlink build` does. RETURNS minutes."""
    forget_memory()
    start = time.perf_counter()
    made = build_assets(out, kb, encoder, device=device, resume=False)
    minutes = (time.perf_counter() - start) / 60
    names = made.manifest["kb"]["names"]
    return {"names": names, "minutes": round(minutes, 2), "mb": round(made.size / 1e6), **memory()}


def forget_memory() -> None:
    """Reset the peak of the GPU's memory."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def memory() -> dict[str, float]:
    """Return the GPU's peak memory since `forget_memory`, and the present memory of the process."""
    found: dict[str, float] = {"resident_mb": round(resident() / 1e6)}
    if torch.cuda.is_available():
        found["gpu_mb"] = round(torch.cuda.max_memory_allocated() / 1e6)
    return found


def _invented(names: int, dim: int, seed: int = 0) -> Iterator[Floats2d]:
    """Make vectors: one random block, then the block with its columns moved, which is quick."""
    block = np.random.default_rng(seed).standard_normal((_BLOCK, dim), dtype=np.float32)
    block /= np.linalg.norm(block, axis=1, keepdims=True)
    for number, start in enumerate(range(0, names, _BLOCK)):
        yield np.roll(block, number, axis=1)[: names - start]

"""Speed on a GPU: encoding, flat search and a build of millions of names.

    python -m benchmarks.gpu WORK                             # on the GPU of this machine
    python -m benchmarks.gpu WORK --names 3000 --device cpu   # only to see that it runs

`python -m benchmarks.training WORK --device cuda` measures training there. WORK keeps encoders and
knowledge bases; 15 million names take 30 GB there.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from transformers import BertConfig, BertModel

from benchmarks.invented import invent_name
from benchmarks.measured import RESULTS, report, run_command
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.loading import load_transformer
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.retrieval.flat import FlatVectors
from spacy_medlink.types import Concept, Floats2d, Name
from spacy_medlink.util.devices import AUTO, find_device
from training.embedded import place_model

_NAMES_A_CONCEPT, _WARM, _BLOCK, _K, _DIM = 5, 2048, 65_536, 64, 384
Row = dict[str, Any]


def write_kb(path: Path, names: int) -> Path:
    """Write a knowledge base of invented names, unless it is there."""
    if not path.is_file():
        build_kb(path, _concepts(names))
    return path


def _concepts(names: int) -> Iterator[Concept]:
    for first in range(0, names, _NAMES_A_CONCEPT):
        numbers = range(first, min(first + _NAMES_A_CONCEPT, names))
        texts = dict.fromkeys(invent_name(0, number, first, is_first=True)[1] for number in numbers)
        yield Concept(f"C{first:08}", next(iter(texts)), tuple(map(Name, texts)))


def write_random_bert(path: Path, tokenizer: Path, **changes: int) -> Path:
    """Write a random BERT-base, with the tokenizer of another encoder, unless it is there.

    changes: of its config, for a smaller one.
    """
    if not (path / "config.json").is_file():
        words, _ = load_transformer(tokenizer)
        words.save_pretrained(path)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            BertModel(BertConfig(vocab_size=len(words), **changes)).save_pretrained(path)
    return path


def encoding(encoder: Path, kb: Path, device: str, names: int) -> Row:
    """Encode names in the order of the knowledge base."""
    model = BiEncoder.load(str(encoder), device=find_device(device))
    texts = [text for _, text in zip(range(names), KnowledgeBase(kb).iter_texts(), strict=False)]
    model.encode(texts[:_WARM])
    start = time.perf_counter()
    model.encode(texts)
    speed = len(texts) / (time.perf_counter() - start)
    return {"what": f"encoding, {encoder.name}", "names": len(texts), "a second": speed}


def flat(names: int, dim: int, queries: int, device: str) -> Row:
    """Search random vectors exhaustively, as the index `Flat` does on the device."""
    index = FlatVectors(_vectors(names, dim), names, dim, find_device(device))
    asked = next(_vectors(queries, dim, seed=1))
    index.search(asked[:8], _K)
    start = time.perf_counter()
    index.search(asked, _K)
    speed = len(asked) / (time.perf_counter() - start)
    return {"what": f"flat search, {dim} dimensions", "names": names, "a second": speed}


def _vectors(names: int, dim: int, seed: int = 0) -> Iterator[Floats2d]:
    """Make vectors: one random block, then the block with its columns moved, which is quick."""
    block = np.random.default_rng(seed).standard_normal((_BLOCK, dim), dtype=np.float32)
    block /= np.linalg.norm(block, axis=1, keepdims=True)
    for shift, start in enumerate(range(0, names, _BLOCK)):
        yield np.roll(block, shift, axis=1)[: names - start]


def main(
    work: Annotated[Path, typer.Argument(help="Directory for encoders and names; kept.")],
    names: Annotated[int, typer.Option(help="Of the build and the search.")] = 15_000_000,
    encoded: Annotated[int, typer.Option(help="Names to encode; a quarter by BERT-base.")] = (
        2_000_000
    ),
    layers: Annotated[int, typer.Option(help="Of the random BERT.")] = 12,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ...")] = AUTO,
    encoder: Annotated[Path | None, typer.Option(help="Default: the embedded MiniLM.")] = None,
    output: Annotated[Path, typer.Option(help="JSON; a table beside it.")] = RESULTS / "gpu.json",
) -> None:
    """Measure encoding, search and a build."""
    work.mkdir(parents=True, exist_ok=True)
    encoder = encoder or work / "all-MiniLM-L6-v2"
    if not encoder.is_dir():
        place_model(encoder)
    kb = write_kb(work / f"invented_{names}.kb", names)
    bert = write_random_bert(work / f"bert_{layers}", encoder, num_hidden_layers=layers)
    rows: list[Row] = [
        encoding(encoder, kb, device, encoded),
        encoding(bert, kb, device, encoded // 4),
        flat(names, _DIM, 4096, device),
    ]
    run = run_command("build", kb, "--encoder", encoder, "--index", "Flat", "--overwrite",
                      "--output", work / "built", "--device", device)  # fmt: skip
    built = {"what": "`medlink build`, `Flat`", "names": names, "s": run["wall_s"]}
    report(output, [*rows, {**built, "MB at most": run["peak_rss_mb"]}], f"On {device}.")


if __name__ == "__main__":
    typer.run(main)

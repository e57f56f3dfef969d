"""Memory and time of preparing a terminology's names and pairs, and of drawing batches.

    python -m benchmarks.training_memory WORK --concepts 280000 --names 1000000

Everything but the encoder is measured; an epoch of batches is drawn as the loop does it.
"""

import json
import resource
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.measured import run_command, run_task
from benchmarks.synthetic.umls import generate
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase
from training.data.material import Wanted
from training.data.prepared import open_material, prepare
from training.data.sampler import PairSampler
from training.embedded import place_model
from training.recipe.settings import DataSettings

_WANTED = Wanted(DataSettings())


def prepare_names(kb: str, base: str, place: str) -> dict[str, Any]:
    """Prepare names and pairs, in a fresh process."""
    encoder = BiEncoder.load(base, max_length=25)
    began = _resident_mb()
    start = time.perf_counter()
    path = prepare(KnowledgeBase(Path(kb)), encoder, _WANTED, Path(place))
    seconds = time.perf_counter() - start
    size = sum(file.stat().st_size for file in path.iterdir() if file.is_file()) / 1e6
    return {"path": str(path), "seconds": seconds, "before_mb": began, "disk_mb": size,
            "own_peak_mb": _peak_mb()}  # fmt: skip


def draw_epoch(kb: str, path: str) -> dict[str, Any]:
    """Draw an epoch of batches from the prepared material, in a fresh process."""
    began = _resident_mb()
    material = open_material(Path(path), KnowledgeBase(Path(kb)))
    sampler = PairSampler(material.pairs, 256, 0)
    start, pieces = time.perf_counter(), 0
    for step in range(sampler.steps_per_epoch):
        pieces += sum(map(len, material.names.tokens.take(sampler.batch(step))))
    seconds = time.perf_counter() - start
    return {"names": len(material.names), "pairs": len(material.pairs), "seconds": seconds,
            "pieces": pieces, "before_mb": began, "own_peak_mb": _peak_mb(),
            "anonymous_mb": _anonymous_mb()}  # fmt: skip


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _resident_mb() -> float:
    return _status("VmRSS")


def _anonymous_mb() -> float:
    """Return the memory without pages of mapped files, which the system can take back."""
    return _status("RssAnon")


def _status(key: str) -> float:
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith(key))


def main(
    work: Annotated[Path, typer.Argument(help="Directory for data.")],
    concepts: Annotated[int, typer.Option(help="Of the release.")] = 280_000,
    names: Annotated[int, typer.Option(help="Of the release.")] = 1_000_000,
) -> None:
    """Measure and print JSON."""
    kb, base = work / f"{names}.kb", work / "base"
    if not kb.is_file():
        generate(work / str(names), concepts, names)
        run_command("kb", "build", "--output", str(kb), str(work / str(names)), "--from", "umls")
        place_model(base)
    place = str(work / f"{names}.prepared")
    first = run_task("benchmarks.training_memory.prepare_names",
                     kb=str(kb), base=str(base), place=place)  # fmt: skip
    second = run_task("benchmarks.training_memory.draw_epoch", kb=str(kb), path=first["path"])
    typer.echo(json.dumps({"prepare": first, "epoch": second}, indent=2))


if __name__ == "__main__":
    typer.run(main)

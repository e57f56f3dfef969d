"""Encoders in torch and ONNX Runtime: `python -m benchmarks.runtimes WORK KB ENCODER`.

Measured are names per second of CPU time, in turn, in one process (`OMP_NUM_THREADS=1`); how many
first candidates of gold mentions differ from torch's; and the disk space of an environment, and its
time until the first link. `--python` is the Python of an environment with `spacy-medlink[onnx]`
alone, or with `[torch]`. WORK keeps the assets, which are built once.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from benchmarks.measured import machine, write_results
from spacy_medlink.assets import Assets
from spacy_medlink.building import build_assets
from spacy_medlink.building.export import exports
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.runtime import ONNX, RuntimeEncoder
from spacy_medlink.evaluation import load_gold
from spacy_medlink.types import Encoder, Floats2d
from spacy_medlink.util.devices import has_native_bf16

_NAMES, _RUNS, _STARTS = 500, 3, 5
_START = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
began = time.perf_counter()
import spacy
imported = time.perf_counter() - began
nlp = spacy.blank("en")
linker = nlp.add_pipe("medical_linker", config={"assets": sys.argv[1]})
(link,) = linker.link_texts(["hart atack of the left side"])
assert "dense" in link.candidates[0]["scores"]
seconds = time.perf_counter() - began
rollup = open("/proc/self/smaps_rollup").read().splitlines()[1:]
sizes = {line.split()[0][:-1]: int(line.split()[1]) / 1000 for line in rollup}
from pathlib import Path
site = Path(spacy.__file__).parents[1]
print(json.dumps({
    "s": seconds, "spacy_s": imported, "rss_mb": sizes["Rss"],
    "private_mb": sizes["Private_Dirty"],
    "disk_mb": sum(one.stat().st_size for one in site.rglob("*") if one.is_file()) / 1e6,
    "torch": "torch" in sys.modules,
}))
"""


def speeds(encoder: BiEncoder, texts: Sequence[str], work: Path) -> dict[str, float]:
    """Encode the same names with all runtimes, in turn. RETURNS names per second of CPU time.

    With OMP_NUM_THREADS=1 no thread waits for another, and other load hardly matters.
    """
    encoder.save(work / "encoder")
    pieces = encoder.tokenize(texts)
    ways: dict[str, Callable[[], Floats2d]] = {
        "torch fp32": lambda: encoder.run_batches(encoder.module, pieces, 1024)
    }
    if has_native_bf16(encoder.device):
        ways["torch bf16"] = lambda: encoder.encode(texts)
    for place in exports(encoder, work):
        own = RuntimeEncoder(place, work / "encoder")
        ways[f"{ONNX} {place.name}"] = partial(own.encode, texts)
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(_RUNS):
        for name, way in ways.items():
            began = time.process_time()
            way()
            took[name].append(time.process_time() - began)
    return {name: round(len(texts) / median(own), 1) for name, own in took.items()}


def changed(assets: Assets, encoder: Encoder, gold: Sequence[Path]) -> dict[str, Any]:
    """Compare the first candidates of gold mentions with torch's."""
    found = {}
    for path in gold:
        mentions = [one.mention for one in load_gold(path, assets.kb, nil_only=True).cases()]
        linker = assets.engine(exact_first=False)
        one, other = (
            [own.ranking[0].row if own.ranking else -1 for own in each.decide(mentions)]
            for each in (linker, linker.with_parts(encoder=encoder))
        )
        differ = sum(a != b for a, b in zip(one, other, strict=True))
        found[path.name] = {"mentions": len(mentions), "changed": differ}
    return found


def start(python: Path, assets: Path) -> dict[str, Any]:
    """Start a process several times until it has linked. RETURNS the run with the median time."""
    runs = []
    for _ in range(_STARTS):
        command = [str(python), "-I", "-c", _START, str(assets)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout))
    middle: dict[str, Any] = sorted(runs, key=lambda run: float(run["s"]))[_STARTS // 2]
    return middle


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    lines = ["| runtime | names a second of one processor |", "|---|---:|"]
    lines += [f"| {name} | {speed:,.0f} |" for name, speed in results["speeds"].items()]
    lines += ["", "| build | precision | least cosine | first candidates of examples changed |",
              "|---|---|---:|---:|"]  # fmt: skip
    for name, own in results["exports"].items():
        lines.append(
            f"| {name} | {own['precision']} | {own['least_cosine']:.4f} | {own['changed']:.2%} |"
        )
        lines += [
            f"| {name}, {file} | | | {one['changed']} of {one['mentions']} |"
            for file, one in own["gold"].items()
        ]
    columns = ("environment, assets", "s to the first link", "of it `import spacy`",
               "MB resident", "of it private", "MB on disk")  # fmt: skip
    lines += ["", f"| {' | '.join(columns)} |", "|---|---:|---:|---:|---:|---:|"]
    lines += [
        f"| {name} | {own['s']:.2f} | {own['spacy_s']:.2f} | {own['rss_mb']:.0f} "
        f"| {own['private_mb']:.0f} | {own['disk_mb']:.0f} |"
        for name, own in results["starts"].items()
    ]
    facts = ", ".join(f"{key} {value}" for key, value in results["machine"].items())
    return "\n".join([*lines, "", f"`{results['command']}`; {facts}."])


def main(
    work: Annotated[Path, typer.Argument(help="Directory that keeps the assets.")],
    kb: Annotated[Path, typer.Argument(help="A knowledge base.")],
    encoder: Annotated[Path, typer.Argument(help="Directory of an encoder.")],
    gold: Annotated[list[Path] | None, typer.Option(help="Gold mentions of KB.")] = None,
    python: Annotated[
        list[str] | None, typer.Option(metavar="NAME=RUNTIME=PATH", help="An environment.")
    ] = None,
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/runtimes.json"
    ),
) -> None:
    """Measure the runtimes with the names of KB."""
    facts, torch = machine(), work / "torch"
    plain = Assets(torch) if torch.is_dir() else build_assets(torch, kb, encoder)
    onnx = work / ONNX
    built = Assets(onnx) if onnx.is_dir() else build_assets(onnx, kb, update=torch, runtime=ONNX)
    own = BiEncoder.load(encoder)
    rows = range(0, plain.kb.n_names, max(1, plain.kb.n_names // _NAMES))
    with TemporaryDirectory() as place:
        speed = speeds(own, plain.kb.texts_at(list(rows)), Path(place))
    links = changed(plain, built.encoder, gold or ())
    exported = {ONNX: {**built.manifest["encoder"]["runtime"], "gold": links}}
    starts = {}
    for one in python or ():
        name, runtime, path = one.split("=", 2)
        starts[f"{name}, {runtime}"] = start(Path(path), work / runtime)
    command = " ".join(["python -m benchmarks.runtimes", *map(_shown, sys.argv[1:])])
    found = {"speeds": speed, "exports": exported, "starts": starts, "machine": facts,
             "command": command}  # fmt: skip
    write_results(output, found, table(found))


def _shown(argument: str) -> str:
    """Remove the directories from an argument."""
    return "=".join(Path(part).name for part in argument.split("="))


if __name__ == "__main__":
    typer.run(main)

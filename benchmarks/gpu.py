"""Speed and memory on a GPU: SAP training, encoding, flat search, a build of 15 million names.

    python -m benchmarks.gpu WORK            # on the GPU of this machine
    python -m benchmarks.gpu WORK --small --device cpu --output /tmp/gpu.json

`--small` shows in a minute or two that everything runs; its figures mean nothing. WORK keeps
encoders and knowledge bases; the full benchmark takes 30 GB there.
"""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from benchmarks.gpu_tasks import (
    building,
    encoding,
    flat,
    training,
    write_kb,
    write_random_bert,
)
from benchmarks.measured import machine, write_results
from spacy_medlink.util.devices import AUTO, describe, find_device
from training.embedded import place_model

_RESULTS = Path(__file__).parent / "results"
SECTIONS = ("training", "encoding", "flat", "build")


class Sizes(NamedTuple):
    """How much is measured.

    names, base_names (int): encoded with the given encoder, and with a random BERT-base.
    trained (int): names to draw pairs from. pairs (int): a batch. seconds (float): of training,
        each way. vectors, queries (int): of the flat search. built (int): names of the build.
    layers (int): of the random BERT.
    """

    names: int = 2_000_000
    base_names: int = 500_000
    trained: int = 200_000
    pairs: int = 256
    seconds: float = 20
    vectors: int = 15_000_000
    queries: int = 4096
    built: int = 15_000_000
    layers: int = 12


SMALL = Sizes(3000, 100, 2000, 16, 3, 50_000, 64, 3000, 2)


def measure(
    work: Path, sizes: Sizes, device: str, encoder: str, only: tuple[str, ...] = SECTIONS
) -> dict[str, Any]:
    """Measure some sections.

    work (Path): for encoders and knowledge bases. encoder (str): directory of a bi-encoder.
    """
    work.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}

    def kb(names: int) -> Path:
        return write_kb(work / f"invented_{names}.kb", names)

    if "training" in only:
        found["training"] = training(encoder, kb(sizes.trained), sizes.pairs, sizes.seconds, device)
    if "encoding" in only:
        bert = write_random_bert(
            work / f"bert_{sizes.layers}", encoder, num_hidden_layers=sizes.layers
        )
        found["encoding"] = {
            Path(encoder).name: encoding(encoder, kb(sizes.names), device),
            f"random BERT, {sizes.layers} layers": encoding(bert, kb(sizes.base_names), device),
        }
    if "flat" in only:
        found["flat"] = flat(sizes.vectors, 384, sizes.queries, device)
    if "build" in only:
        out = work / f"built_{sizes.built}"
        found["build"] = building(encoder, kb(sizes.built), out, device)
    return {**found, "device": describe(find_device(device)), "machine": machine()}


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    lines = ["| what | names | speed | GPU, MB | process, MB |", "|---|---:|---:|---:|---:|"]

    def row(what: str, own: dict[str, Any], names: object, speed: str) -> None:
        shown = f"{names:,}" if isinstance(names, int) else str(names)
        lines.append(
            f"| {what} | {shown} | {speed} | {own.get('gpu_mb', '')} | {own['resident_mb']} |"
        )

    if own := results.get("training"):
        for way, speed in own["names_per_s"].items():
            ratio = own["ratio"].get(way)
            more = "" if ratio is None else f", ours is {ratio:.2f} times as fast"
            row(f"SAP training, {way}", own, "", f"{speed:,.0f} names/s{more}")
    for name, own in results.get("encoding", {}).items():
        row(f"encoding, {name}", own, own["names"], f"{own['names_per_s']:,.0f} names/s")
    if own := results.get("flat"):
        speed = f"{own['queries_per_s']:,.0f} queries/s, moved in {own['moved_s']:,.1f} s"
        row("flat search", own, own["names"], speed)
    if own := results.get("build"):
        row("build", own, own["names"], f"{own['minutes']:,.1f} minutes")
    facts = ", ".join(f"{key} {value}" for key, value in results["machine"].items())
    lines += ["", f"On {results['device']}; {facts}."]
    return "\n".join(lines)


def main(
    work: Annotated[Path, typer.Argument(help="Directory for encoders and names; kept.")],
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ...")] = AUTO,
    small: Annotated[bool, typer.Option("--small", help="Only see whether it runs.")] = False,
    encoder: Annotated[
        str, typer.Option(metavar="DIR", help="A bi-encoder; by default the embedded MiniLM.")
    ] = "",
    only: Annotated[
        list[str] | None, typer.Option(help=f"A section, again for more: {', '.join(SECTIONS)}.")
    ] = None,
    output: Annotated[Path, typer.Option(help="JSON; the table goes beside it as .md.")] = (
        _RESULTS / "gpu.json"
    ),
) -> None:
    """Measure and print."""
    if not encoder:
        encoder = str(work / "all-MiniLM-L6-v2")
        if not Path(encoder).is_dir():
            work.mkdir(parents=True, exist_ok=True)
            place_model(Path(encoder))
    sizes = SMALL if small else Sizes()
    results = measure(work, sizes, device, encoder, tuple(only or SECTIONS))
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

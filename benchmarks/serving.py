"""How the service holds under load: `python -m benchmarks.serving ASSETS`.

Clients on the same machine send notes over loopback: one alone, several without a pause, and
several that pause, so that half as many notes come as `nlp.pipe` links. All notes differ:
sentences of `benchmarks/notes` and names of the terminology, 300 words. Such notes are linked by
`nlp` alone, one by one and by `nlp.pipe`, in a process of its own. Then more notes show what memory
does, and at last SIGTERM comes while every client waits.

Without a pause, as many requests wait as there are clients, so each takes as long as all of them.
"""

import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from benchmarks.measured import family, machine, resident, run_task, write_results
from spacy_medlink.assets import Assets
from spacy_medlink.components.pipelines import open_pipeline

_WORDS, _NAMES, _SEED, _WARM = 300, 10, 23, 32
_SAMPLES = 20  # readings of the memory
_BEGUN = 0.2  # seconds until the last requests are under way
_NOTES = Path(__file__).parent / "notes"


def write_notes(assets: Path, count: int) -> Iterator[str]:
    """Write notes of 300 words, each with ten names that stand nowhere else by plan."""
    text = " ".join(one.read_text(encoding="utf-8") for one in sorted(_NOTES.glob("*.txt")))
    sentences = re.split(r"(?<=[.:;])\s+", text)
    names = [name.text for _, name in Assets(assets).kb.iter_names()]
    chance = random.Random(_SEED)
    for _ in range(count):
        known = [f"Known {one}." for one in chance.sample(names, _NAMES)]
        words = " ".join([*known, *chance.choices(sentences, k=_WORDS)]).split()[:_WORDS]
        middle = chance.randrange(_WORDS)
        yield " ".join(words[middle:] + words[:middle])


def link_alone(assets: str, notes: str) -> dict[str, Any]:
    """Link notes without a service: the task of a fresh process."""
    nlp = open_pipeline(assets, device="cpu")
    texts = json.loads(Path(notes).read_text(encoding="utf-8"))
    for text in texts[:_WARM]:
        nlp(text)
    half = _WARM + (len(texts) - _WARM) // 2
    seconds, mentions, used = [], 0, time.process_time()
    for text in texts[_WARM:half]:
        start = time.perf_counter()
        mentions += len(nlp(text).ents)
        seconds.append(time.perf_counter() - start)
    used, start = time.process_time() - used, time.perf_counter()
    for _ in nlp.pipe(texts[half:]):
        pass
    each = (time.perf_counter() - start) / (len(texts) - half)
    return {
        "alone": percentiles(seconds), "pipe_ms": round(1000 * each, 1),
        "alone_processor_ms": round(1000 * used / len(seconds), 1),
        "mentions": round(mentions / len(seconds), 1),
    }  # fmt: skip


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Median and 99th percentile, in milliseconds."""
    cuts = statistics.quantiles(seconds, n=100)
    return {"p50": round(1000 * cuts[49], 1), "p99": round(1000 * cuts[98], 1)}


@contextmanager
def served(assets: Path | str, *options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start the service: its process and its port."""
    command = [sys.executable, "-m", "spacy_medlink.cli", "serve", str(assets)]
    process = subprocess.Popen(
        [*command, "--port", "0", "--device", "cpu", *options], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    rest = threading.Thread(target=process.stderr.read, daemon=True)
    try:
        line = next(one for one in process.stderr if one.startswith("http://"))
        rest.start()
        yield process, int(line.split(":")[2].split()[0])
    finally:
        process.kill()
        process.wait()
        if rest.ident is not None:
            rest.join(10)
        process.stderr.close()


class Clients:
    """Clients that send one note after another over loopback.

    pause (float): mean of the seconds between an answer and the next request.
    seconds (List[float]): of each answer. statuses (List[int]): of each answer; 0 for none.
    """

    def __init__(self, port: int, count: int, pause: float = 0.0) -> None:
        self._port, self._count, self._pause = port, count, pause
        self._chance = random.Random(_SEED)
        self.seconds: list[float] = []
        self.statuses: list[int] = []
        self._lock = threading.Lock()

    def send(self, notes: Iterator[str]) -> float:
        """Send notes until there are no more. RETURNS: the seconds that it took."""
        start = time.perf_counter()
        with ThreadPoolExecutor(self._count) as pool:
            for one in [pool.submit(self._send, notes) for _ in range(self._count)]:
                one.result()
        return time.perf_counter() - start

    def _send(self, notes: Iterator[str]) -> None:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=120)
        while True:
            with self._lock:
                note = next(notes, None)
            if note is None:
                return connection.close()
            if self._pause:
                connection.close()  # the service closes connections that are idle
                time.sleep(self._chance.expovariate(1 / self._pause))
            start = time.perf_counter()
            try:
                body = json.dumps({"texts": [note]})
                connection.request("POST", "/link", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                status = answer.status
            except (OSError, HTTPException):
                status = 0
                connection.close()
            self.seconds.append(time.perf_counter() - start)
            self.statuses.append(status)


def measure_load(
    assets: Path,
    notes: Iterator[str],
    requests: int,
    soak: int,
    minutes: float,
    count: int,
    pipe: float,
) -> dict[str, Any]:
    """Measure answers, memory over more of them, and the end by SIGTERM.

    minutes (float): for the notes over which memory is watched. count (int): of clients.
    pipe (float): seconds that `nlp.pipe` takes for a note.
    """
    found: dict[str, Any] = {"requests": requests, "clients": count}
    with served(assets) as (process, port):
        Clients(port, count).send(islice(notes, _WARM))
        ways = {
            "one client": (Clients(port, 1), requests // 5),
            "clients without a pause": (Clients(port, count), requests),
            "clients at half the rate": (Clients(port, count, 2 * count * pipe), requests // 2),
        }
        for way, (clients, wanted) in ways.items():
            before = _processor_seconds(process.pid)
            took = clients.send(islice(notes, wanted))
            used = _processor_seconds(process.pid) - before
            found[way] = {
                **percentiles(clients.seconds), "requests": wanted,
                "errors": wanted - clients.statuses.count(200),
                "a_second": round(wanted / took, 1), "processor_ms": round(1000 * used / wanted, 1),
            }  # fmt: skip
        rest, found["memory_mb"] = Clients(port, count), [_megabytes(process.pid)]
        until = time.monotonic() + 60 * minutes
        while len(rest.statuses) < soak and time.monotonic() < until:
            rest.send(islice(notes, soak // _SAMPLES))
            found["memory_mb"].append(_megabytes(process.pid))
        found["soak"] = len(rest.statuses)
        found["soak_errors"] = found["soak"] - rest.statuses.count(200)
        last = Clients(port, count)
        end = threading.Thread(target=last.send, args=[islice(notes, count)])
        end.start()
        time.sleep(_BEGUN)
        process.send_signal(signal.SIGTERM)
        end.join()
        code = process.wait(120)
    return {**found, "last": count, "finished": last.statuses.count(200), "exit": code}


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _megabytes(pid: int) -> int:
    return round(sum(map(resident, family(pid))) / 1e6)


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    alone, count = results["alone"], results["clients"]
    lines = [
        "| | notes | median, ms | 99th percentile, ms | notes a second | processor, ms a note |",
        "|---|---:|---:|---:|---:|---:|",
        f"| `nlp`, one by one | {results['requests'] // 2:,} | {alone['p50']} | {alone['p99']} | "
        f"| {results['alone_processor_ms']} |",
        f"| `nlp.pipe` | {results['requests'] // 2:,} | | | {1000 / results['pipe_ms']:.1f} | |",
    ]
    for way in ("one client", "clients without a pause", "clients at half the rate"):
        one = results[way]
        name = way if way.startswith("one") else f"{count} {way}"
        lines.append(
            f"| service, {name} | {one['requests']:,} | {one['p50']} | {one['p99']} "
            f"| {one['a_second']} | {one['processor_ms']} |"
        )
    facts = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    errors = sum(
        one["errors"] for one in results.values() if isinstance(one, dict) and "errors" in one
    )
    said = [
        f"Notes of {_WORDS} words with {results['mentions']} mentions each; {errors} errors.",
        f"Memory of the service, MB, before {results['soak']:,} more notes and at equal steps:",
        f"{', '.join(map(str, results['memory_mb']))} ({results['soak_errors']} errors).",
        f"SIGTERM with {results['last']} requests under way: {results['finished']} answered.",
    ]
    return "\n".join([*lines, "", *said, "", f"{facts}."])


def main(
    assets: Annotated[Path, typer.Argument(help="Assets of any terminology.")],
    requests: Annotated[int, typer.Option(help="Notes whose times count.")] = 1_000,
    soak: Annotated[int, typer.Option(help="Notes over which memory is watched.")] = 10_000,
    minutes: Annotated[float, typer.Option(help="Minutes for these notes, about.")] = 60,
    clients: Annotated[int, typer.Option(help="Clients at once.")] = 16,
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/serving.json"
    ),
) -> None:
    """Measure the service under load, beside `nlp` alone."""
    with TemporaryDirectory(prefix="medlink-bench-") as work:
        notes = Path(work) / "notes.json"
        notes.write_text(json.dumps(list(write_notes(assets, _WARM + requests))), encoding="utf-8")
        alone = run_task("benchmarks.serving.link_alone", assets=str(assets), notes=str(notes))
    every = write_notes(assets, _WARM + 2 * requests + soak + clients)
    pipe = alone["pipe_ms"] / 1000
    load = measure_load(assets, every, requests, soak, minutes, clients, pipe)
    results = {**alone, **load, "machine": machine()}
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

"""The service under honest, slow and hostile clients: `python -m benchmarks.serving_stress ASSETS`.

Fifty clients on the same machine, each in a loop with pauses, for some minutes: honest ones send
notes of 300 words, look concepts up and correct; slow ones send headers or bodies byte by byte, or
do not read; hostile ones send what once stopped the service. What counts is that it goes on: the
times of the honest ones, the memory of all its processes, and how it ends.
"""

import json
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from benchmarks.kb_tasks import write_note
from benchmarks.measured import RESULTS, family, machine, percentiles, resident, write_results
from spacy_medlink.assets import Assets

_TO_US = b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
_JSON = {"Content-Type": "application/json"}
_HONEST, _SLOW, _HOSTILE = 25, 10, 15
_PATIENCE = 130  # seconds until a client gives up
_WORDS = ("fever", "asthma", "ataxia", "diabetis")
_ENDING = 60  # seconds for the end after SIGTERM


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


def _body(**values: Any) -> bytes:
    return json.dumps(values).encode()


def _raw(head: str, body: bytes = b"", length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    lines = [head, "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in _JSON.items())]
    return "\r\n".join([*lines, f"Content-Length: {size}", "", ""]).encode() + body


ATTACKS: dict[str, bytes] = {
    "half a pair as a key": _raw(
        "POST /map HTTP/1.1", b'{"terms":[{"name":"a","extra":{"\\ud800":"x"}}]}'
    ),
    "half a pair as a text": _raw("POST /link HTTP/1.1", b'{"texts":["a \\ud800"]}'),
    "half a pair in a correction": _raw(
        "POST /corrections HTTP/1.1", b'{"text":"fever","start":0,"end":5,"ids":[],"by":"\\udfff"}'
    ),
    **{
        f"a run of {part}": _raw(
            "POST /link HTTP/1.1", _body(texts=[part * (100_000 // len(part))])
        )
        for part in "('\"[*_«$#"
    },
    "many long texts": _raw(
        "POST /link HTTP/1.1", _body(texts=["fever, asthma and headache. " * 3_500] * 64)
    ),
    "many mentions": _raw("POST /link HTTP/1.1", _body(texts=["asthma " * 14_000], candidates=100)),
    "lists of lists": _raw("POST /link HTTP/1.1", b"[" + b"[]," * 8_000_000 + b"[]]"),
    "lists within lists": _raw("POST /link HTTP/1.1", b"[" * 20_000_000),
    "many numbers": _raw("POST /link HTTP/1.1", b'{"texts":[' + b"0," * 9_000_000 + b"0]}"),
    "more than may be": _raw("POST /link HTTP/1.1", b"", 1 << 40),
    "no JSON": _raw("POST /link HTTP/1.1", b"\xff\xfe\x00{"),
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "long headers": b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 100_000,
    "another host": b"GET /search?q=fever HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "another page": _raw(
        "POST /corrections HTTP/1.1\r\nOrigin: https://evil.example",
        _body(text="asthma", start=0, end=6, ids=[]),
    ),
    "chunks": b"POST /link HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n",
    "a long expression": _raw(
        "POST /link HTTP/1.1", _body(texts=["fever"], within="(" * 5_000 + "<< 1" + ")" * 5_000)
    ),
    "a table of nothing": _raw("POST /terms HTTP/1.1", _body(table='"' + ",\n" * 1_000_000)),
    "a long search": b"GET /search?q="
    + b"%F0%9F%98%80" * 200
    + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "dots": b"GET /concepts/../../etc/passwd" + _TO_US,
}


class Load:
    """The clients of a service and what they saw.

    seconds (Dict[str, List[float]]): times of the answers to honest clients, by what was asked.
    faults (List[str]): what an honest client should not have seen. statuses (Counter[str]): of the
    answers to attacks, by attack and status; "closed" where there was none.
    """

    def __init__(self, port: int, notes: Iterator[str]) -> None:
        self._port, self._notes, self._lock = port, notes, threading.Lock()
        self._end = threading.Event()
        self.seconds: dict[str, list[float]] = {}
        self.faults: list[str] = []
        self.statuses: Counter[str] = Counter()

    def run(self, counts: Sequence[int], seconds: float, watch: Callable[[], None]) -> None:
        """Let honest, slow and hostile clients send for some seconds; watch ten times."""
        ways = [self._honest, self._slow, self._hostile]
        clients = [
            threading.Thread(target=self._loop, args=(way, number), daemon=True)
            for way, count in zip(ways, counts, strict=True)
            for number in range(count)
        ]
        for one in clients:
            one.start()
        for _ in range(10):
            self._end.wait(seconds / 10)
            watch()
        self._end.set()
        for one in clients:
            one.join(_PATIENCE)

    def _loop(self, way: Callable[[random.Random, int], None], number: int) -> None:
        chance = random.Random(f"{way.__name__} {number}")
        while not self._end.wait(chance.uniform(0.5, 3.5)):
            try:
                way(chance, number)
            except (OSError, HTTPException) as error:
                if way == self._honest:
                    self.faults.append(f"{type(error).__name__}: {error}")

    def _honest(self, chance: random.Random, number: int) -> None:
        with self._lock:
            note = next(self._notes)
        asked: dict[str, tuple[str, str, bytes | None]] = {
            "link": ("POST", "/link", _body(texts=[note])),
            "explain": ("POST", "/explain", _body(text=note, start=0, end=8)),
            "search": ("GET", f"/search?q={chance.choice(_WORDS)}", None),
            "map": ("POST", "/map", _body(terms=[{"name": one} for one in note.split()[:20]])),
            "correct": ("POST", "/corrections", _body(text=note, start=0, end=8, ids=[])),
        }
        what = chance.choices([*asked], weights=[16, 2, 2, 2, 1])[0]
        start = time.perf_counter()
        connection = HTTPConnection("127.0.0.1", self._port, timeout=_PATIENCE)
        method, path, body = asked[what]
        connection.request(method, path, body, _JSON if body else {})
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        self.seconds.setdefault(what, []).append(time.perf_counter() - start)
        if answer.status != 200:
            self.faults.append(f"{what}: {answer.status} {said[:200].decode(errors='replace')}")

    def _slow(self, chance: random.Random, number: int) -> None:
        with socket.create_connection(("127.0.0.1", self._port), timeout=_PATIENCE) as client:
            whole = _raw("POST /link HTTP/1.1", _body(texts=["fever " * 2_000]))
            if number % 3 == 2:  # asks for much, and does not read it
                for _ in range(50):
                    client.sendall(ATTACKS["dots"])
                self._end.wait(90)
                return
            for place in range(30 if number % 3 else 0, len(whole)):
                client.sendall(whole[place : place + 1])
                if self._end.wait(chance.uniform(0.5, 2.5)):
                    return

    def _hostile(self, chance: random.Random, number: int) -> None:
        name = chance.choice([*ATTACKS])
        with socket.create_connection(("127.0.0.1", self._port), timeout=_PATIENCE) as client:
            status = "closed"
            try:
                client.sendall(ATTACKS[name])
                if chance.random() > 0.2:  # the others leave at once
                    status = client.recv(65_536)[9:12].decode(errors="replace") or "closed"
            except OSError:
                pass
            with self._lock:
                self.statuses[f"{name}: {status}"] += 1


def measure(
    source: str, seconds: float, counts: Sequence[int], notes: Iterator[str]
) -> dict[str, Any]:
    """Start a service, let clients loose on it, and end it."""
    with TemporaryDirectory(prefix="medlink-bench-") as work:
        options = ["--corrections", str(Path(work) / "corrections.jsonl")]
        with served(source, *options) as (process, port):
            load, memory = Load(port, notes), [_megabytes(process.pid)]
            load.run(counts, seconds, lambda: memory.append(_megabytes(process.pid)))
            alive = process.poll() is None
            start = time.monotonic()
            process.send_signal(signal.SIGTERM)
            code = process.wait(_ENDING)
            took = time.monotonic() - start
    times = {what: percentiles(own) for what, own in load.seconds.items() if len(own) > 1}
    answers = Counter(one.rpartition(": ")[2] for one in load.statuses.elements())
    return {
        "seconds": seconds, "clients": list(counts), "alive": alive, "exit": code,
        "end_s": round(took, 1), "memory_mb": memory, "times_ms": times,
        "asked": {what: len(own) for what, own in load.seconds.items()}, "faults": load.faults[:50],
        "n_faults": len(load.faults), "attacks": dict(sorted(load.statuses.items())),
        "answers_to_attacks": dict(answers),
    }  # fmt: skip


def _megabytes(pid: int) -> int:
    return round(sum(map(resident, family(pid))) / 1e6)


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    honest, slow, hostile = results["clients"]
    lines = [
        f"{honest} honest, {slow} slow and {hostile} hostile clients for {results['seconds']:g} s.",
        "",
        "| honest clients asked for | times | median, ms | 99th percentile, ms |",
        "|---|---:|---:|---:|",
        *(
            f"| {what} | {results['asked'][what]:,} | {own['p50']:,} | {own['p99']:,} |"
            for what, own in sorted(results["times_ms"].items())
        ),
        "",
        f"{results['n_faults']} of them were not answered, or with an error. Attacks, by answer: "
        + ", ".join(f"{one} {count}" for one, count in results["answers_to_attacks"].items()) + ".",
        f"Memory of all processes, MB: {', '.join(map(str, results['memory_mb']))}.",
        f"SIGTERM among all clients: ended after {results['end_s']} s, code {results['exit']}.",
        "",
        ", ".join(f"{name} {value}" for name, value in results["machine"].items()) + ".",
    ]  # fmt: skip
    return "\n".join(lines)


def main(
    assets: Annotated[Path, typer.Argument(help="Assets of any terminology.")],
    minutes: Annotated[float, typer.Option(help="How long the clients send.")] = 10,
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = (
        RESULTS / "serving_stress.json"
    ),
) -> None:
    """Measure what honest clients get of the service while others attack it."""
    notes = map(partial(write_note, Assets(assets).kb), count())
    results = measure(str(assets), 60 * minutes, (_HONEST, _SLOW, _HOSTILE), notes)
    results["machine"] = machine()
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

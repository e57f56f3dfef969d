"""The service among honest, slow and hostile clients, for some seconds.

Honest clients send notes, look concepts up and correct; slow ones send bodies byte by byte, or do
not read; hostile ones send what once stopped the service. What counts is that it goes on.
"""

import json
import random
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

SECONDS, CLIENTS = 20, (8, 3, 5)  # honest, slow and hostile ones
NOTE = "Fever and asthma. No headache, known diabetes mellitus. " * 10
_TO_US = b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
_JSON = {"Content-Type": "application/json"}
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

    asked (Counter[str]): of honest clients, by what was asked.
    faults (List[str]): what an honest client should not have seen. statuses (Counter[str]): of the
    answers to attacks, by attack and status; "closed" where there was none.
    """

    def __init__(self, port: int) -> None:
        self._port, self._lock, self._end = port, threading.Lock(), threading.Event()
        self.asked: Counter[str] = Counter()
        self.faults: list[str] = []
        self.statuses: Counter[str] = Counter()

    def run(self, counts: Sequence[int], seconds: float) -> None:
        """Let honest, slow and hostile clients send for some seconds."""
        ways = [self._honest, self._slow, self._hostile]
        clients = [
            threading.Thread(target=self._loop, args=(way, number), daemon=True)
            for way, count in zip(ways, counts, strict=True)
            for number in range(count)
        ]
        for client in clients:
            client.start()
        self._end.wait(seconds)
        self._end.set()
        for client in clients:
            client.join(_PATIENCE)

    def _loop(self, way: Callable[[random.Random, int], None], number: int) -> None:
        chance = random.Random(f"{way.__name__} {number}")
        while not self._end.wait(chance.uniform(0.5, 3.5)):
            try:
                way(chance, number)
            except (OSError, HTTPException) as error:
                if way == self._honest:
                    self.faults.append(f"{type(error).__name__}: {error}")

    def _honest(self, chance: random.Random, number: int) -> None:
        asked: dict[str, tuple[str, str, bytes | None]] = {
            "link": ("POST", "/link", _body(texts=[NOTE])),
            "explain": ("POST", "/explain", _body(text=NOTE, start=0, end=8)),
            "search": ("GET", f"/search?q={chance.choice(_WORDS)}", None),
            "map": ("POST", "/map", _body(terms=[{"name": word} for word in NOTE.split()[:20]])),
            "correct": ("POST", "/corrections", _body(text=NOTE, start=0, end=8, ids=[])),
        }
        what = chance.choices([*asked], weights=[16, 2, 2, 2, 1])[0]
        connection = HTTPConnection("127.0.0.1", self._port, timeout=_PATIENCE)
        method, path, body = asked[what]
        connection.request(method, path, body, _JSON if body else {})
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        with self._lock:
            self.asked[what] += 1
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


@pytest.mark.slow
def test_honest_clients_are_answered_among_others(tiny_assets, tmp_path):
    options = ["--corrections", str(tmp_path / "corrections.jsonl")]
    with served(tiny_assets.path, *options) as (process, port):
        load = Load(port)
        load.run(CLIENTS, SECONDS)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(_ENDING) in (0, -signal.SIGTERM)
    assert not load.faults and load.asked["link"] > 5
    assert load.statuses and not any(status.endswith(": 500") for status in load.statuses)

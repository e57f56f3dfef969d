"""The process that links: a request that takes too long, or ends it, is alone with that."""

import json
import os
import signal
import time
from concurrent.futures import Future
from typing import Any

import pytest
from spacy.strings import hash_string

from spacy_medlink.errors import MedlinkError

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient  # there only with the extra `serve`

from spacy_medlink.workbench.serve import Desk, Limits, make_app  # imports fastapi
from spacy_medlink.workbench.serve.desk import _pieces
from spacy_medlink.workbench.serve.process import LinkProcess
from spacy_medlink.workbench.serve.terminology import Opening, Terminology
from tests.children import python

WORD, CRAFTED = "diabetes", "utnssibo25kuTl99"
SLOW = "$" * 1_000_000  # half a minute of tokenising, cut as it is
LONG = "fever and asthma. " * 1_200  # more than the texts that are linked at once


@pytest.fixture(scope="module")
def terminology(tiny_assets):
    return Terminology(Opening(str(tiny_assets.path), device="cpu"))


def _ended(future: "Future[Any]") -> str:
    with pytest.raises(MedlinkError) as caught:
        future.result(120)
    return caught.value.code


def _pid(process: LinkProcess) -> int:
    assert process._process is not None
    return process._process.pid or 0


@pytest.mark.slow
def test_a_process_that_takes_too_long_is_ended_and_started_anew(tiny_assets):
    """And short texts are answered meanwhile, by another process."""
    desk = Desk("tiny", str(tiny_assets.path), device="cpu", seconds=3, waiting=2)
    short, long = desk._short._process, desk._long._process
    app = make_app([desk], Limits(length=len(SLOW), seconds=120))
    client = TestClient(app, base_url="http://127.0.0.1")
    try:
        assert short._process and not long._process, "no long text has come"
        held = desk.ask_of_texts("link", [SLOW], {}, 0)[0]
        assert client.post("/link", json={"texts": ["fever"]}).status_code == 200
        assert not held.done()
        answer = client.post("/link", json={"texts": [SLOW]})
        assert (answer.status_code, answer.json()["error"]["code"]) == (504, "E626")
        assert _ended(held) == "E626"
        again = desk.ask_of_texts("link", [LONG], {}, 0)[0].result(120)
        assert _n_mentions(again) > 0, "started anew"

        pids = [_pid(short), _pid(long)]
        os.kill(pids[0], signal.SIGKILL)
        while short._is_alive():
            time.sleep(0.01)
        assert _n_mentions(desk.ask_of_texts("link", ["fever"], {}, 0)[0].result(120)) == 1
        assert _pid(short) != pids[0] and _pid(long) == pids[1]

        held = desk.ask_of_texts("link", [SLOW], {}, 0)[0]
        while desk._short.sizes() or desk._long.sizes():
            time.sleep(0.01)
        waiting = [desk.ask("link", [LONG], {}, 0, size=len(LONG)) for _ in range(2)]
        with pytest.raises(MedlinkError, match="E622"):
            desk.ask("search", "fever", 5)
    finally:
        start = time.monotonic()
        desk.close()
    assert time.monotonic() - start < 20, "nothing holds the end"
    assert held.done() and all(one.cancelled() for one in waiting)
    assert not short._is_alive() and not long._is_alive()


@pytest.mark.slow
def test_a_process_that_is_still_opened_ends_with_the_service(tiny_assets):
    for pause in (0.0, 0.2):
        desk = Desk("tiny", str(tiny_assets.path), device="cpu")
        first = desk.ask_of_texts("link", [LONG], {}, 0)[0]
        time.sleep(pause)
        start = time.monotonic()
        desk.close()
        assert time.monotonic() - start < 10
        assert first.cancelled() or _ended(first) == "E625"
        assert not desk._long._process._is_alive()


@pytest.mark.slow
def test_bad_assets_are_said_at_the_start(tmp_path):
    with pytest.raises(MedlinkError, match="E202"):
        Desk("none", str(tmp_path), device="cpu")


def test_a_short_text_does_not_wait_for_long_ones(desk):
    long = ["fever and asthma. " * 500] * 6
    many, order = desk.ask_of_texts("link", long, {}, 0), list[str]()
    short = desk.ask_of_texts("link", ["asthma"], {}, 0)[0]
    for name, future in (("long", many[-1]), ("short", short)):
        future.add_done_callback(lambda _, name=name: order.append(name))
    many[-1].result(120)
    assert order == ["short", "long"]


def test_what_nobody_waits_for_takes_no_place(desk):
    desk.ask_of_texts("link", [SLOW[:20_000]], {}, 0)
    for _ in range(3):
        waiting = desk.ask_of_texts("link", ["fever. " * 2_800] * 250, {}, 0)
        assert sum(one.cancel() for one in waiting) >= 249
    assert _n_mentions(desk.ask_of_texts("link", ["asthma"], {}, 0)[0].result(60)) == 1
    assert len([*desk._short.sizes(), *desk._long.sizes()]) < 10


def test_texts_are_linked_some_at_a_time():
    texts = ["a" * 15_000, "b" * 6_000, "c" * 6_000, "d" * 100_000, "e"]
    pieces = list(_pieces(texts))
    assert [one for piece in pieces for one in piece] == texts
    assert [len(piece) for piece in pieces] == [1, 2, 1, 1]


def test_a_failure_does_not_say_what_the_text_says(terminology, monkeypatch):
    def fail(*_: Any) -> Any:
        raise RuntimeError("the text says boom")

    with monkeypatch.context() as patch:
        patch.setattr(terminology._linker, "_linked", fail)
        with pytest.raises(MedlinkError, match=r"E625.*RuntimeError in the component") as caught:
            terminology.link(["boom"], {}, 0)
    assert "boom" not in str(caught.value)
    assert _n_mentions(terminology.link(["fever"], {}, 0)) == 1


def test_texts_do_not_pile_up(terminology):
    words = [f"word{number}" for number in range(3)]
    for word in words:
        terminology.link([f"{word} fever"], {}, 0)
        terminology.explain(f"{word} fever", 0, 3)
        terminology.locate(f"{word} fever", (0, 3), (), [])
    assert not any(word in terminology._nlp.vocab.strings for word in words)


def test_a_crafted_text_changes_nothing_in_another_request(desk):
    """A word with the hash of another one is no part of what others send at the same time."""
    assert hash_string(WORD) == hash_string(CRAFTED)
    before = desk.ask_of_texts("link", [f"type 2 {WORD}"], {}, 1)[0].result(60)
    assert _n_mentions(before) == 1
    desk.ask_of_texts("link", [SLOW[:20_000]], {}, 0)  # so that these wait together
    crafted = desk.ask_of_texts("link", [CRAFTED], {}, 1)[0]
    other = desk.ask_of_texts("link", [f"type 2 {WORD}"], {}, 1)[0]
    assert other.result(60) == before
    assert _n_mentions(crafted.result(60)) == 0
    together = desk.ask_of_texts("link", [CRAFTED, f"type 2 {WORD}"], {}, 1)[0]
    assert _ended(together) == "E625", "in one request it is refused"


def _n_mentions(linked: list[bytes]) -> int:
    """Count the mentions of the only text."""
    (mentions,) = map(json.loads, linked)
    return len(mentions)


@pytest.mark.slow
def test_a_program_ends_although_it_closes_no_desk(tiny_assets):
    code = "from spacy_medlink.workbench.serve.desk import Desk; Desk('tiny', {!r}, device='cpu')"
    python("-c", f"if __name__ == '__main__': {code.format(str(tiny_assets.path))}", timeout=60)

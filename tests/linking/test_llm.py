"""A language model that chooses among candidates, behind a real server on loopback."""

import json
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import spacy
from spacy.tokens import Span

from spacy_medlink.assets import Assets
from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation.provenance import describe_linker
from spacy_medlink.linking import Linker, open_linker
from spacy_medlink.linking.llm import CHOSEN, NONE_FITS, LlmChooser
from spacy_medlink.types import Mention

UNSURE = Mention("diabetis", left="The mother has ", right=" of the old.")
SURE = Mention("fever")


class Server:
    """A server of chat completions. answer (Callable): from a question to its answer."""

    def __init__(self, url: str, asked: list[dict[str, Any]], keys: list[str]) -> None:
        self.url, self.asked, self.keys = url, asked, keys

    def chooser(self, **settings: Any) -> LlmChooser:
        return LlmChooser(self.url, "small", **{"below": 0.8, **settings})


@contextmanager
def serving(answer: Callable[[str], object]) -> Iterator[Server]:
    asked: list[dict[str, Any]] = []
    keys: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body)
            keys.append(self.headers.get("Authorization", ""))
            said = answer(body["messages"][-1]["content"])
            found = said if isinstance(said, bytes) else json.dumps(
                {"choices": [{"message": {"content": said}}]}
            ).encode()  # fmt: skip
            self.send_response(200 if self.path == "/v1/chat/completions" else 404)
            self.end_headers()
            self.wfile.write(found)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{server.server_port}/v1", asked, keys)
    finally:
        server.shutdown()
        server.server_close()


def linker_of(assets: Assets, chooser: LlmChooser | None) -> Linker:
    return open_linker(assets).using(llm=chooser, threshold=0.0)


def test_the_chosen_candidate_is_the_link(tiny_assets: Assets) -> None:
    plain = linker_of(tiny_assets, None)
    before, fever = plain.decide([UNSURE, SURE])
    with serving(lambda question: "2.") as server:
        after, same = linker_of(tiny_assets, server.chooser()).decide([UNSURE, SURE])
    assert after.chosen is not None and after.chosen.row == before.ranking[1].row
    assert after.chosen.scores[CHOSEN] == 1.0 and after.reason == ""
    assert {one.row for one in after.ranking} == {one.row for one in before.ranking}
    assert same == fever and len(server.asked) == 1  # a sure link costs nothing
    question = server.asked[0]["messages"][-1]["content"]
    assert question.startswith("The mother has «diabetis» of the old.\n\n1. ")
    assert plain.decide([UNSURE])[0] == before  # what is remembered has not changed


def test_no_candidate_may_fit(tiny_assets: Assets) -> None:
    with serving(lambda question: "0") as server:
        (decision,) = linker_of(tiny_assets, server.chooser()).decide([UNSURE])
    assert decision.chosen is None and decision.reason == NONE_FITS and decision.ranking


@pytest.mark.parametrize("answer", ["I do not know", "99", ""])
def test_an_answer_that_names_no_candidate_changes_nothing(
    tiny_assets: Assets, answer: str
) -> None:
    before = linker_of(tiny_assets, None).decide([UNSURE])
    with serving(lambda question: answer) as server:
        assert linker_of(tiny_assets, server.chooser()).decide([UNSURE]) == before


def test_a_question_is_asked_once_and_no_more_than_the_limit(tiny_assets: Assets) -> None:
    others = [Mention(text) for text in ("diabetis mel", "astma brochial", "hypertensio")]
    with serving(lambda question: "1") as server:
        linker = linker_of(tiny_assets, server.chooser(most=2))
        linker.decide([UNSURE, UNSURE])
        linker.decide([UNSURE])
        assert len(server.asked) == 1
        with pytest.warns(UserWarning, match="W123"):
            linker.decide(others)
    assert len(server.asked) == 2


@pytest.mark.parametrize("body", [b"no JSON", b"{}", b'{"choices": []}', b"[]"])
def test_a_broken_answer_is_an_error_with_a_remedy(tiny_assets: Assets, body: bytes) -> None:
    with serving(lambda question: body) as server, pytest.raises(MedlinkError, match="E230"):
        linker_of(tiny_assets, server.chooser()).decide([UNSURE])


def test_a_server_that_is_not_there(tiny_assets: Assets) -> None:
    chooser = LlmChooser("http://127.0.0.1:9/v1", "small", below=1.0)
    with pytest.raises(MedlinkError, match="E230"):
        linker_of(tiny_assets, chooser).decide([UNSURE])


@pytest.mark.parametrize(
    "wrong", [{"endpoint": "localhost"}, {"below": 2.0}, {"most": -1}, {"seconds": 0.0}]
)
def test_wrong_settings(wrong: dict[str, Any]) -> None:
    with pytest.raises(MedlinkError, match="E302"):
        LlmChooser(**{"endpoint": "http://localhost/v1", "model": "small", **wrong})


def test_the_component_asks_and_keeps_the_setting(
    tiny_assets: Assets, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "secret")
    with serving(lambda question: "2") as server:
        llm = {
            "@misc": "spacy-medlink.Llm.v1", "endpoint": server.url, "model": "small",
            "below": 0.95, "key": "A_KEY",
        }  # fmt: skip
        nlp = spacy.blank("en")
        settings = {"assets": str(tiny_assets.path), "llm": llm, "threshold": 0.0}
        nlp.add_pipe("medical_linker", config=settings)
        nlp.to_disk(tmp_path / "pipeline")
        loaded = spacy.load(tmp_path / "pipeline")
        doc = loaded.make_doc("She has diabetis now.")
        doc.set_ents([Span(doc, 2, 3, label="D")])
        (ent,) = loaded.get_pipe("medical_linker")(doc).ents
    assert ent._.candidates[0]["scores"][CHOSEN] == 1.0 and server.keys == ["Bearer secret"]
    assert "secret" not in (tmp_path / "pipeline" / "config.cfg").read_text("utf-8")


def test_an_evaluation_says_that_a_model_was_asked(tiny_assets: Assets) -> None:
    chooser = LlmChooser("http://localhost/v1", "small", below=0.3)
    said = json.loads(json.dumps(describe_linker(linker_of(tiny_assets, chooser))))
    assert said["llm"] == {"model": "small", "below": 0.3, "most": 1000}
    assert "llm" not in describe_linker(linker_of(tiny_assets, None))


def test_it_crosses_processes() -> None:
    own = LlmChooser("http://localhost/v1", "small", below=0.3, most=7, key="A_KEY")
    copy = pickle.loads(pickle.dumps(own))
    assert (copy.endpoint, copy.below, copy.most, copy.key) == (own.endpoint, 0.3, 7, "A_KEY")

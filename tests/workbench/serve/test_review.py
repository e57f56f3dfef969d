"""`medlink serve --review`: the texts of a gold file in the page, what would teach most first."""

from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.gold import read_gold
from spacy_medlink.workbench.verbs.serve import command, texts_of

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient  # there only with the extra `serve`

from spacy_medlink.workbench.serve import CorrectionFile, Desk  # imports fastapi
from tests.lines import note, write_lines
from tests.tables import table
from tests.workbench.serve.browser import opened_page

ASTHMA, FEVER = "HP:0002099", "HP:0001945"
TEXTS = ["No fever.", "Known asthma, and asthma of old.", "x" * 100_001 + " fever"]


@pytest.fixture
def gold(tmp_path):
    lines = (note(text, doc_id=str(place)) for place, text in enumerate(TEXTS))
    return write_lines(tmp_path / "gold.jsonl", *lines)


@pytest.fixture
def review(tiny_assets, monkeypatch):
    """Run the command; in place of listening, give a client of its service."""
    made: list[Any] = []
    monkeypatch.setattr(
        "spacy_medlink.workbench.verbs.serve.listen", lambda app, *_, **__: made.append(app)
    )

    def review(path: Path) -> TestClient:
        command([str(tiny_assets.path)], review=path, device="cpu")
        return TestClient(made.pop(), base_url="http://127.0.0.1")

    return review


@pytest.mark.parametrize("n_texts", [2, pytest.param(3, marks=pytest.mark.slow, id="a long one")])
def test_corrections_go_into_the_file(review, gold, n_texts):
    texts = TEXTS[:n_texts]
    gold.write_text("".join(gold.read_text().splitlines(keepends=True)[:n_texts]))
    with review(gold) as client:
        found = client.get("/queue").json()
        assert found["texts"] == texts
        assert {one["mention"]: (one["text"], one["count"]) for one in found["mentions"]} == {
            "asthma": (1, 2), "fever": (0, n_texts - 1),
        }  # fmt: skip
        body = {"text": TEXTS[1], "start": 6, "end": 12, "ids": [FEVER]}
        assert client.post("/corrections", json=body).is_success
        assert [one["mention"] for one in client.get("/queue").json()["mentions"]] == ["fever"]
    *before, last = read_gold(gold)
    assert [one.text for one in before] == texts
    assert (last.text, last.mentions[0].ids) == (TEXTS[1], (FEVER,))
    assert texts_of(gold) == texts, "corrections repeat their sentences"
    gold.write_text(gold.read_text("utf-8").splitlines()[-1], encoding="utf-8")
    assert texts_of(gold) == [TEXTS[1]], "a file of corrections alone"


@table(__file__, "what_cannot_be_reviewed")
def test_what_cannot_be_reviewed(review, tmp_path, content, code):
    path = tmp_path / "file.jsonl"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(MedlinkError, match=code):
        review(path)
    assert path.exists() == (content is not None)


@pytest.mark.slow
def test_in_a_browser(tiny_assets, gold):
    """The page opens on the mention that would teach most, and the next one comes by a key."""
    file = CorrectionFile(gold)
    notes = texts_of(gold)[:2]
    desk = Desk("t", str(tiny_assets.path), device="cpu", corrections=file, notes=notes)
    with opened_page([desk]) as (page, said):
        page.locator("#status", has_text="1 of 2 to review: “asthma”, 2 times here").wait_for()
        page.locator("#details h2", has_text="asthma").wait_for()
        assert page.input_value("#text") == TEXTS[1]
        page.locator("#details").get_by_role("button", name="No concept").focus()
        page.keyboard.press("Enter")
        page.locator("#status", has_text="“asthma” is no concept from now on").wait_for()
        page.focus("#next")
        page.keyboard.press("Enter")
        page.locator("#status", has_text="2 of 2 to review").wait_for()
        assert page.input_value("#text") == TEXTS[0]
        assert said == []
    assert [one.mentions[0].text for one in read_gold(gold) if one.mentions] == ["asthma"]

import json
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.evaluation.outcome import VERDICTS, pack
from spacy_medlink.evaluation.report import Run, read_records
from spacy_medlink.evaluation.report.page import render_report
from spacy_medlink.evaluation.report.tables import make_tables
from tests.evaluation.report.conftest import HOSTILE, Make

VOID = {"meta", "br", "input"}


class Page(HTMLParser):
    """Collects what a browser would see, and fails on elements that do not nest."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def attributes(self, name: str) -> list[str]:
        return [attrs[name] or "" for _, attrs in self.tags if name in attrs]


def _render(*metrics: dict[str, Any]) -> tuple[str, Page]:
    runs = [Run(f"run {HOSTILE} {number}", one) for number, one in enumerate(metrics)]
    html = render_report(f"Title {HOSTILE}", runs, make_tables(runs))
    return html, Page(html)


def test_nothing_hostile_becomes_markup(metrics: dict[str, Any]) -> None:
    _, page = _render(metrics)
    assert "img" not in {tag for tag, _ in page.tags}
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert f"Title {HOSTILE}" in page.texts["h1"]


def test_nothing_is_fetched(metrics: dict[str, Any]) -> None:
    html, page = _render(metrics)
    assert page.attributes("src") == []
    assert all(link.startswith("#") for link in page.attributes("href"))
    assert "url(" not in html
    assert "@import" not in html
    (policy,) = (own["content"] for tag, own in page.tags if tag == "meta" and "http-equiv" in own)
    assert (policy or "").startswith("default-src 'none'")


def test_anchors_lead_somewhere(metrics: dict[str, Any]) -> None:
    _, page = _render(metrics)
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in page.attributes("href")} <= set(ids)


def test_the_browser_gets_every_mention(metrics: dict[str, Any]) -> None:
    _, page = _render(metrics)
    data = json.loads(page.texts["script"][0])
    mentions = data["runs"][0]["mentions"]
    assert mentions[2]["t"] == HOSTILE
    assert mentions[0]["c"][0][:2] == ["HP:0005978", "Type 2 diabetes"]
    for mention, record in zip(mentions, read_records(metrics), strict=True):
        assert data["verdicts"][mention.get("v", 0)] == record.verdict
        assert mention.get("g", []) == record.gold
        assert {one[0] for one in mention.get("c", [])} <= data["concepts"].keys()
    assert data["verdicts"] == list(VERDICTS)


def test_without_text_the_page_says_so(make_metrics: Make) -> None:
    html, page = _render(make_metrics())
    assert any("hold no text" in text for text in page.texts["p"])
    assert "fevers" not in html


def test_reliability_and_coverage_where_there_are_probabilities(metrics: dict[str, Any]) -> None:
    assert "Reliability" not in _render(metrics)[0]
    records = [
        record._replace(candidates=[one._replace(prob=0.5) for one in record.candidates])
        for record in read_records(metrics)
    ]
    with_probabilities = {**metrics, "mentions": pack(records)}
    tables = {table.name: table for table in make_tables([Run("x", with_probabilities)])}
    answered = [record for record in records if record.candidates]
    right = sum(record.is_right for record in answered) / len(answered)
    assert tables["reliability"].rows == [["50 to 60 %", len(answered), 0.5, pytest.approx(right)]]
    coverage = {row[0]: row[1:] for row in tables["coverage"].rows}
    links = [len(answered), pytest.approx(len(answered) / len(records)), pytest.approx(right)]
    assert coverage["0"] == coverage["0.5"] == links
    assert coverage["0.6"] == [0, 0.0, None]
    assert "50 to 60 %" in _render(with_probabilities)[0]


def test_several_runs(metrics: dict[str, Any], make_metrics: Make) -> None:
    _, page = _render(metrics, make_metrics(tiers=("exact",), baselines=False))
    assert len(json.loads(page.texts["script"][0])["runs"]) == 2
    assert any(text.endswith("1: exact (the linker)") for text in page.texts["th"])


@pytest.mark.slow
def test_in_a_browser(metrics: dict[str, Any], tmp_path: Path) -> None:
    """The script runs, and hostile texts stay texts."""
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no Chromium")
    path = tmp_path / "report.html"
    path.write_text(_render(metrics)[0], encoding="utf-8")
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}",
        "--virtual-time-budget=3000", "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    errors = sum(record.verdict != "right" for record in read_records(metrics))
    assert f"{errors} mentions, {errors} shown" in shown
    assert shown.count('<li class="card">') == errors
    assert "&lt;/script&gt;&lt;img src=x" in shown
    assert "<img" not in shown

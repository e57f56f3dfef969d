from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.assets import Assets
from spacy_medlink.evaluation import Settings, load_gold, measure
from tests.lines import note, said, write_lines

# Texts that would break out of HTML, Markdown, JSON or a spreadsheet if they were not escaped.
HOSTILE = "</script><img src=x onerror=alert(1)> & \"'`|*<!--\u2028"
TEXT = f"Type 2 diabetes (TD) and fevers; {HOSTILE}. =1+1. No zebra."
LINES: list[dict[str, Any]] = [
    note(
        TEXT, ("Type 2 diabetes", "HP:0005978"), said(TEXT, "fevers", "C0015967", type="S"),
        (HOSTILE, "<i>"), doc_id="<b>note</b>",
    ),
    {"mention": "=1+1", "ids": []},
    {"mention": "DM", "ids": ["HP:0005978"], "lang": "es", "type": "S"},
    {"mention": "PE", "ids": ["HP:0001698"]},
]  # fmt: skip

Make = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def make_metrics(tmp_path_factory: pytest.TempPathFactory, tiny_assets: Assets) -> Make:
    """Measure the hostile mentions of this file, with settings."""
    path = write_lines(tmp_path_factory.mktemp("hostile") / "gold.jsonl", *LINES)

    def make(**settings: Any) -> dict[str, Any]:
        settings = {"ks": (1, 3), "tiers": ("exact", "ngram"), **settings}
        return measure(tiny_assets, load_gold(path, tiny_assets.kb), Settings(**settings))

    return make


@pytest.fixture(scope="session")
def metrics(make_metrics: Make) -> dict[str, Any]:
    return make_metrics(with_text=True, train=["dictionary"], threshold=0.5)


@pytest.fixture
def metrics_file(tmp_path: Path, metrics: dict[str, Any]) -> Path:
    from spacy_medlink.evaluation.report import dump_metrics

    path = tmp_path / "linker.json"
    path.write_text(dump_metrics(metrics), encoding="utf-8")
    return path

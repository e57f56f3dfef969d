"""Desks for the tests of the service: each is a process, so all tests of this room share two."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.assets import Assets

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient  # there only with the extra `serve`

from spacy_medlink.workbench.serve import CorrectionFile, Desk, make_app  # imports fastapi

LOCAL = "http://127.0.0.1"


@pytest.fixture(scope="package")
def desk(tiny_assets: Assets) -> Iterator[Desk]:
    made = Desk("tiny", str(tiny_assets.path), device="cpu")
    yield made
    made.close()


@pytest.fixture
def client(desk: Desk) -> TestClient:
    return TestClient(make_app([desk]), base_url=LOCAL)


@pytest.fixture(scope="package")
def corrected(tiny_assets: Assets, tmp_path_factory: Any) -> Iterator[Desk]:
    path = tmp_path_factory.mktemp("corrected") / "own" / "corrections.jsonl"
    made = Desk("tiny", str(tiny_assets.path), device="cpu", corrections=CorrectionFile(path))
    yield made
    made.close()


@pytest.fixture
def file(corrected: Desk) -> Path:
    """The file of corrections of `corrected`, empty."""
    assert corrected.corrections is not None
    path = corrected.corrections.path
    shutil.rmtree(path.parent)
    corrected.corrections.make()
    return path

"""Desks for the tests of the service: each is a process, so all tests of this room share two."""

import shutil

import pytest

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient  # there only with the extra `serve`

from spacy_medlink.workbench.serve import CorrectionFile, Desk, make_app  # imports fastapi

LOCAL = "http://127.0.0.1"


@pytest.fixture(scope="package")
def desk(tiny_assets):
    made = Desk("tiny", str(tiny_assets.path), device="cpu")
    yield made
    made.close()


@pytest.fixture
def client(desk):
    return TestClient(make_app([desk]), base_url=LOCAL)


@pytest.fixture(scope="package")
def corrected(tiny_assets, tmp_path_factory):
    path = tmp_path_factory.mktemp("corrected") / "own" / "corrections.jsonl"
    made = Desk("tiny", str(tiny_assets.path), device="cpu", corrections=CorrectionFile(path))
    yield made
    made.close()


@pytest.fixture
def file(corrected):
    """The file of corrections of `corrected`, empty."""
    assert corrected.corrections is not None
    path = corrected.corrections.path
    shutil.rmtree(path.parent)
    corrected.corrections.make()
    return path

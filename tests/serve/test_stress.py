"""The service among honest, slow and hostile clients, for some seconds."""

import signal
from itertools import cycle

import pytest

from benchmarks.serving_stress import measure, table
from spacy_medlink.assets import Assets

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

SECONDS = 20


@pytest.mark.slow
def test_honest_clients_are_answered_among_others(tiny_assets: Assets) -> None:
    notes = cycle(["Fever and asthma. No headache, known diabetes mellitus. " * 10])
    found = measure(str(tiny_assets.path), SECONDS, (8, 3, 5), notes)
    assert found["alive"] and found["exit"] in (0, -signal.SIGTERM), found
    assert found["n_faults"] == 0 and found["asked"]["link"] > 5, found
    assert not any(one.endswith(": 500") for one in found["attacks"]), found
    assert "honest clients" in table({**found, "machine": {}})

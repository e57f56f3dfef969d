"""`--device`: every verb that runs a network has it, and it is looked for before the work."""

from typing import Any

import pytest
import torch
from typer.main import get_command

import spacy_medlink.util.devices as devices
from spacy_medlink.assets import Assets
from spacy_medlink.cli.app import app
from tests.lines import note, write_lines

VERBS = ["build", "learn", "link", "evaluate", "annotate", "map", "serve", "mcp"]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_runs_a_network_has_it(verb):
    (option,) = [one for one in _command(verb).params if one.name == "device"]
    assert option.default == "auto"
    assert "--device" in option.opts


def test_the_others_have_it_not():
    found = [verb for verb in get_command(app).commands if verb not in VERBS]
    assert found
    for verb in found:
        assert "device" not in [one.name for one in _command(verb).params], verb


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("device", ["cuda:99", "abacus"])
def test_a_device_that_is_not_there(fail, tmp_path, verb, device):
    """Before anything else: none of the files is there either."""
    to_map = ["x", "--to", "y", "--output", "z.csv"]
    own = {"build": ["x", "--output", "y"], "map": to_map, "annotate": ["x", "y", "--output", "z"]}
    arguments = own.get(verb, ["x", "y"])
    message = fail("E508", verb, *arguments, "--device", device)
    assert device in message and "--device cpu" in message
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_a_build_says_which_device_it_used(run, tmp_path, tiny_kb, tiny_encoder, device):
    arguments = ("build", tiny_kb.path, "--output", tmp_path / "assets", "--encoder", tiny_encoder)
    used = "cpu" if device == "cpu" else devices.describe(devices.find_device())
    said = run(*arguments, "--device", device).stdout
    assert f"encoder {tiny_encoder.name}, on {used}" in said
    assert Assets(tmp_path / "assets").manifest["encoder"]["device"] == used


@pytest.mark.parametrize("verb", ["link", "evaluate", "annotate", "learn"])
def test_every_verb_looks_for_the_device_that_it_is_given(
    run, tmp_path, tiny_assets, verb, monkeypatch
):
    """The option and whatever opens a network ask for "mps", which here is the processor."""
    meant: list[str] = []
    find = devices.find_device

    def found(name: str = "auto") -> torch.device:
        meant.append(name)
        return find("cpu" if name == "mps" else name)

    monkeypatch.setattr(devices, "find_device", found)
    lines = (note("fever", ("fever", "HP:0001945"), doc_id=str(n), lang="en") for n in range(60))
    gold = write_lines(tmp_path / "gold.jsonl", *lines)
    source, out = str(tiny_assets.path), tmp_path / "out"
    given: dict[str, list[Any]] = {
        "link": [source, "a high fewer"],
        "evaluate": [source, gold],
        "annotate": [source, gold, "--output", tmp_path / "links.jsonl"],
        "learn": [source, gold, "--output", out],
    }
    run(verb, *given[verb], "--device", "mps")
    # First by the option itself, then by what opens a network.
    assert meant.count("mps") >= 2, meant
    assert "auto" not in meant


def _command(verb: str) -> Any:
    return get_command(app).commands[verb]

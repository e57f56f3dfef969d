"""The container: what its files name is there, and what it runs is a command of ours."""

import configparser
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import srsly
import typer.main

from spacy_medlink.cli.app import app

ROOT = Path(__file__).parents[3]
DOCKER = ROOT / "docker"
RECIPE = (DOCKER / "Dockerfile").read_text(encoding="utf-8")


def _json_of(word):
    return json.loads(re.findall(rf"^{word} (\[.*\])$", RECIPE, re.MULTILINE)[-1])


def _copied():
    """What the first stage copies: (source, target) relative to the checkout and to /source."""
    for line in re.findall(r"^COPY (?!--from)(.*)$", RECIPE, re.MULTILINE):
        *sources, target = line.split()
        for source in sources:
            yield source, source if target == "./" else target


def test_the_context_has_what_is_copied_and_nothing_else():
    lines = (DOCKER / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    assert lines[0] == "*"
    assert {line[1:] for line in lines if line.startswith("!")} == {one for one, _ in _copied()}


def test_what_is_copied_is_enough_to_build_the_whole_package(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for name, target in _copied():
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / target)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    with ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        files = set(wheel.namelist())
    for path in (ROOT / "spacy_medlink").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert path.relative_to(ROOT).as_posix() in files


def test_what_it_runs_is_a_command():
    assert _json_of("ENTRYPOINT") == ["medlink"]
    verb, *arguments = _json_of("CMD")
    serve = typer.main.get_command(app).commands[verb]
    context = serve.make_context(verb, arguments)
    assert context.params["sources"] == ["/srv/medlink/assets"]
    assert context.params["host"] == "0.0.0.0"


@pytest.fixture(scope="module")
def service():
    return srsly.read_yaml(DOCKER / "compose.yaml")


def test_the_service_mounts_what_the_command_reads(service):
    one = service["services"]["medlink"]
    (assets,) = one["volumes"]
    assert assets["target"] == _json_of("CMD")[1]
    assert assets["read_only"] and one["read_only"]
    (secret,) = one["secrets"]
    assert f"/run/secrets/{secret}" in _json_of("CMD")
    assert all(port.startswith("127.0.0.1:") for port in one["ports"])


def test_extras_of_the_build_are_extras_of_the_package(service):
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    args = service["services"]["medlink"]["build"]["args"]["EXTRAS"]
    given = re.search(r"^ARG EXTRAS=(.*)$", RECIPE, re.MULTILINE)[1]
    assert args == f"${{MEDLINK_EXTRAS:-{given}}}"
    assert set(given.split(",")) <= set(setup["options.extras_require"])

"""The spaCy project lists the files of the open corpora, where its workflow looks for them."""

import json
from pathlib import Path

import pytest
from weasel.cli.assets import convert_asset_url, project_assets
from weasel.cli.document import project_document
from weasel.util import load_project_config

from tests.training.fetching.conftest import server as server
from tests.training.fetching.conftest import whole
from tests.training.test_download import zipped
from training.corpora.registry import CORPORA
from training.download import main as download
from training.fetching.place import where
from training.fetching.sources import Remote, Source, find_source, sources

ROOT = Path(__file__).parents[3]


CONFIG = load_project_config(ROOT)


def test_assets_are_the_files_of_the_open_sources():
    named = {asset["dest"]: asset for asset in CONFIG["assets"]}
    found = [source for source in sources().values() if source.files and not source.key]
    listed = {source.name for source in found if not source.name.endswith("-v1")}
    expected = {
        str(path): (name, url)
        for name in listed
        for url, path in where(find_source(name), Path("corpora") / name)
    }
    assert named.keys() == expected.keys()
    for dest, (name, url) in expected.items():
        asset = named[dest]
        assert asset["description"].startswith(f"{name}: ")
        assert (
            find_source(name).licence.split(", as")[0].split(" (https")[0] in asset["description"]
        )
        # weasel takes an address of github.com for a page, and changes it to one that is not there.
        if convert_asset_url(url) == url:
            assert asset["url"] == url
        else:
            assert "url" not in asset and f"training.download {name}" in asset["description"]


def test_assets_that_come_without_extra_are_those_of_the_workflow():
    wanted = {find_source(name).name for name in CONFIG["vars"]["corpora"].split()}
    assert {a["dest"].split("/")[2] for a in CONFIG["assets"] if not a.get("extra")} == wanted


def test_assets_that_weasel_fetched_are_what_the_workflow_takes(server, tmp_path, monkeypatch):
    dest = "corpora/downloads/tiny/tiny.zip"
    asset = {"dest": dest, "url": server.url("tiny.zip")}
    (tmp_path / "project.yml").write_text(json.dumps({"assets": [asset]}), encoding="utf8")
    server.otherwise = whole(zipped(a="1"))
    project_assets(tmp_path)
    assert (tmp_path / dest).is_file()
    source = Source("tiny", "CC0", "https://example.org", (Remote((server.url("tiny.zip"),)),))
    monkeypatch.setitem(sources(), "tiny", source)
    server.requests.clear()
    download(["tiny"], tmp_path / "corpora")
    assert (tmp_path / "corpora/tiny/a.txt").read_text() == "1" and server.requests == []


@pytest.mark.parametrize("project", [ROOT, ROOT / "training" / "papers"], ids=lambda p: p.name)
def test_document_says_what_each_step_is_for(project, tmp_path):
    config = load_project_config(project)
    (tmp_path / "project.yml").write_bytes((project / "project.yml").read_bytes())
    page = tmp_path / "README.md"
    project_document(tmp_path, page)
    text = page.read_text(encoding="utf8")
    for command in config["commands"]:
        assert command["help"] and f"| `{command['name']}` | {command['help']} |" in text
    for asset in config.get("assets", ()):
        row = (
            f"`{asset['dest']}` | {'URL' if 'url' in asset else 'Local'} | {asset['description']} |"
        )
        assert row in text


def test_only_the_step_of_that_name_downloads():
    found = {
        command["name"]
        for command in CONFIG["commands"]
        for line in command["script"]
        if "training.download" in line
    }
    assert found == {"download"}


def test_documentation_has_a_row_for_each():
    text = (ROOT / "docs" / "corpora.md").read_text(encoding="utf8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    converted = {line.split("`")[1] for line in rows if "training.corpora" in line}
    assert converted == CORPORA.keys()
    for name in CORPORA:
        (row,) = (line for line in rows if line.startswith(f"| `{name}` "))
        assert find_source(name).licence.split(" (")[0] in row
    assert all(source.homepage in text for source in sources().values())

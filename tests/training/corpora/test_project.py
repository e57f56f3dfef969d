"""The spaCy project lists the open corpora and never fetches any by itself."""

from pathlib import Path

import pytest
from weasel.cli.assets import project_assets
from weasel.util import load_project_config

from training.corpora.registry import CORPORA
from training.fetching.sources import SOURCES, find_source

ROOT = Path(__file__).parents[3]


def test_assets_are_the_open_corpora() -> None:
    config = load_project_config(ROOT)
    named = {Path(asset["dest"]).name: asset for asset in config["assets"]}
    open_ones = {find_source(name).name for name in CORPORA if not find_source(name).how}
    assert named.keys() == open_ones
    for name, asset in named.items():
        assert "url" not in asset
        assert asset["description"].endswith(f"python -m training.download {name}")


def test_listing_says_what_is_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Were something fetched, the guard against the network would raise."""
    (tmp_path / "project.yml").write_bytes((ROOT / "project.yml").read_bytes())
    (tmp_path / "corpora" / "cantemist").mkdir(parents=True)
    project_assets(tmp_path)
    out = " ".join(capsys.readouterr().out.split())
    assert "already exists" in out
    assert (
        out.count("You need to add this file yourself")
        == len(load_project_config(ROOT)["assets"]) - 1
    )


def test_no_workflow_downloads() -> None:
    config = load_project_config(ROOT)
    scripts = [line for command in config["commands"] for line in command["script"]]
    assert not any("training.download" in line for line in scripts)


def test_documentation_has_a_row_for_each() -> None:
    text = (ROOT / "docs" / "corpora.md").read_text(encoding="utf8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    converted = {line.split("`")[1] for line in rows if "training.corpora" in line}
    assert converted == CORPORA.keys()
    for name in CORPORA:
        (row,) = (line for line in rows if line.startswith(f"| `{name}` "))
        assert find_source(name).licence.split(" (")[0] in row
    assert all(source.homepage in text for source in SOURCES.values())

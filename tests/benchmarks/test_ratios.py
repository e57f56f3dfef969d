import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks import ratios
from benchmarks.ratios import RESULTS, Comparison, compare, compare_all, main, table, worst

RUN: dict[str, Any] = {
    "names": 100,
    "wanted": 60,
    "build": {"wall_s": 10.0, "peak_rss_mb": 200.0, "same_answers": True, "rows": 7},
    "speed": {"mentions_per_s": {"all tiers": 1000.0}, "starts": {"spacy.load": 0.5}},
    "tiers": [{"acc@1": 0.8, "ece": 0.1}],
    "machine": {"processor": "A", "cores": 2, "load": 1.0},
}


def _changed(**changes: Any) -> dict[str, Any]:
    run = json.loads(json.dumps(RUN))
    run["build"].update(changes.pop("build", {}))
    run["speed"]["mentions_per_s"].update(changes.pop("speed", {}))
    return {**run, **changes}


def _factors(found: Comparison) -> dict[str, float]:
    return {one.name: one.factor for one in found.figures}


def test_each_figure_has_its_way() -> None:
    found = compare("kb", RUN, _changed(build={"wall_s": 15.0, "peak_rss_mb": 100.0, "rows": 900},
                                        speed={"all tiers": 500.0}))  # fmt: skip
    assert _factors(found) == {
        "build.wall_s": 1.5,
        "build.peak_rss_mb": 0.5,
        "speed.mentions_per_s.all tiers": 2.0,
        "speed.starts.spacy.load": 1.0,
        "tiers.0.acc@1": 1.0,
        "tiers.0.ece": 1.0,
    }
    assert worst([found]) == 2.0
    lines = table([found]).splitlines()
    assert "| kb | build.wall_s | 10 | 15 | 1.50 | worse |" in lines
    assert "| kb | build.peak_rss_mb | 200 | 100 | 0.50 | better |" in lines
    assert "| kb | tiers.0.acc@1 | 0.8 | 0.8 | 1.00 |  |" in lines


def test_what_cannot_be_compared() -> None:
    assert compare("kb", RUN, _changed()).reason == "no new run"
    assert compare("kb", RUN, _changed(names=200)).reason == "another size (names)"
    elsewhere = compare("kb", RUN, _changed(build={"wall_s": 99.0}, machine={"processor": "B"}))
    assert elsewhere.figures and elsewhere.note == "another machine (processor, cores)"
    assert worst([elsewhere]) == 1.0


def test_a_figure_that_was_zero() -> None:
    found = compare("kb", _changed(build={"wall_s": 0.0}), _changed(build={"wall_s": 1.0}))
    assert _factors(found)["build.wall_s"] == float("inf")
    assert "| - | worse |" in table([found])


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one committed run and one new benchmark."""
    place = tmp_path / RESULTS
    place.mkdir(parents=True)
    (place / "kb.json").write_text(json.dumps(RUN), encoding="utf-8")
    person = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], [*person, "commit", "-qm", "a run"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (place / "kb.json").write_text(json.dumps(_changed(build={"wall_s": 20.0})), encoding="utf-8")
    (place / "other.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(ratios, "ROOT", tmp_path)
    return tmp_path


def test_against_the_committed_run(checkout: Path) -> None:
    kb, other = compare_all(checkout, "HEAD")
    assert _factors(kb)["build.wall_s"] == 2.0
    assert other == Comparison("other", [], "HEAD has no run")


@pytest.mark.usefixtures("checkout")
def test_the_exit_code_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    main("HEAD", 0.0)
    main("HEAD", 2.5)
    with pytest.raises(SystemExit) as stop:
        main("HEAD", 1.5)
    assert stop.value.code == 1
    assert "2.00 times worse" in capsys.readouterr().err


def test_committed_runs_hold_figures() -> None:
    """Every committed result has figures that a later run can be held against."""
    for path in sorted((Path(ratios.__file__).parent / "results").glob("*.json")):
        run = json.loads(path.read_text("utf-8"))
        assert dict(ratios._figures(run)), path.name

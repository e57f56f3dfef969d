import json
import sys

import pytest

from spacy_medlink.assets import Assets
from spacy_medlink.building import build_assets
from spacy_medlink.kb import build_kb
from spacy_medlink.types import Concept, Name

WORDS = "amber birch cedar dune ember fjord grove heath isle jade".split()
CONCEPTS = [
    Concept(f"X:{a}{b}", f"{a} {b} disease", (Name(f"{a} {b} disease"), Name(f"disease {b}, {a}")))
    for a in WORDS for b in WORDS[:6]
]  # fmt: skip


@pytest.fixture
def place(tmp_path):
    build_kb(tmp_path / "kb", CONCEPTS)
    build_assets(tmp_path / "assets", tmp_path / "kb")
    lines = [
        {"mention": text, "ids": [one.id]}
        for one in CONCEPTS for text in (one.name, f"{one.name[:-4]}es")
    ]  # fmt: skip
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return tmp_path


def test_a_table_a_diagram_and_new_assets(run, place):
    result = run(
        "calibrate", place / "assets", "--dev", place / "gold.jsonl", "--target-precision", "0.6",
        "--output", place / "new",
    )  # fmt: skip
    head, *rest = result.stdout.splitlines()
    assert head.split() == "threshold precision % +/- coverage % linked %".split()
    facts = Assets(place / "new", verify=True).manifest["calibrator"]
    (chosen,) = [line for line in rest if line.endswith("chosen")]
    assert chosen.split()[0] == f"{facts['threshold']:.3f}"
    assert f"expected calibration error {facts['calibration_error']:.3f}" in result.stdout
    assert "120 mentions of 60 concepts (gold.jsonl), 20 % of the concepts removed" in result.stdout
    assert (place / "new.reliability.png").read_bytes().startswith(b"\x89PNG")
    built = Assets(place / "assets").manifest["calibrator"]
    assert built["fitted_on"] == {"names": "of the knowledge base"}  # it is not touched
    linked = json.loads(run("link", place / "new", "amber birch disease", "--json").stdout)
    assert linked[0]["candidates"][0]["prob"] > 0


def test_in_place_on_names_with_a_diagram_of_ones_own(run, place):
    drawn = place / "there" / "own.png"
    run("calibrate", place / "assets", "--target-precision", "0.5", "--diagram", drawn)
    facts = Assets(place / "assets", verify=True).manifest["calibrator"]
    assert facts["fitted_on"] == {"names": "of the knowledge base"}
    assert drawn.is_file()
    assert not (place / "assets.reliability.png").exists()


def test_without_matplotlib_a_warning_says_what_is_missing(run, place, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run(
        "calibrate", place / "assets", "--dev", place / "gold.jsonl", "--target-precision", "0.6"
    )
    assert "[W406]" in result.stderr
    assert "spacy-medlink[train]" in result.stderr
    assert Assets(place / "assets").manifest["calibrator"]["threshold"] > 0
    assert not (place / "assets.reliability.png").exists()


def test_what_is_refused(run, fail, place, tmp_path):
    fail("E201", "calibrate", tmp_path / "nothing")
    fail("E107", "calibrate", place / "assets", "--dev", tmp_path / "nothing")
    message = fail("E414", "calibrate", place / "assets", "--target-precision", "1")
    assert "--target-precision" in message
    for option, value in (("--target-precision", "1.5"), ("--nil-share", "0.9")):
        run("calibrate", place / "assets", option, value, expect=2)
    built = Assets(place / "assets").manifest["calibrator"]
    assert built["fitted_on"] == {"names": "of the knowledge base"}  # it is not touched

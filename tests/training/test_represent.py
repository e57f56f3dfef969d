import json
import subprocess
import sys
from pathlib import Path

import pytest

from spacy_medlink.kb import KnowledgeBase
from training import represent
from training.representations.triplets import Triplet


def test_similarity(tmp_path: Path, tiny_encoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs, output = tmp_path / "pairs.csv", tmp_path / "out" / "figures.json"
    pairs.write_text("term1,term2,mean\nasthma,fever,1\nasthma,Asthma,4\nfever,headache,2\nx,,1\n")
    represent.similarity_verb(pairs, tiny_encoder, output=output)
    found = json.loads(output.read_text("utf-8"))
    assert found["task"] == "similarity" and found["n"] == 3
    assert found["left_out"] == {"pairs without two terms and a number": 1}
    shown = capsys.readouterr()
    assert json.loads(shown.out) == found
    assert "1 left out" in shown.err


def test_relations_and_mcsm(tmp_path: Path, tiny_encoder: Path, tiny_kb: KnowledgeBase) -> None:
    triplets, output = tmp_path / "triplets.csv", tmp_path / "figures.json"
    rows = [Triplet("HP:0002099", "HP:0001945", f"r{number % 2}") for number in range(20)]
    lines = ["head,tail,relation", *(",".join(row) for row in rows)]
    triplets.write_text("\n".join(lines), encoding="utf-8")
    represent.relations_verb(triplets, tiny_encoder, kb=tiny_kb.path, epochs=1, output=output)
    found = json.loads(output.read_text("utf-8"))
    assert (found["n_train"], found["n_test"], found["tuned"]) == (16, 4, False)
    represent.relations_verb(triplets, tiny_encoder, kb=tiny_kb.path, test=triplets, tune=True,
                             epochs=1, output=output)  # fmt: skip
    found = json.loads(output.read_text("utf-8"))
    assert (found["n_train"], found["n_test"], found["tuned"]) == (20, 20, True)
    represent.mcsm_verb(tiny_kb.path, tiny_encoder, k=3, output=output)
    found = json.loads(output.read_text("utf-8"))
    assert found["concepts"] == len(tiny_kb) and found["types"]["T047"]["mcsm"] > 1


def test_picture(tmp_path: Path, tiny_encoder: Path, tiny_kb: KnowledgeBase) -> None:
    picture, output = tmp_path / "names.png", tmp_path / "figures.json"
    encoders = [tiny_encoder, tiny_encoder]
    represent.picture_verb(tiny_kb.path, picture, encoders, concepts=5, output=output)
    assert picture.read_bytes().startswith(b"\x89PNG")
    found = json.loads(output.read_text("utf-8"))
    assert found["concepts"] == 5 and len(found["nearest_is_synonym"]) == 2


def test_from_the_command_line(tmp_path: Path, tiny_encoder: Path) -> None:
    command = [sys.executable, "-m", "training.represent", "similarity"]
    missing = subprocess.run(
        [*command, str(tmp_path / "none.csv"), "--encoder", str(tiny_encoder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert missing.returncode == 1
    assert missing.stderr.startswith("[E") and "Traceback" not in missing.stderr

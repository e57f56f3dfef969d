"""`python -m training.corpora stats`: counts against those of a look at the files."""

from pathlib import Path

from typer import Typer
from typer.testing import CliRunner

from tests.lines import write_lines
from tests.training.corpora.samples import write_files
from training.corpora.statistics import main

APP = Typer()
APP.command()(main)
TRAIN = [("gout", "D1"), ("Gout", "D1"), ("asthma", "D2")]
TEST = [("GOUT", "D1"), ("asthmas", "D2"), ("rare thing", "D3"), ("rare thing", "D3")]


def _stats(*arguments: object) -> dict[tuple[str, str], list[str]]:
    """Run the command. RETURNS the cells after part and what, by these."""
    result = CliRunner().invoke(APP, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    lines = (line for line in result.output.splitlines()[1:])
    return {(line[19:49].strip(), line[50:66].strip()): line[66:].split() for line in lines}


def _gold(path: Path, mentions: list[tuple[str, str]]) -> Path:
    return write_lines(
        path, *({"mention": text, "ids": [id], "lang": "es"} for text, id in mentions)
    )


def test_gold_and_what_test_and_training_share(tmp_path):
    (tmp_path / "data").mkdir()
    _gold(tmp_path / "data" / "cantemist.train.jsonl", TRAIN)
    _gold(tmp_path / "data" / "cantemist.test.jsonl", TEST)
    names = {"concept_id": "D3", "canonical_name": "Rare things", "aliases": ["odd"]}
    kb = write_lines(tmp_path / "rare.kb.jsonl", names)
    counts = _stats(tmp_path / "data", "--kb", kb)
    ours = {key: cells[0] for key, cells in counts.items()}
    assert ours["train", "mentions"] == "3" and ours["train", "distinct"] == "2"
    assert ours["train test", "mentions"] == "7" and ours["train test", "concepts"] == "3"
    assert ours["test", "mentions seen"] == "1" and ours["test", "concepts seen"] == "2"
    assert ours["test filtered_train", "mentions"] == "3"
    assert ours["test filtered_0.2_train", "mentions"] == "2"  # without "asthmas"
    assert ours["test filtered_0.2_train", "concepts"] == "1"
    assert ours["test filtered_dictionary", "mentions"] == "4"
    assert ours["test filtered_0.2_dictionary", "mentions"] == "2"
    # Beside the printed counts, with the difference.
    assert counts["test", "mentions"][:3] == ["4", "3,635", "-3,631"]
    assert "Crossing," in counts["test", "mentions"]


def test_folds_are_averaged_and_languages_and_types_are_parts(tmp_path):
    folds = {
        f"askapatient/AskAPatient.fold-{fold}.validation.txt": "1\ta\tache\n" * (1 + fold)
        for fold in range(2)
    }
    counts = _stats(write_files(tmp_path, folds) / "askapatient")
    assert counts["dev", "mentions"][:3] == ["1.5", "792.6", "-791.1"]
    assert counts["test", "mentions"][:2] == ["-", "866.2"]  # printed alone
    queries = {f"xl-bel/{lang}_1k_test_query.txt": "C1||x\nC1||X\n" for lang in ("de", "fi")}
    counts = _stats(write_files(tmp_path, queries) / "xl-bel")
    assert counts["fi", "mentions"][:3] == ["2", "1,000", "-998"]
    assert counts["fi", "distinct"] == ["1"]


def test_dictionaries_and_translations(tmp_path):
    muse = {"muse/en-de.txt": "lung Lunge\nlung Lunge\n", "muse/en-ko.txt": "lung 폐\n"}
    counts = _stats(write_files(tmp_path, muse) / "muse")
    assert counts["de", "pairs"][:3] == ["1", "101,931", "-101,930"]
    names = [{"name": text, "lang": "de"} for text in ("Gicht", "gicht")]
    record = {"concept_id": "D1", "canonical_name": "gout", "names": names}
    counts = _stats(write_lines(tmp_path / "umls-0af.kb.jsonl", record))
    assert counts["de", "names"][:2] == ["2", "231,098"]
    assert counts["all", "concepts"] == ["1"]


def test_nothing_that_is_known(tmp_path):
    result = CliRunner().invoke(APP, [str(tmp_path)])
    assert result.exception is not None and "E407" in str(result.exception)


def test_cantemist_is_that_of_the_paper(data_dir):
    counts = _stats(data_dir / "cantemist.train.jsonl.gz")
    assert counts["train", "mentions"][:3] == ["6,396", "6,396", "="]
    assert counts["train", "concepts"][:3] == ["493", "493", "="]


def test_medic_is_that_of_the_paper(data_dir):
    assert _stats(data_dir / "medic_2012.kb.jsonl.gz")["all", "concepts"][:3] == [
        *["11,915"] * 2,
        "=",
    ]

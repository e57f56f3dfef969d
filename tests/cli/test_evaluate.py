"""`medlink evaluate`: the table, the JSON, and gold files that are not as they should be."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.assets import Assets
from tests.cli.conftest import Run
from tests.pipelines import pipeline
from tests.tables import table

TEXT = "Heart attack (HA) last year. HA again, with Fever."
NOTE: dict[str, Any] = {
    "doc_id": "1",
    "lang": "en",
    "text": TEXT,
    "mentions": [
        {"start": 0, "end": 12, "mention": "Heart attack", "ids": ["HP:0001658"], "type": "D"},
        {"start": 29, "end": 31, "mention": "HA", "ids": ["UMLS:C0027051"], "type": "D"},
        {"start": 44, "end": 49, "mention": "Fever", "ids": ["HP:0001945"], "type": "S"},
    ],
}


def _write(path: Path, *lines: Any) -> Path:
    data = "\n".join(json.dumps(line) for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return _write(tmp_path / "gold.jsonl.gz", NOTE)


Evaluate = Callable[..., tuple[Any, dict[str, Any]]]


@pytest.fixture
def evaluate(run: Run, tiny_assets: Assets, tmp_path: Path) -> Evaluate:
    """Evaluate over the tiny assets: what is printed, and the metrics."""

    def evaluate(gold: Path, *options: object, source: object = tiny_assets.path) -> Any:
        output = tmp_path / "new" / "metrics.json"
        result = run("evaluate", source, gold, "--output", output, *options)
        return result, json.loads(output.read_text("utf-8"))

    return evaluate


def _tables(stdout: str) -> dict[str, list[list[str]]]:
    """The rows of each table by its title, with the header and without the note."""
    parts = (part.splitlines() for part in stdout.strip().split("\n\n"))
    return {
        title.rstrip(":"): [re.split(r"  +", line.strip()) for line in lines if "  " in line]
        for title, *lines in parts
    }


def test_table_and_metrics(evaluate, gold):
    result, metrics = evaluate(gold, "--k", "5,1", "--all-tiers")
    assert result.stderr == ""
    tables = _tables(result.stdout)
    header, *rows = tables["Systems"]
    assert header[2:6] == ["gold in KB", "acc@1", "acc@5", "MRR"]
    linker = "exact + ngram + dense (the linker)"
    assert [row[0] for row in rows] == ["exact look-up", "n-grams", "dense", linker]
    assert rows[0][1:7] == ["3", "3", "100.0", "100.0", "100.0", "100.0 to 100.0"]
    groups = [title for title in tables if title.startswith("By")]
    assert groups == ["By type", "By abbreviation", "By length", "By semantic type"]
    assert [row[0] for row in tables["By length"][1:]] == ["1 word", "2 words"]
    assert metrics["baselines"]["exact"]["acc@1"] == 1.0
    assert {"n", "gold_in_kb", "acc@1", "acc@5", "mrr", "nil", "by_lang", "by_type", "splits",
            "kb", "speed"} <= metrics.keys()  # fmt: skip


def test_tiers_protocol_and_reference(evaluate, gold):
    names = ("--tiers", "ngram,exact", "--protocol", "names", "--train", "dictionary")
    tables = _tables(stdout := evaluate(gold, *names, "--no-baselines")[0].stdout)
    assert [row[:2] for row in tables["Systems"][1:]] == [["exact + ngram (the linker)", "3"]]
    assert [row[2] for row in tables["Fair parts of the test data"][1:]] == ["3", "1", "1"]
    assert "Ranks count names." in stdout


def test_train_and_dictionary(evaluate, gold, tmp_path):
    train = _write(tmp_path / "train.jsonl", {"mention": "Fever", "ids": ["C0015967"]})
    _, metrics = evaluate(gold, "--train", train, "--train", "dictionary")
    for system in (metrics, *metrics["baselines"].values()):
        assert {name: split["n"] for name, split in system["splits"].items()} == {
            "full": 3, "filtered_train": 2, "filtered_0.2_train": 2, "unseen_codes": 2,
            "filtered_dictionary": 1, "filtered_0.2_dictionary": 1,
        }  # fmt: skip
    # The codes are the same concept in two vocabularies.
    assert {group: own["n"] for group, own in metrics["by_code"].items()} == {
        "seen": 1, "unseen": 2
    }  # fmt: skip


def test_what_is_private_is_kept_only_where_asked_for(evaluate, gold, tmp_path):
    said = json.dumps(evaluate(gold)[1])
    assert "last year" not in said
    assert '"HA"' not in said
    assert str(tmp_path) not in said
    assert " last year. HA again" in json.dumps(evaluate(gold, "--with-text")[1])


def test_against_another_system(evaluate, run, fail, tiny_assets, gold, tmp_path):
    lines = [{"mention": text, "ids": ["HP:0001945"]} for text in ["fiebres"] * 6]
    hard = _write(tmp_path / "hard.jsonl", *lines)
    exact, other = tmp_path / "exact.json", tmp_path / "other.json"
    run("evaluate", tiny_assets.path, hard, "--tiers", "exact", "--output", exact)
    result, metrics = evaluate(hard, "--tiers", "ngram", "--against", exact)
    assert "the linker against exact.json: acc@1" in result.stdout
    found = metrics["against"]
    ours = found["acc@1"]["ours"]
    assert found["acc@1"]["difference"] == pytest.approx(ours - found["acc@1"]["theirs"])
    run("evaluate", tiny_assets.path, gold, "--output", other)
    assert "3 mentions, not 6" in fail(
        "E411", "evaluate", tiny_assets.path, hard, "--against", other
    )
    fail("E160", "evaluate", tiny_assets.path, hard, "--against", hard)
    fail("E107", "evaluate", tiny_assets.path, hard, "--against", tmp_path / "none.json")


def test_gold_ids_of_another_terminology(evaluate, tmp_path):
    lines = [{"mention": "Type 2 diabetes", "ids": ["E11"]}, {"mention": "Fever", "ids": ["X"]}]
    gold = _write(tmp_path / "gold.jsonl", *lines)
    for scheme, known in (("ICD10CM", 1), ("UMLS", 0)):
        _, metrics = evaluate(gold, "--gold-scheme", scheme)
        assert metrics["gold_in_kb"] == known
        assert metrics["gold"]["ids"] == {**({"code": 1} if known else {}), "unknown": 2 - known}


@pytest.mark.parametrize("lang", ["en", "qq"], ids=["known", "unknown to spaCy"])
def test_end_to_end(evaluate, tmp_path, lang):
    gold = _write(tmp_path / "g.jsonl", {**NOTE, "lang": lang})
    result, metrics = evaluate(gold, "--end-to-end")
    # The text names heart attack and fever, and defines "HA": where it stands twice, gold has one.
    scores = metrics["end_to_end"]
    assert (scores["gold"], scores["predicted"]) == (3, 4)
    assert scores["strict"] == {
        "precision": 0.75, "recall": 1.0, "f1": 0.857143, "f1_ci95": [0.857143, 0.857143]
    }  # fmt: skip
    assert scores["document"]["f1"] == 1.0
    assert "3 gold links, 4 predicted in 1 documents" in result.stdout
    assert "spans alone, touching" in result.stdout


def test_a_saved_pipeline_keeps_its_threshold(evaluate, tiny_assets, tmp_path):
    # The plural is found through its key, and scores less than 1.
    mention = {"start": 0, "end": 13, "mention": "Heart attacks", "ids": ["HP:0001658"]}
    gold = _write(tmp_path / "gold.jsonl", {"text": "Heart attacks.", "mentions": [mention]})
    pipeline(tiny_assets).to_disk(tmp_path / "pipeline")
    config = tmp_path / "pipeline" / "config.cfg"
    text = config.read_text(encoding="utf-8")
    assert text.count("threshold = null") == 1
    config.write_text(text.replace("threshold = null", "threshold = 1.0"), encoding="utf-8")
    for extra, predicted in (((), 0), (("--threshold", "0"), 1)):
        _, metrics = evaluate(gold, "--end-to-end", *extra, source=tmp_path / "pipeline")
        assert metrics["end_to_end"]["predicted"] == predicted


def test_ids_that_the_knowledge_base_lacks_are_reported(evaluate, tmp_path):
    gold = _write(tmp_path / "gold.jsonl", NOTE, {"mention": "Fever", "ids": ["D005334"]})
    result, _ = evaluate(gold, "--tiers", "exact")
    assert result.stderr.startswith("[W401] 1 of 4 gold mentions have no id")
    assert "such as D005334; its own are like HP:0000819" in result.stderr
    assert _tables(result.stdout)["Systems"][1][1:4] == ["4", "3", "75.0"]
    result, _ = evaluate(gold, "--tiers", "exact", "--only-known")
    assert result.stderr.startswith("[W401] 1 of 4 gold mentions have no id")
    assert _tables(result.stdout)["Systems"][1][1:4] == ["3", "3", "100.0"]


def test_nils_are_reported(evaluate, tmp_path):
    gold = _write(tmp_path / "gold.jsonl", NOTE, {"mention": "zebra", "ids": []})
    stdout = evaluate(gold, "--tiers", "exact")[0].stdout
    figures = ["1", "1", "100.0", "100.0", "100.0", "-"]
    assert _tables(stdout)["NIL and links"][1] == ["the linker: NIL", *figures]


def test_bad_gold(fail, tiny_assets, tmp_path):
    def message(code: str, *lines: Any) -> str:
        return fail(code, "evaluate", tiny_assets.path, _write(tmp_path / "gold.jsonl", *lines))

    past = {"text": "short", "mentions": [{"start": 0, "end": 99, "mention": "x", "ids": ["A"]}]}
    assert "line 2" in message("E401", NOTE, past)
    assert "line 2" in message("E401", NOTE, {"mention": "x"})
    message("E404")
    message("E407", {"mention": "x", "ids": []})
    fail("E107", "evaluate", tiny_assets.path, tmp_path / "none.jsonl")


def test_bad_assets_and_references(fail, tiny_assets, gold, tmp_path):
    fail("E201", "evaluate", tmp_path / "none", gold)
    fail("E405", "evaluate", "starter", gold, "--tiers", "dense")
    fail("E107", "evaluate", tiny_assets.path, gold, "--train", tmp_path / "none")
    bare = _write(tmp_path / "bare.jsonl", {"mention": "Fever", "ids": ["HP:0001945"]})
    fail("E407", "evaluate", tiny_assets.path, bare, "--end-to-end")


def test_output_that_cannot_be_written(run, tiny_assets, gold):
    output = gold / "metrics.json"
    result = run("evaluate", tiny_assets.path, gold, "--output", output, expect=1)
    assert result.stderr.startswith("[E109]")


@table(__file__, "usage")
def test_usage(run, tiny_assets, gold, arguments, said):
    result = run("evaluate", tiny_assets.path, gold, *arguments, expect=2)
    assert said in " ".join(result.stderr.split())


_FEVER = "Fever and asthma, no fever."


def _mention(start: int, end: int, said: str, *ids: str, **other: Any) -> dict[str, Any]:
    mention = {"start": start, "end": end, "mention": said, "ids": list(ids)}
    return {"text": _FEVER, "mentions": [mention], **other}


def test_of_many_mismatches_ten_are_shown(evaluate, fail, tiny_assets, tmp_path):
    wrong = [_mention(0, 4, "Fever", "HP:0001945") for _ in range(13)]
    gold = _write(tmp_path / "gold.jsonl", _mention(0, 5, "Fever", "HP:0001945"), *wrong)
    result, metrics = evaluate(gold, "--tiers", "exact")
    assert result.stderr.startswith("[W105] 13 gold mentions differ from")
    assert [f"line {line}:" in result.stderr for line in range(2, 15)] == [True] * 10 + [False] * 3
    assert "Fever" not in result.stderr
    assert (metrics["mismatches"], metrics["n"], metrics["acc@1"]) == (13, 14, 1.0)
    assert "line 2" in fail("E403", "evaluate", tiny_assets.path, gold, "--strict")


def test_ids_that_no_knowledge_base_knows(evaluate, tmp_path):
    gold = _write(
        tmp_path / "gold.jsonl",
        _mention(0, 5, "Fever", "Q1"),
        _mention(10, 16, "asthma", "no such id", "X:0"),
    )
    result, metrics = evaluate(gold, "--tiers", "exact", "--train", gold, "--end-to-end")
    assert result.stderr.startswith("[W401] 2 of 2 gold mentions have no id")
    assert (metrics["n"], metrics["gold_in_kb"], metrics["acc@1"], metrics["mrr"]) == (2, 0, 0, 0)
    assert metrics["verdicts"]["not in KB"] == 2
    assert metrics["gold"]["ids"] == {"unknown": 3}
    assert metrics["end_to_end"]["strict"]["recall"] == 0
    result, metrics = evaluate(gold, "--tiers", "exact", "--only-known")
    assert result.stderr.startswith("[W401] 2 of 2")
    assert (metrics["n"], metrics["acc@1"], metrics["gold"]["left_out"]) == (0, None, 2)


# Without a time: all processes of a run must see the same tests.
@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_an_empty_file(fail, tiny_assets, tmp_path, content):
    name = "empty.jsonl.gz" if content.startswith(b"\x1f\x8b") else "empty.jsonl"
    empty, gold = tmp_path / name, _write(tmp_path / "gold.jsonl", _mention(0, 5, "Fever", "A"))
    empty.write_bytes(content)
    assert name in fail("E404", "evaluate", tiny_assets.path, empty)
    assert name in fail("E404", "evaluate", tiny_assets.path, gold, "--train", empty)


def test_two_documents_with_one_id(evaluate, fail, tiny_assets, tmp_path):
    lines = [_mention(0, 5, "Fever", "HP:0001945", doc_id=id) for id in ("a", "b", "a")]
    gold = _write(tmp_path / "gold.jsonl", *lines)
    result, metrics = evaluate(gold, "--tiers", "exact")
    assert "line 3: the document 'a' is in line 1 already" in result.stderr
    # They are told apart all the same: three documents, three mentions.
    assert (metrics["gold"]["documents"], metrics["gold"]["repeated_documents"]) == (3, 1)
    assert metrics["n"] == 3
    assert "line 3" in fail("E403", "evaluate", tiny_assets.path, gold, "--strict")

"""`medlink evaluate`: the table, the JSON, and gold files that are not as they should be."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
import spacy

from spacy_medlink.assets import Assets
from tests.cli.conftest import Fail, Run

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


def _table(stdout: str) -> list[list[str]]:
    lines = stdout.partition("\n\n")[0].splitlines()
    return [re.split(r"  +", line.strip()) for line in lines]


def test_table_and_metrics(run: Run, tiny_assets: Assets, gold: Path, tmp_path: Path) -> None:
    output = tmp_path / "new" / "metrics.json"
    result = run(
        "evaluate", tiny_assets.path, gold, "--k", "5,1", "--all-tiers", "--output", output
    )
    assert result.stderr == ""
    header, *rows = _table(result.stdout)
    assert header == ["%", "mentions", "in KB", "acc@1", "acc@5", "MRR", "mentions/s"]
    assert [row[0] for row in rows] == [
        "exact", "ngram", "dense", "exact + ngram + dense", "type D", "type S",
        "abbreviation no", "abbreviation yes", "length 1 word", "length 2 words",
        "semantic type T047", "semantic type T184",
    ]  # fmt: skip
    assert rows[0][1:6] == ["3", "3", "100.0", "100.0", "100.0"]
    metrics = json.loads(output.read_text(encoding="utf-8"))
    assert metrics["baselines"]["exact"]["acc@1"] == 1.0
    assert {"n", "gold_in_kb", "acc@1", "acc@5", "mrr", "nil", "by_lang", "by_type", "splits",
            "kb", "speed"} <= metrics.keys()  # fmt: skip
    assert "95 % interval of acc@1: 100.0 to 100.0" in result.stdout


def test_tiers_protocol_and_reference(run: Run, tiny_assets: Assets, gold: Path) -> None:
    stdout = run(
        "evaluate", tiny_assets.path, gold, "--tiers", "ngram,exact", "--protocol", "names",
        "--train", "dictionary", "--no-baselines",
    ).stdout  # fmt: skip
    assert [row[:2] for row in _table(stdout)[1:7]] == [
        ["exact + ngram", "3"], ["split full", "3"], ["split filtered_dictionary", "1"],
        ["split filtered_0.2_dictionary", "1"], ["type D", "2"], ["type S", "1"],
    ]  # fmt: skip
    assert "Ranks count names." in stdout


def test_train_and_dictionary(run: Run, tiny_assets: Assets, gold: Path, tmp_path: Path) -> None:
    train = _write(tmp_path / "train.jsonl", {"mention": "Fever", "ids": ["C0015967"]})
    output = tmp_path / "metrics.json"
    run("evaluate", tiny_assets.path, gold, "--train", train, "--train", "dictionary",
        "--output", output)  # fmt: skip
    metrics = json.loads(output.read_text(encoding="utf-8"))
    for system in (metrics, *metrics["baselines"].values()):
        assert {name: split["n"] for name, split in system["splits"].items()} == {
            "full": 3, "filtered_train": 2, "filtered_0.2_train": 2, "unseen_codes": 2,
            "filtered_dictionary": 1, "filtered_0.2_dictionary": 1,
        }  # fmt: skip
    # The codes are the same concept in two vocabularies.
    assert {group: own["n"] for group, own in metrics["by_code"].items()} == {
        "seen": 1, "unseen": 2
    }  # fmt: skip


def test_what_is_private_is_kept_only_where_asked_for(
    run: Run, tiny_assets: Assets, gold: Path, tmp_path: Path
) -> None:
    output = tmp_path / "metrics.json"
    run("evaluate", tiny_assets.path, gold, "--output", output)
    said = output.read_text(encoding="utf-8")
    assert "last year" not in said
    assert '"HA"' not in said
    assert str(tmp_path) not in said
    run("evaluate", tiny_assets.path, gold, "--output", output, "--with-text")
    assert " last year. HA again" in output.read_text(encoding="utf-8")


def test_against_another_system(
    run: Run, fail: Fail, tiny_assets: Assets, gold: Path, tmp_path: Path
) -> None:
    lines = [{"mention": text, "ids": ["HP:0001945"]} for text in ["fiebres"] * 6]
    hard = _write(tmp_path / "hard.jsonl", *lines)
    exact, other = tmp_path / "exact.json", tmp_path / "other.json"
    run("evaluate", tiny_assets.path, hard, "--tiers", "exact", "--output", exact)
    output = tmp_path / "ngram.json"
    stdout = run(
        "evaluate", tiny_assets.path, hard, "--tiers", "ngram", "--against", exact,
        "--output", output,
    ).stdout  # fmt: skip
    assert "Against exact.json, the same mentions:" in stdout
    found = json.loads(output.read_text(encoding="utf-8"))["against"]
    ours = found["acc@1"]["ours"]
    assert found["acc@1"]["difference"] == pytest.approx(ours - found["acc@1"]["theirs"])
    run("evaluate", tiny_assets.path, gold, "--output", other)
    assert "3 mentions, not 6" in fail(
        "E411", "evaluate", tiny_assets.path, hard, "--against", other
    )
    fail("E160", "evaluate", tiny_assets.path, hard, "--against", hard)
    fail("E107", "evaluate", tiny_assets.path, hard, "--against", tmp_path / "none.json")


def test_gold_ids_of_another_terminology(run: Run, tiny_assets: Assets, tmp_path: Path) -> None:
    lines = [{"mention": "Type 2 diabetes", "ids": ["E11"]}, {"mention": "Fever", "ids": ["X"]}]
    gold = _write(tmp_path / "gold.jsonl", *lines)
    output = tmp_path / "metrics.json"
    for scheme, known in (("ICD10CM", 1), ("UMLS", 0)):
        run("evaluate", tiny_assets.path, gold, "--gold-scheme", scheme, "--output", output)
        metrics = json.loads(output.read_text(encoding="utf-8"))
        assert metrics["gold_in_kb"] == known
        assert metrics["gold"]["ids"] == {**({"code": 1} if known else {}), "unknown": 2 - known}


@pytest.mark.parametrize("lang", ["en", "qq"], ids=["known", "unknown to spaCy"])
def test_end_to_end(run: Run, tiny_assets: Assets, tmp_path: Path, lang: str) -> None:
    gold, output = _write(tmp_path / "g.jsonl", {**NOTE, "lang": lang}), tmp_path / "metrics.json"
    stdout = run("evaluate", tiny_assets.path, gold, "--end-to-end", "--output", output).stdout
    # The text names heart attack and fever, and defines "HA": where it stands twice, gold has one.
    scores = json.loads(output.read_text(encoding="utf-8"))["end_to_end"]
    assert (scores["gold"], scores["predicted"]) == (3, 4)
    assert scores["strict"] == {
        "precision": 0.75, "recall": 1.0, "f1": 0.857143, "f1_ci95": [0.857143, 0.857143]
    }  # fmt: skip
    assert scores["document"]["f1"] == 1.0
    assert "End to end over 1 documents: 3 gold links, 4 predicted" in stdout
    assert "spans overlap" in stdout


def test_a_saved_pipeline_keeps_its_threshold(
    run: Run, tiny_assets: Assets, tmp_path: Path
) -> None:
    # The plural is found through its key, and scores less than 1.
    mention = {"start": 0, "end": 13, "mention": "Heart attacks", "ids": ["HP:0001658"]}
    gold = _write(tmp_path / "gold.jsonl", {"text": "Heart attacks.", "mentions": [mention]})
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions", config={"assets": str(tiny_assets.path)})
    nlp.add_pipe("medical_linker", config={"assets": str(tiny_assets.path)})
    nlp.to_disk(tmp_path / "pipeline")
    config = tmp_path / "pipeline" / "config.cfg"
    text = config.read_text(encoding="utf-8")
    assert text.count("threshold = null") == 1
    config.write_text(text.replace("threshold = null", "threshold = 1.0"), encoding="utf-8")
    output = tmp_path / "metrics.json"
    arguments = ("evaluate", tmp_path / "pipeline", gold, "--end-to-end", "--output", output)
    found = []
    for extra in ((), ("--threshold", "0")):
        run(*arguments, *extra)
        found.append(json.loads(output.read_text(encoding="utf-8"))["end_to_end"]["predicted"])
    assert found == [0, 1]


def test_ids_that_the_knowledge_base_lacks_are_reported(
    run: Run, tiny_assets: Assets, gold: Path, tmp_path: Path
) -> None:
    gold = _write(tmp_path / "gold.jsonl", NOTE, {"mention": "Fever", "ids": ["D005334"]})
    result = run("evaluate", tiny_assets.path, gold, "--tiers", "exact")
    assert result.stderr.startswith("[W401] 1 of 4 gold mentions have no id")
    assert "such as D005334; its own are like HP:0000819" in result.stderr
    assert _table(result.stdout)[1][1:4] == ["4", "3", "75.0"]
    assert "lacks: 1 (wrong)" in result.stdout
    result = run("evaluate", tiny_assets.path, gold, "--tiers", "exact", "--only-known")
    assert result.stderr.startswith("[W401] 1 of 4 gold mentions have no id")
    assert _table(result.stdout)[1][1:4] == ["3", "3", "100.0"]
    assert "lacks: 1 (left out)" in result.stdout


def test_nils_are_reported(run: Run, tiny_assets: Assets, tmp_path: Path) -> None:
    gold = _write(tmp_path / "gold.jsonl", NOTE, {"mention": "zebra", "ids": []})
    stdout = run("evaluate", tiny_assets.path, gold, "--tiers", "exact").stdout
    assert "NIL: 1 gold, 1 predicted, precision 100.0, recall 100.0, f1 100.0." in stdout


def test_bad_gold(fail: Fail, tiny_assets: Assets, tmp_path: Path) -> None:
    def message(code: str, *lines: Any) -> str:
        return fail(code, "evaluate", tiny_assets.path, _write(tmp_path / "gold.jsonl", *lines))

    past = {"text": "short", "mentions": [{"start": 0, "end": 99, "mention": "x", "ids": ["A"]}]}
    assert "line 2" in message("E401", NOTE, past)
    assert "line 2" in message("E401", NOTE, {"mention": "x"})
    message("E404")
    message("E407", {"mention": "x", "ids": []})
    fail("E107", "evaluate", tiny_assets.path, tmp_path / "none.jsonl")


def test_bad_assets_and_references(
    fail: Fail, tiny_assets: Assets, gold: Path, tmp_path: Path
) -> None:
    fail("E201", "evaluate", tmp_path / "none", gold)
    fail("E405", "evaluate", "starter", gold, "--tiers", "dense")
    fail("E107", "evaluate", tiny_assets.path, gold, "--train", tmp_path / "none")
    bare = _write(tmp_path / "bare.jsonl", {"mention": "Fever", "ids": ["HP:0001945"]})
    fail("E407", "evaluate", tiny_assets.path, bare, "--end-to-end")


def test_output_that_cannot_be_written(run: Run, tiny_assets: Assets, gold: Path) -> None:
    output = gold / "metrics.json"
    result = run("evaluate", tiny_assets.path, gold, "--output", output, expect=1)
    assert result.stderr.startswith("[E109]")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--k", "0"), "not a list of whole numbers"),
        (("--k", "1,x"), "not a list of whole numbers"),
        (("--k", ""), "not a list of whole numbers"),
        (("--tiers", "exact,dnese"), "'dnese' is not one of exact, ngram, dense"),
        (("--train", "a", "--train", "b"), "one file, and dictionary"),
        (("--protocol", "tokens"), "'tokens' is not one of concepts, names"),
        (("--composites", "all"), "'all' is not one of any, biosyn"),
        (("--threshold", "2"), "--threshold"),
    ],
)
def test_usage(
    run: Run, tiny_assets: Assets, gold: Path, arguments: tuple[str, ...], said: str
) -> None:
    result = run("evaluate", tiny_assets.path, gold, *arguments, expect=2)
    assert said in " ".join(result.stderr.split())


_FEVER = "Fever and asthma, no fever."


def _mention(start: int, end: int, said: str, *ids: str, **other: Any) -> dict[str, Any]:
    mention = {"start": start, "end": end, "mention": said, "ids": list(ids)}
    return {"text": _FEVER, "mentions": [mention], **other}


def _evaluate(run: Run, assets: Assets, gold: Path, *options: object) -> tuple[str, dict[str, Any]]:
    output = gold.with_suffix(".metrics.json")
    result = run("evaluate", assets.path, gold, "--tiers", "exact", "--output", output, *options)
    return result.stderr, json.loads(output.read_text(encoding="utf-8"))


def test_of_many_mismatches_ten_are_shown(
    run: Run, fail: Fail, tiny_assets: Assets, tmp_path: Path
) -> None:
    wrong = [_mention(0, 4, "Fever", "HP:0001945") for _ in range(13)]
    gold = _write(tmp_path / "gold.jsonl", _mention(0, 5, "Fever", "HP:0001945"), *wrong)
    stderr, metrics = _evaluate(run, tiny_assets, gold)
    assert stderr.startswith("[W105] 13 gold mentions are not what")
    assert [f"line {line}:" in stderr for line in range(2, 15)] == [True] * 10 + [False] * 3
    assert "Fever" not in stderr
    assert (metrics["mismatches"], metrics["n"], metrics["acc@1"]) == (13, 14, 1.0)
    assert "line 2" in fail("E403", "evaluate", tiny_assets.path, gold, "--strict")


def test_ids_that_no_knowledge_base_knows(run: Run, tiny_assets: Assets, tmp_path: Path) -> None:
    gold = _write(
        tmp_path / "gold.jsonl",
        _mention(0, 5, "Fever", "Q1"),
        _mention(10, 16, "asthma", "no such id", "X:0"),
    )
    stderr, metrics = _evaluate(run, tiny_assets, gold, "--train", gold, "--end-to-end")
    assert stderr.startswith("[W401] 2 of 2 gold mentions have no id")
    assert (metrics["n"], metrics["gold_in_kb"], metrics["acc@1"], metrics["mrr"]) == (2, 0, 0, 0)
    assert metrics["verdicts"]["not in KB"] == 2
    assert metrics["gold"]["ids"] == {"unknown": 3}
    assert metrics["end_to_end"]["strict"]["recall"] == 0
    stderr, metrics = _evaluate(run, tiny_assets, gold, "--only-known")
    assert stderr.startswith("[W401] 2 of 2")
    assert (metrics["n"], metrics["acc@1"], metrics["gold"]["left_out"]) == (0, None, 2)


# Without a time: all processes of a run must see the same tests.
@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_an_empty_file(fail: Fail, tiny_assets: Assets, tmp_path: Path, content: bytes) -> None:
    name = "empty.jsonl.gz" if content.startswith(b"\x1f\x8b") else "empty.jsonl"
    empty, gold = tmp_path / name, _write(tmp_path / "gold.jsonl", _mention(0, 5, "Fever", "A"))
    empty.write_bytes(content)
    assert name in fail("E404", "evaluate", tiny_assets.path, empty)
    assert name in fail("E404", "evaluate", tiny_assets.path, gold, "--train", empty)


def test_two_documents_with_one_id(
    run: Run, fail: Fail, tiny_assets: Assets, tmp_path: Path
) -> None:
    lines = [_mention(0, 5, "Fever", "HP:0001945", doc_id=id) for id in ("a", "b", "a")]
    gold = _write(tmp_path / "gold.jsonl", *lines)
    stderr, metrics = _evaluate(run, tiny_assets, gold)
    assert "line 3: the document 'a' is in line 1 already" in stderr
    # They are told apart all the same: three documents, three mentions.
    assert (metrics["gold"]["documents"], metrics["gold"]["repeated_documents"]) == (3, 1)
    assert metrics["n"] == 3
    assert "line 3" in fail("E403", "evaluate", tiny_assets.path, gold, "--strict")

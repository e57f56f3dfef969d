import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation.report import dump_metrics, read_metrics, read_records


def test_what_is_written_is_read(metrics: dict[str, Any], metrics_file: Path) -> None:
    assert read_metrics(metrics_file) == json.loads(json.dumps(metrics))
    packed = metrics_file.with_suffix(".json.gz")
    packed.write_bytes(gzip.compress(metrics_file.read_bytes()))
    assert read_metrics(packed) == read_metrics(metrics_file)
    assert len(read_records(metrics)) == 6


def test_a_mention_takes_a_line(metrics: dict[str, Any]) -> None:
    lines = dump_metrics(metrics).split("\n")  # U+2028 ends no line
    assert sum(line.startswith("      [") for line in lines) == 6


def test_files_without_mentions_are_json_too(metrics: dict[str, Any]) -> None:
    head = {name: value for name, value in metrics.items() if name != "mentions"}
    assert json.loads(dump_metrics(head)) == json.loads(json.dumps(head))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda metrics: metrics.update(format="x"), "another kind"),
        (lambda metrics: metrics.update(schema=99), "schema 99"),
        (lambda metrics: metrics.pop("kb"), "lacks kb"),
        (lambda metrics: metrics.pop("mentions"), "lacks mentions"),
        (lambda metrics: metrics.update(mentions={}), "damaged"),
        (lambda metrics: metrics["mentions"]["rows"].append([1]), "damaged"),
    ],
)
def test_other_files_are_refused(metrics_file: Path, change: Any, said: str) -> None:
    metrics = json.loads(metrics_file.read_text(encoding="utf-8"))
    change(metrics)
    metrics_file.write_text(json.dumps(metrics), encoding="utf-8")
    with pytest.raises(MedlinkError, match=f"E160.*{said}"):
        read_metrics(metrics_file)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000])
def test_no_json(tmp_path: Path, content: bytes) -> None:
    for name in ("metrics.json", "metrics.json.gz"):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(MedlinkError, match="E160"):
            read_metrics(path)
    with pytest.raises(MedlinkError, match="E107"):
        read_metrics(tmp_path / "none.json")

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

TEXTS = [
    "He had a heart attack and fever.",
    "",
    "Nothing to see here.",
    "Known type 2 diabetes, HTN and asthma; pyrexia 😀.",
    "A pericardial effusion (PE) was drained; the PE came back.",
]

Notes = Callable[..., Path]


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    """Write a file of notes, a few texts over and over."""

    def notes(n: int = 12, extra: Iterable[str] = ()) -> Path:
        path = tmp_path / "notes.jsonl"
        lines = [
            json.dumps({"doc_id": f"n{number}", "text": f"{number}. {TEXTS[number % len(TEXTS)]}"})
            for number in range(n)
        ]
        path.write_text("\n".join([*lines, *extra]) + "\n", encoding="utf-8")
        return path

    return notes


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

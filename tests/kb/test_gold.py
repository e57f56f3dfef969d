import json
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.gold import GoldMention, read_gold


def test_documents_and_bare_mentions(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    document = {
        "doc_id": "1", "text": "He has DM.",
        "mentions": [
            {"start": 7, "end": 9, "ids": ["C1", "C2"]},
            {"start": 0, "end": 2, "mention": "he", "ids": []},
        ],
    }  # fmt: skip
    path.write_text(f'{json.dumps(document)}\n\n{{"mention": "DM", "ids": ["C1"]}}\n')
    assert list(read_gold(path)) == [
        GoldMention(1, "DM", ("C1", "C2")), GoldMention(1, "he", ()), GoldMention(3, "DM", ("C1",)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "{", "[]", "{}", '{"mention": "x"}', '{"mention": "x", "ids": "C1"}',
        '{"mention": 7, "ids": []}', '{"mentions": {}}', '{"mentions": [7]}', "\0", "\udcff",
        '{"text": "ab", "mentions": [{"start": 1, "end": 3, "ids": []}]}',
        '{"text": "ab", "mentions": [{"start": 1, "end": 1, "ids": []}]}',
        '{"mention": "\\ud800", "ids": []}',
    ],
)  # fmt: skip
def test_bad_lines(tmp_path: Path, line: str) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text('{"mention": "x", "ids": []}\n' + line + "\n", errors="surrogateescape")
    with pytest.raises(MedlinkError, match=r"E166.*gold.jsonl, line 2: "):
        list(read_gold(path))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(MedlinkError, match="E107"):
        list(read_gold(tmp_path / "none"))

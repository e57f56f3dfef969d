import gzip
import json
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.gold import read_gold
from training.split import split_gold


def _write(path: Path, count: int) -> Path:
    bare = {"mentions": [{"mention": "a", "ids": ["X"]}]}
    documents = ({"doc_id": f"d{n}", "text": f"a\u2028b {n}", **bare} for n in range(count))
    lines = [json.dumps(one, ensure_ascii=False) for one in documents]
    text = "\ufeff" + "\r\n".join(lines) + "\r\n\r\n"
    path.write_bytes(gzip.compress(text.encode("utf-8")))
    return path


def test_documents_are_divided(tmp_path):
    gold = _write(tmp_path / "gold.jsonl.gz", 30)
    kept, apart = tmp_path / "kept.jsonl", tmp_path / "apart.jsonl"
    assert split_gold(gold, kept, apart, 0.2, 0) == (24, 6)
    ids = [[document.doc_id for document in read_gold(path)] for path in (kept, apart)]
    assert sorted(ids[0] + ids[1]) == sorted(f"d{n}" for n in range(30))
    assert next(read_gold(kept)).text in {f"a\u2028b {n}" for n in range(30)}
    first = apart.read_bytes()
    split_gold(gold, kept, apart, 0.2, 0)
    assert apart.read_bytes() == first
    with pytest.raises(MedlinkError, match="E124"):
        split_gold(gold, kept, apart, 0.2, 1)
    assert apart.read_bytes() == first
    split_gold(gold, kept, apart, 0.2, 1, overwrite=True)
    assert apart.read_bytes() != first


@pytest.mark.parametrize(("share", "apart"), [(0.0, 1), (1.0, 2), (0.5, 2)])
def test_neither_part_is_empty(tmp_path, share, apart):
    gold = _write(tmp_path / "gold.jsonl.gz", 3)
    found = split_gold(gold, tmp_path / "a", tmp_path / "b", share, 0)
    assert found == (3 - apart, apart)


def test_one_document_cannot_be_divided(tmp_path):
    gold = _write(tmp_path / "gold.jsonl.gz", 1)
    with pytest.raises(MedlinkError, match="E530"):
        split_gold(gold, tmp_path / "a", tmp_path / "b", 0.5, 0)
    assert not (tmp_path / "a").exists()

"""JSON of users: half of a surrogate pair, in a key or a string, is refused by every reader."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation.report.metrics_file import read_metrics
from spacy_medlink.fitting.corrections import is_gold, read_overlay
from spacy_medlink.kb.gold import read_gold
from spacy_medlink.kb.readers import jsonl
from spacy_medlink.kb.rules import read_rules
from spacy_medlink.util.json_text import read_json, write_json

_TEXTS = st.text(alphabet=st.characters(codec=None, categories=None), max_size=3)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(_VALUES)
def test_what_cannot_be_written_is_refused(value: object) -> None:
    text = json.dumps(value)
    plain = json.loads(text)
    try:
        json.dumps(plain, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        with pytest.raises(ValueError, match="half a surrogate pair in"):
            read_json(text)
    else:
        assert read_json(text) == plain == read_json(write_json(plain))


def test_the_message_says_where() -> None:
    with pytest.raises(ValueError, match=r"pair in terms\.1\.name$"):
        read_json('{"terms": [{"name": "a"}, {"name": "\\uDfff"}]}')
    with pytest.raises(ValueError, match=r"pair in a key of terms\.0$"):
        read_json('{"terms": [{"\\ud800": "a"}]}')
    assert read_json('"\\ud83d\\ude00 \\\\ud800"') == "😀 \\ud800"
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json("[" * 200_000)


GOLD = '{"text": "fever", "mentions": [{"start": 0, "end": 5, "ids": ["A:1"]%s}]%s}'


@pytest.mark.parametrize("part", ['"\\ud800": 1', '"x": "\\udc00"', '"x": [{"\\ud800y": {}}]'])
def test_each_file_of_the_user(tmp_path: Path, part: str) -> None:
    """Each reader says file, line and problem, wherever the half pair stands."""
    path = tmp_path / "file.jsonl"

    def refuses(code: str, line: str, read: object) -> None:
        path.write_text("\n" + line + "\n", encoding="utf-8")
        with pytest.raises(MedlinkError, match="surrogate") as caught:
            assert callable(read)
            list(read(path))
        assert caught.value.code == code and str(path) in str(caught.value)
        assert code == "E160" or "line 2" in str(caught.value)

    for line in (GOLD % (f", {part}", ""), GOLD % ("", f", {part}")):
        refuses("E401", line, read_gold)
        refuses("E105", line, read_overlay)  # it is no gold, so it must be rules
        assert not is_gold(path)
    refuses("E105", '{"concept_id": "A:1", "canonical_name": "a", ' + part + "}", jsonl.read)
    refuses("E105", '{"action": "retire", "id": "A:1", ' + part + "}", read_rules)
    refuses("E160", '{"format": "spacy-medlink metrics", ' + part + "}", read_metrics)

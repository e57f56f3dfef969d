"""What sentences say of mentions: said.tsv and limits.tsv, to be read by a clinician."""

import re
from pathlib import Path

import pytest

from spacy_medlink.text.context import find_sections, limits, said_of, shipped_cues
from spacy_medlink.text.layout import laid_out

_NAMES = {
    "absent": "negated", "possible": "uncertain", "past": "historical", "future": "hypothetical",
    "family": "family",
}  # fmt: skip


def _rows(name: str) -> list[list[str]]:
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


_LIMITS = _rows("limits.tsv")


def _is_right(lang: str, marked: str) -> bool:
    plain, places, wanted = "", [], []
    for text, mention, said in re.findall("([^«]*)(?:«([^|]+)[|]([^»]*)»|$)", marked):
        plain += text.replace("\\n", "\n")
        if mention:
            places.append((len(plain), len(plain) + len(mention)))
            wanted.append({_NAMES[one] for one in said.split(",") if one})
            plain += mention
    cues, plain = shipped_cues(lang), laid_out(plain)
    found = said_of(plain, places, cues, find_sections(plain, cues))
    return [set(one.kinds) for one in found] == wanted


@pytest.mark.parametrize(("lang", "marked"), [*_rows("said.tsv"), *(row[2:] for row in _LIMITS)])
def test_what_a_sentence_says(lang: str, marked: str) -> None:
    assert _is_right(lang, marked)


@pytest.mark.parametrize("table", ["FORWARD", "BACKWARD"])
def test_each_limit_has_examples_that_need_it(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a row of the table, some of its examples are wrong."""
    rows = getattr(limits, table)
    for row in rows:
        monkeypatch.setattr(limits, table, tuple(other for other in rows if other is not row))
        examples = [text for name, limit, *text in _LIMITS if (name, limit) == (table, row.name)]
        assert not all(_is_right(*text) for text in examples), row.name

"""What sentences say of mentions: said.tsv, written to be read by a clinician."""

import re
from pathlib import Path

import pytest

from spacy_medlink.text.context import find_sections, said_of, shipped_cues

_NAMES = {
    "absent": "negated", "possible": "uncertain", "past": "historical", "future": "hypothetical",
    "family": "family",
}  # fmt: skip
_ROWS = [
    line.split("\t")
    for line in Path(__file__).with_name("said.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize(("lang", "marked"), _ROWS)
def test_what_a_sentence_says(lang: str, marked: str) -> None:
    plain, places, wanted = "", [], []
    for text, mention, said in re.findall("([^«]*)(?:«([^|]+)[|]([^»]*)»|$)", marked):
        plain += text.replace("\\n", "\n")
        if mention:
            places.append((len(plain), len(plain) + len(mention)))
            wanted.append({_NAMES[one] for one in said.split(",") if one})
            plain += mention
    cues = shipped_cues(lang)
    found = said_of(plain, places, cues, find_sections(plain, cues))
    assert [set(one.kinds) for one in found] == wanted

"""What is found in sentences: found.tsv, to be read by a clinician."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.pipelines import finder
from tests.tiny import assets_of, concepts_of

_LINES = Path(__file__).with_name("found.tsv").read_text(encoding="utf-8").splitlines()
_ROWS = [line.split("\t") for line in _LINES if not line.startswith("#")]


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    names = {row[1]: row[2].split(";") for row in _ROWS if row[0] == "names"}
    return cache(lambda kb: finder(assets_of(tmp_path_factory.mktemp(kb), concepts_of(names[kb]))))


@pytest.mark.parametrize(("kb", "marked"), [row for row in _ROWS if row[0] != "names"])
def test_what_is_found(pipeline, kb, marked):
    marked = marked.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
    ents = pipeline(kb)(re.sub("[«»]", "", marked)).ents
    assert [ent.text for ent in ents] == re.findall("«(.*?)»", marked)

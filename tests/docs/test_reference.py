"""The pages of docs/reference are what the code says."""

import json
import re
from collections.abc import Callable

import pytest

from docs.generate import COMPONENTS, PAGES, REFERENCE
from spacy_medlink.errors import Errors, Message
from spacy_medlink.text.pieces import Pieces
from tests.docs.markdown import ROOT


@pytest.mark.parametrize("name", COMPONENTS)
def test_every_setting_is_described_and_spelled_as_in_configs(name: str) -> None:
    for setting, field in COMPONENTS[name][1].model_fields.items():
        assert field.description and not field.description.endswith("."), setting
        assert not re.search(r"\b(None|True|False)\b", field.description), setting


@pytest.mark.parametrize(("name", "page"), PAGES.items())
def test_the_page_is_current(name: str, page: Callable[[], str]) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == page(), "run python -m docs.generate"


def test_codes_are_unique_and_say_the_remedy() -> None:
    messages = [value for value in vars(Errors).values() if isinstance(value, Message)]
    assert len({message.code for message in messages}) == len(messages)
    assert all(
        message.text.endswith((".", "?", "`", " {remedy}", ".{more}")) for message in messages
    )


def test_the_note_is_cut_into_the_pieces_of_the_table() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    note = re.findall(r'note = """\\\n(.+?)"""', page, re.S)
    rows = re.findall(r'^\| `(\S+)` \| `(\S+)` \| `(".*?")` \| (\w+) \|$', page, re.M)
    pieces = Pieces(*note)
    gaps, borders = map(json.dumps, pieces.gaps), (border.name for border in pieces.borders)
    assert rows == list(zip(pieces.texts, pieces.keys, gaps, borders, strict=False))

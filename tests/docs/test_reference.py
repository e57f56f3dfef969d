"""The pages of docs/reference are what the code says."""

from collections.abc import Callable

import pytest

from docs.generate import PAGES, REFERENCE, settings_of
from spacy_medlink.components.linker import MedicalLinker
from spacy_medlink.components.linker.settings import DEFAULT_CONFIG as LINKER
from spacy_medlink.components.mentions import DEFAULT_CONFIG as MENTIONS
from spacy_medlink.components.mentions import MedicalMentions
from spacy_medlink.errors import Errors, Message


@pytest.mark.parametrize(
    ("component", "defaults"), [(MedicalLinker, LINKER), (MedicalMentions, MENTIONS)]
)
def test_every_setting_is_described(component: type, defaults: dict[str, object]) -> None:
    assert set(defaults) == set(settings_of(component, defaults)), "see the class docstring"


@pytest.mark.parametrize(("name", "page"), PAGES.items())
def test_the_page_is_current(name: str, page: Callable[[], str]) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == page(), "run python -m docs.generate"


def test_codes_are_unique_and_say_the_remedy() -> None:
    messages = [value for value in vars(Errors).values() if isinstance(value, Message)]
    assert len({message.code for message in messages}) == len(messages)
    assert all(message.text.endswith((".", "?", "`")) for message in messages)

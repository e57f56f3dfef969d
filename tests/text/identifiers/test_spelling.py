"""Identifiers of texts and knowledge bases compare, however each is written."""

from spacy_medlink.text.identifiers import identifies, spellings
from tests.tables import table


@table(__file__, "the_same")
def test_the_same(identifier: str, id: str, codes: dict[str, list[str]]) -> None:
    assert identifies(identifier, spellings(id, codes))


@table(__file__, "others")
def test_others(identifier: str, id: str, codes: dict[str, list[str]]) -> None:
    assert not identifies(identifier, spellings(id, codes))

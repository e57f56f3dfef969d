"""Vocabularies: their spellings, and the releases that a spelling may name."""

import time

from spacy_medlink.kb.vocabularies import VOCABULARIES, canonical, is_known
from tests.tables import table


@table(__file__, "spellings")
def test_spellings(name: str, spellings: str) -> None:
    assert {spelling: canonical(spelling) for spelling in spellings.split()} == dict.fromkeys(
        spellings.split(), name
    )
    assert all(map(is_known, spellings.split()))


@table(__file__, "what_is_not_known_keeps_its")
def test_what_is_not_known_keeps_its_name_without_the_release(spelling: str, name: str) -> None:
    assert canonical(spelling) == name
    assert not is_known(spelling)


def test_each_spelling_and_address_is_of_one_vocabulary() -> None:
    rows = VOCABULARIES.values()
    assert all(canonical(word) == row.name for row in rows for word in row.spellings.split())
    for column in ([row.address for row in rows], [row.codes for row in rows]):
        said = list(filter(None, column))
        assert len(said) == len(set(said)) > 0
    assert all("{code}" in row.page for row in rows if row.page)


def test_a_long_name_takes_no_quadratic_time() -> None:
    start = time.process_time()
    assert canonical("_" * 300_000) == "_" * 300_000
    canonical("a" + "_2010" * 100_000)
    canonical("a" + "_2010" * 100_000 + "!")
    assert time.process_time() - start < 5

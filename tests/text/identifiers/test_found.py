"""Where texts write identifiers: spellings of vocabularies and codes, and what is no identifier."""

from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.text.identifiers import find_identifiers
from tests.tables import table
from tests.timing import cpu_seconds


@table(__file__, "identifiers")
def test_identifiers(text: str, identifier: str) -> None:
    (found,) = find_identifiers(text)
    assert f"{found.vocabulary}:{found.code}" == identifier
    code = "".join(filter(str.isalnum, text[found.start : found.end].upper()))
    assert found.code in code


@table(__file__, "what_is_none")
def test_what_is_none(text: str) -> None:
    assert find_identifiers(text) == []


def test_all_of_a_text_in_its_order() -> None:
    text = (
        "seizures (HP:0001250, HP:0002069), diabetes (E10.9; E11.9) and Fabry disease, MIM 301500"
    )
    found = find_identifiers(text)
    assert [one.code for one in found] == ["0001250", "0002069", "E109", "E119", "301500"]
    assert [text[one.start : one.end] for one in found] == [
        "HP:0001250", "HP:0002069", "E10.9", "E11.9", "MIM 301500",
    ]  # fmt: skip


@given(st.text(alphabet="OMIHPCDE:.#(1209,) \n-é", max_size=80))
def test_any_text_is_read(text: str) -> None:
    found = find_identifiers(text)
    assert all(0 <= one.start < one.end <= len(text) and one.code for one in found)
    assert [one.end for one in found] == sorted({one.end for one in found})


def test_a_long_text_takes_its_time_by_length() -> None:
    def seconds(size: int) -> float:
        return min(cpu_seconds(lambda: find_identifiers("C" * size + "1" * size)) for _ in range(3))

    assert seconds(400_000) < 8 * seconds(100_000) + 0.05

import pytest

from spacy_medlink.errors import Errors


@pytest.mark.parametrize("value", ["x" * 10_000, list(range(10_000)), {"a": "b" * 10_000}])
def test_a_value_of_any_length_makes_a_short_message(value: object) -> None:
    error = Errors.bad_setting(name="leave_out", value=value, rule="it must be short")
    assert len(str(error)) < 500
    assert repr(value)[:20] in str(error)


def test_a_short_value_is_shown_as_it_is() -> None:
    error = Errors.bad_setting(name="top_k", value="five", rule="it must be a number")
    assert "top_k is 'five', but it must be a number." in str(error)

from string import Formatter

import pytest

from spacy_medlink.errors import Errors, Message, Warnings


@pytest.mark.parametrize("value", ["x" * 10_000, list(range(10_000)), {"a": "b" * 10_000}])
def test_a_value_of_any_length_makes_a_short_message(value: object) -> None:
    error = Errors.bad_setting(name="leave_out", value=value, rule="it must be short")
    assert len(str(error)) < 500
    assert repr(value)[:20] in str(error)


def test_a_short_value_is_shown_as_it_is() -> None:
    error = Errors.bad_setting(name="top_k", value="five", rule="it must be a number")
    assert "top_k is 'five', but it must be a number." in str(error)


HUGE = ["x" * 10**7, ["y" * 10**6] * 1_000, {"k" * 10**6: {"a": "b" * 10**6}}, 10**5_000]


@pytest.mark.parametrize("value", HUGE, ids=["text", "list", "dict", "number"])
def test_every_message_is_bounded_whatever_is_filled_in(value: object) -> None:
    """An id of a user may have 300 MB, a path may come from anywhere, a reason quotes others."""
    errors = [one for one in vars(Errors).values() if isinstance(one, Message)]
    texts = [text for name, text in vars(Warnings).items() if not name.startswith("_")]
    assert len(errors) > 90 and len(texts) > 20
    for text in (*errors, *texts):
        template = text.text if isinstance(text, Message) else text
        names = {name: value for _, name, _, _ in Formatter().parse(template) if name}
        said = str(text(**names)) if isinstance(text, Message) else text.format(**names)
        assert len(said) < 12_000, template


def test_numbers_keep_their_form() -> None:
    said = Warnings.many_abbreviations.format(shorts=1_234_567, longs=2)
    assert "first 1,234,567 abbreviations" in said


@pytest.mark.parametrize(
    ("reason", "said"),
    [("No bytes received.", "received. Check"), ("None", "None. Check"),
     (OSError("Full.\n"), "Full. Check"), ("and so on...", "so on.... Check"),
     ("../..", "../... Check"), (".", ".. Check")],
)  # fmt: skip
def test_a_sentence_of_another_library_ends_once(reason: object, said: str) -> None:
    assert said in str(Errors.system(reason=reason))

"""Mentions are written out as by trying every definition, in a time that does not square."""

import re
from collections.abc import Iterator, Mapping

from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.text.abbreviations import LongForms
from spacy_medlink.text.abbreviations.expansion import LONGEST, _undefined, _without_next
from tests.growth import exponent

LETTERS = st.text("ABc s-", min_size=1, max_size=6)
LONG = st.text("ABc s(-)", min_size=1, max_size=20)


def every_definition(text: str, defined: Mapping[str, str], nested: int = 2) -> str:
    """Write out by asking for each of the definitions."""
    stripped = text.strip()
    if stripped in defined:
        return whole(stripped, defined, nested)
    inside = [short for short in defined if short in stripped]
    if not inside:
        return ""
    if stripped[-1:] == "s" and stripped[:-1] in inside:
        return whole(stripped[:-1], defined, nested)
    either = "|".join(map(re.escape, sorted(inside, key=lambda short: (-len(short), short))))
    written = re.sub(
        rf"(?<!\w)({either})s?(?!\w)(?=(?:\s+(\w+))?)",
        lambda found: _without_next(whole(found[1], defined, nested), found[2]),
        _undefined(stripped, inside, defined),
    )
    return "" if written == stripped else " ".join(written.split())


def whole(short: str, defined: Mapping[str, str], nested: int) -> str:
    long = defined[short]
    if not nested or not any(other in long for other in defined if other != short):
        return long
    others = {other: its for other, its in defined.items() if other != short}
    return every_definition(long, others, nested - 1) or long


@given(LONG, st.dictionaries(LETTERS, LONG, max_size=8))
def test_any_definitions(text: str, defined: dict[str, str]) -> None:
    assert LongForms(defined).written_out(text) == every_definition(text, defined)


@given(st.text("AB s", max_size=12), st.dictionaries(st.text("ABs", min_size=1, max_size=3), LONG))
def test_many_definitions(text: str, defined: dict[str, str]) -> None:
    defined |= {f"X{number}": "none of these" for number in range(100)}
    assert LongForms(defined).written_out(text) == every_definition(text, defined)


def test_long_mentions_stay_as_they_are() -> None:
    known = LongForms({"AB": "alpha beta"})
    assert known.written_out("AB " * (LONGEST // 3)) == ""  # becomes longer than that
    assert known.written_out("AB" + " x" * LONGEST) == ""
    assert known.written_out("AB x") == "alpha beta x"


def test_long_forms_do_not_multiply() -> None:
    shorts = [f"A{number}" for number in range(15)]
    defined = {short: " ".join(f"B{number}" for number in range(15)) for short in shorts}
    defined |= {f"B{number}": "c" * 300 for number in range(15)}
    assert LongForms(defined).written_out(" ".join(shorts)) == " ".join([defined["A1"]] * 15)
    assert LongForms(defined).written_out(" ".join(shorts * 2)) == ""
    assert LongForms(defined).written_out("A1") == defined["A1"]


class Counting(dict[str, str]):
    """Counts how often its keys are gone through."""

    steps = 0

    def __iter__(self) -> Iterator[str]:
        for one in super().__iter__():
            self.steps += 1
            yield one


def test_as_many_definitions_as_mentions() -> None:
    def steps(n: int) -> int:
        defined = Counting({f"A{number}B": f"alpha{number} beta" for number in range(n)})
        known = LongForms(defined)
        assert [known.written_out(f"disease A{number}B")[8:] for number in range(n)] == [
            *defined.values()
        ]
        return defined.steps

    assert exponent({n: steps(n) for n in (1_000, 4_000)}) < 1.1

"""Which mentions identifiers are written for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.text.identifiers import find_identifiers, identifiers_of
from spacy_medlink.text.normalisation import key
from tests.tables import table


def attached(text: str, meanings: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Attach to the first occurrence of each mention; "" where it means itself."""
    places = [(text.index(own), text.index(own) + len(own)) for own in meanings]
    keys = [key(meaning or own) for own, meaning in meanings.items()]
    found = identifiers_of(text, find_identifiers(text), places, keys)
    return dict(zip(meanings, found, strict=True))


@table(__file__, "which_mentions")
def test_which_mentions(text: str, meant: list[str], others: list[str]) -> None:
    found = attached(text, dict.fromkeys([*meant, *others], ""))
    assert found == dict.fromkeys(meant, ("OMIM:301500",)) | dict.fromkeys(others, ())


def test_a_mention_and_its_abbreviation() -> None:
    text = "Familial Fabry disease (FD; OMIM 301500) and later FD"
    both = attached(text, {"Familial Fabry disease": "", "FD": "Fabry disease"})
    assert both == dict.fromkeys(("Familial Fabry disease", "FD"), ("OMIM:301500",))
    text = "Familial Fabry disease (FD) is a rare disorder (OMIM 301500)"
    both = attached(text, {"Familial Fabry disease": "", "FD": "Fabry disease"})
    assert both == dict.fromkeys(("Familial Fabry disease", "FD"), ("OMIM:301500",))


def test_a_kind_within_brackets_is_not_what_stands_before() -> None:
    """The words before "dysplasia" say which one it is, and are no part of the mention."""
    text = "a recessive dysplasia (EDM4, OMIM 226900)"
    assert attached(text, {"dysplasia": "", "EDM4": ""}) == {
        "dysplasia": (), "EDM4": ("OMIM:226900",),
    }  # fmt: skip


def test_a_kind_is_not_what_its_brackets_call_it() -> None:
    text = "hemolytic anemia (anemia, HP:0001903)"
    places = [(0, 16), (18, 24)]
    found = identifiers_of(text, find_identifiers(text), places, ["hemolytic anemia", "anemia"])
    assert found == [(), ("HP:0001903",)]


def test_mentions_of_the_same_meaning_share_it() -> None:
    text = "FD was treated. Fabry disease (OMIM 301500)"
    found = attached(text, {"FD": "Fabry disease", "Fabry disease": ""})
    assert found["FD"] == ("OMIM:301500",)
    text = "diabetes (E10.9), then DM (E11.9), then sugar"
    found = attached(text, {"diabetes": "", "DM": "diabetes", "sugar": "diabetes"})
    assert found == {"diabetes": ("ICD10:E109",), "DM": ("ICD10:E119",), "sugar": ()}


def test_two_codes_of_one_vocabulary_are_none() -> None:
    assert attached("seizures (HP:0001250, HP:0002069)", {"seizures": ""}) == {"seizures": ()}
    text = "diabetes (E10.9, E11.9), DM (E11.9)"
    assert attached(text, {"diabetes": "", "DM": "diabetes"}) == {
        "diabetes": (), "DM": ("ICD10:E119",),
    }  # fmt: skip
    text = "Fabry disease (OMIM 301500, ORPHA:324)"
    assert attached(text, {"Fabry disease": ""})["Fabry disease"] == ("OMIM:301500", "ORPHA:324")


HP = {name: f"HP:000000{number}" for number, name in enumerate(("gout", "ataxia", "fever"), 1)}


@pytest.mark.parametrize(
    "item",
    ["{0} {1}, ", "{0}\t{1}\t", "{1} {0}, ", "{0} ({1}), ", "({1}) {0}\n", "{1} - {0}\n",
     "{0} [{1}]\n", "1.) {1} {0}\n", "- {0}: {1}\n", "{1}\t{0}\n"],
)  # fmt: skip
def test_lists_either_way_round(item: str) -> None:
    for before in ("", "\n", "Diagnoses:\n"):
        text = before + "".join(item.format(*one) for one in HP.items())
        assert attached(text, dict.fromkeys(HP, "")) == {own: (HP[own],) for own in HP}


@table(__file__, "what_stands_near_is_not_meant")
def test_what_stands_near_is_not_meant(text: str) -> None:
    said = {own: "" for own in HP if own in text}
    found = attached(text, said)
    assert "HP:0000003" not in found["gout"] + found.get("ataxia", ())
    assert found.get("fever", ("HP:0000003",)) == ("HP:0000003",)


def test_a_code_of_something_else_takes_none_away() -> None:
    text = "HP:0000001 gout, HP:0000003 something"
    assert attached(text, {"gout": ""}) == {"gout": ("HP:0000001",)}


def test_what_brackets_say_of_each() -> None:
    text = "dystrophies (gout, OMIM 310200, and ataxia, OMIM 300376)"
    assert attached(text, {"dystrophies": "", "gout": "", "ataxia": ""}) == {
        "dystrophies": (), "gout": ("OMIM:310200",), "ataxia": ("OMIM:300376",),
    }  # fmt: skip
    text = "gout (ataxia) (OMIM 310200)"
    assert attached(text, {"gout": "", "ataxia": "gout"})["gout"] == ("OMIM:310200",)


def test_a_mention_of_nothing_behind_the_last_character() -> None:
    text = "(OMIM 301500"
    assert identifiers_of(text, find_identifiers(text), [(12, 12)], [""]) == [("OMIM:301500",)]


def test_mentions_without_a_letter_share_nothing() -> None:
    assert attached("-- (OMIM 301500) and ++", {"--": "", "++": ""})["++"] == ()


@given(
    st.lists(
        st.sampled_from(["gout", " (", ") ", "OMIM 301500", ", ", "is a ", ". "]), max_size=12
    ),
    st.data(),
)
def test_any_places(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    pairs = st.tuples(*[st.integers(0, len(text))] * 2).map(sorted).map(tuple)
    places = data.draw(st.lists(pairs, max_size=6))
    keys = [key(text[start:end]) for start, end in places]
    found = identifiers_of(text, find_identifiers(text), places, keys)
    assert len(found) == len(places)
    assert {one for own in found for one in own} <= {"OMIM:301500"}

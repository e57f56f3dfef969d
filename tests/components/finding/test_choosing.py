"""What is kept of overlapping matches, against plain definitions."""

from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.components.finding.matches import Match, apart, settled, without_nested


def match(start: int, end: int, *left_out: int, is_name: bool = True) -> Match:
    words = frozenset(range(start, end)) - set(left_out)
    return Match(start, end, words, (0,), "reading" if left_out else "", is_name and not left_out)


PALMAR_PITS, PLANTAR_PITS, PITS = match(0, 4, 1, 2), match(2, 4), match(3, 4)


def test_entities_are_names_before_readings():
    assert apart([PALMAR_PITS, PLANTAR_PITS, PITS]) == [PLANTAR_PITS]
    assert apart([PALMAR_PITS, PITS], taken=[3]) == []
    assert apart([PALMAR_PITS]) == [PALMAR_PITS]


MATCHES = st.lists(
    st.builds(
        lambda start, length, is_name: match(start, start + length, is_name=is_name),
        st.integers(0, 12), st.integers(1, 5), st.booleans(),
    ),
    unique_by=lambda one: (one.start, one.end),
)  # fmt: skip


@given(MATCHES)
def test_without_nested_is_its_definition(matches):
    assert without_nested(matches) == [
        one
        for one in matches
        if not any(
            one.words < other.words and (other.is_name or not one.is_name) for other in matches
        )
    ]


@given(MATCHES, st.sets(st.integers(0, 12)))
def test_what_is_chosen_is_apart_and_nothing_fits_between(matches, taken):
    chosen = apart(matches, taken)
    used = [place for one in chosen for place in one.words]
    assert len(used) == len(set(used))
    assert not set(used) & taken
    assert chosen == sorted(chosen, key=lambda one: one.start)
    for one in matches:
        assert one.words & (set(used) | taken)


@given(MATCHES)
def test_no_other_choice_says_more_words(matches):
    names = [one for one in matches if one.is_name][:8]
    said = sum(len(one.words) for one in apart(names))
    for number in range(1 << len(names)):
        some = [one for place, one in enumerate(names) if number >> place & 1]
        words = [place for one in some for place in range(one.start, one.end)]
        assert len(words) > len(set(words)) or sum(len(one.words) for one in some) <= said


def test_a_sign_joins_what_no_other_mention_says():
    joined = match(1, 3)._replace(is_joined=True)  # "cancer/lung" of "breast cancer/lung cancer"
    breast, lung = match(0, 2), match(2, 4)
    assert settled([breast, joined, lung]) == [breast, lung]
    assert settled([joined]) == [joined]
    assert settled([match(1, 2), joined]) == [match(1, 2), joined]
    assert settled([match(1, 2), match(2, 3), joined]) == [match(1, 2), match(2, 3)]

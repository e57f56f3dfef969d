"""Layout: exports, forms and lines as plain lines, each character at its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.text.context import find_sections, said_of, shipped_cues
from spacy_medlink.text.layout import FORMS, Form, laid_out
from spacy_medlink.text.lines import Page, joined_lines
from spacy_medlink.text.marks import FILL
from spacy_medlink.text.pieces import Border, Pieces
from tests.growth import exponent, seconds
from tests.tables import table

_SIGNS = (
    "<td>|</td>|<b>|</b>|{|}|[|]|\"|'|:|,|;|\t|\n|\\n|*|**|# |x|no|yes|fever|  |    |&nbsp;|> |-|="
)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_each_form_reads_its_example(form: Form) -> None:
    plain = form.read(form.written)
    assert plain.replace(FILL, "") == form.plain
    assert len(plain) == len(form.written)


@given(st.lists(st.sampled_from([*_SIGNS.split("|"), "|"])).map("".join))
def test_each_character_keeps_its_place(text: str) -> None:
    plain = laid_out(text)
    assert len(plain) == len(text)
    words = Pieces(text)
    assert [text[a:b] for a, b in zip(words.starts, words.ends, strict=True)] == words.texts
    page = Page(text, laid_out)
    for start, end in zip(words.starts, words.ends, strict=True):
        first, last = page.read(start, end)
        assert page.plain[first:last].split() == text[start:end].split()
        assert page.written(first, last) == (start, end)


@table(__file__, "what_is_said_in_a_layout")
def test_what_is_said_in_a_layout(text: str, said: str) -> None:
    cues = shipped_cues("en")
    page, names = Page(text, laid_out), [word[1:] for word in said.split()]
    places = [page.read(text.index(name), text.index(name) + len(name)) for name in names]
    found = said_of(page.plain, places, cues, find_sections(page.plain, cues))
    signs = {"negated": "-", "uncertain": "?"}
    kinds = [next(iter(sorted(map(signs.get, one.kinds))), "+") for one in found]
    assert " ".join(map(str.__add__, kinds, names)) == said


@table(__file__, "headings_of_any_layout")
def test_headings_of_any_layout(text: str) -> None:
    cues, plain = shipped_cues("en"), laid_out(text)
    places = [(text.index(one), text.index(one) + len(one)) for one in ("Asthma", "Gout", "Rash")]
    said = said_of(plain, places, cues, find_sections(plain, cues))
    assert [sorted(one.kinds) for one in said] == [["historical"], ["historical"], []]


@table(__file__, "neighbours_say_what_is_wrapped")
@pytest.mark.parametrize("around", ["", "x" * 200])
def test_neighbours_say_what_is_wrapped(text: str, is_one_line: bool, around: str) -> None:
    whole = f"{around}\n\n{text}\n\n{around}"
    joined = joined_lines(whole).strip("x\n")
    assert ("\n" not in joined) == is_one_line
    assert Pieces("pneumo-\nthorax").borders[1] == Border.SIGN


_UNITS = (
    '<|<td>a|</a|{|{"|["|{\'a\':|{"a":1,|*|**a|_a |a,no\n|&nbsp;|[ ]|[ ] yes |yes [ ] |? a: |> a\n'
)
_UNITS += "| |a    |a\t|\t|a\n|of\n|a  no  |a    b|\n|--|<b>xx</b> |<!--|'|\\n"


@pytest.mark.parametrize("unit", [*_UNITS.split("|"), "|", "| x "])
def test_layout_of_any_text_is_linear(unit: str) -> None:
    texts = {count: unit * (count // len(unit)) for count in (8_000, 64_000)}
    assert exponent({n: seconds(Page, text, laid_out) for n, text in texts.items()}) < 1.5

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


_SAID = r"""
<td>Fever</td><td>No</td><td>Cough</td><td>Yes</td>|-Fever +Cough
<p>Denies fever</p><p>Cough</p>|-fever +Cough
<ul><li>No <b>fever</b> or <i>rash</i></li><li>Cough|-fever -rash +Cough
<span class="label">Fever</span><span class="value">No</span>|-Fever
<value code="1" displayName="Asthma"/>no <NAME> fever|+Asthma
<input type="checkbox"> Asthma<br><input type="checkbox" checked> Gout|-Asthma +Gout
{"asthma": false, "gout": true, "rash": null}|-asthma +gout ?rash
{"asthma": 0, "gout": 1, "fever": "denied"}|-asthma +gout -fever
{"ros": {"denied": ["fever","cough"], "other": ["rash"]}}|-fever -cough +rash
[{"condition": "asthma", "present": false}, {"name": "gout", "negated": false}]|-asthma +gout
{"note": "No fever.\\nCough", "asthma": false, "gou|-fever +Cough -asthma
{'gout': False, 'asthma': True}|-gout +asthma
asthma,no\ngout,yes\nfever,0|-asthma +gout -fever
"asthma";"false"\n"gout";"true"|-asthma +gout
Fever\tno\ncough\tyes|-Fever +cough
Fever     N    Cough     Y|-Fever +Cough
No fever | cough | no rash|-fever +cough -rash
Symptom | Yes | No\nFever | | X\nCough | X ||-Fever +Cough
Fever: [ ] Yes [x] No\nCough ( ) no (x) yes|-Fever +Cough
Fever: Yes ☐ No ☒\nCough: [ ] Yes [ ] No|-Fever ?Cough
> no fever\n> cough|-fever +cough
Any fever? PT: No. DR: Any cough? PT: Yes.|-fever +cough
There was no evidence of\npneumonia or\nrash. She has\ngout.|-pneumonia -rash +gout
no fever\ncough since may|-fever +cough
Denies\tfever, cough\tAsthma|-fever -cough +Asthma
Gout\tfever\truled out\ncough\tactive|+Gout -fever +cough
No fever on admission\nCough since may|-fever +Cough
No fever    Asthma\nNo rash     Gout|-fever -rash +Asthma +Gout
There was no sign of    She came with\nfever or of any         cough.\nrash.|-fever -rash +cough
"""


@pytest.mark.parametrize("line", _SAID.strip().splitlines())
def test_what_is_said_in_a_layout(line: str) -> None:
    written, _, said = line.rpartition("|")
    text, cues = written, shipped_cues("en")
    if not text.startswith('{"note'):
        text = text.replace("\\n", "\n").replace("\\t", "\t")
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

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.terminologies.icd import read as read_icd
from spacy_medlink.types import Concept
from tests.tables import table


def _read(path: Path, text: str, **options: Any) -> list[Concept]:
    path.write_text(text, encoding="utf8")
    return [record for record in read_icd(path, **options) if isinstance(record, Concept)]


def _code_file(*codes: str) -> str:
    return "".join(f"{code:<7} Description of {code}\n" for code in codes)


@table(__file__, "a_file_is_of_an_edition")
def test_a_file_is_of_an_edition(tmp_path, name, codes, expected, vocabulary):
    """A file of codes, or a table."""
    table = "code,title\n" + "".join(f"{code},x\n" for code in codes)
    text = table if name.endswith(".csv") else _code_file(*codes)
    concepts = _read(tmp_path / name, text)
    assert [concept.id for concept in concepts] == expected
    assert {name.source for concept in concepts for name in concept.names} == {vocabulary}
    assert concepts[0].codes == {vocabulary: (expected[0],)}


@table(__file__, "codes_of_several_editions_are_asked")
def test_codes_of_several_editions_are_asked_about(tmp_path, codes):
    path, text = tmp_path / "list.csv", "code,title\n" + "".join(f"{code},x\n" for code in codes)
    with pytest.raises(MedlinkError, match=rf"E132.*list.csv.*{codes[0]}.*--vocabulary"):
        _read(path, text)
    assert [one.id for one in _read(path, text, source="OTHER")] == codes
    assert _read(path, text, source="OTHER")[0].codes == {"OTHER": (codes[0],)}


def test_windows_1252_as_cms_writes_it(tmp_path):
    path = tmp_path / "CMS32_DESC_LONG_DX.txt"
    path.write_bytes("38600 Ménière's disease\n0010  Cholera\n".encode("cp1252"))
    with pytest.warns(UserWarning, match=r"W110.*1 lines.*line 1"):
        first, _ = read("icd", path)
    assert isinstance(first, Concept)
    assert (first.id, first.name) == ("386.00", "Ménière's disease")


CODES = st.one_of(
    st.from_regex(r"[A-TV-Z][0-9]{2}[0-9]{1,2}", fullmatch=True).map(
        lambda code: (code, "ICD10CM")
    ),
    st.from_regex(r"[0-9]{5}", fullmatch=True).map(lambda code: (code, "ICD9CM")),
    st.from_regex(r"[0-9][0-9A-HJ-NP-Z]{6}", fullmatch=True).map(lambda code: (code, "ICD10PCS")),
)


@given(rows=st.dictionaries(CODES, st.from_regex(r"[A-Z][a-z ,]{0,40}[a-z]", fullmatch=True)))
def test_what_is_written_is_read(tmp_path_factory, rows):
    """Each edition alone, with its dot put back: an own parse of the fixed columns agrees."""
    for vocabulary, dot in (("ICD10CM", 3), ("ICD9CM", 3), ("ICD10PCS", 9)):
        own = {code: text for (code, edition), text in rows.items() if edition == vocabulary}
        lines = [f"{code:<7} {text}" for code, text in own.items()]
        path = tmp_path_factory.mktemp("icd") / f"{vocabulary.lower()}_codes.txt"
        found = {one.id: one.name for one in _read(path, "\n".join(lines))}
        cut = {line[:7].strip(): line[8:] for line in lines}
        assert found == {
            code[:dot] + ("." if len(code) > dot else "") + code[dot:]: text
            for code, text in cut.items()
        }

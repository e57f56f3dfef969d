"""The lexicon of abbreviations."""

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.lexicon import Lexicon

LINES = """# short\tlong

SOB\tshortness of breath
SOB\tsomething else\tOTHER
PE \t pulmonary embolism
"""


def test_entries():
    lexicon = Lexicon.parse(LINES)
    assert len(lexicon) == 3
    assert lexicon.expansions("SOB") == ("shortness of breath",)
    assert lexicon.expansions(" SOB ", "OTHER") == ("something else", "shortness of breath")
    assert lexicon.expansions("sob") == lexicon.expansions("XX") == ()
    assert Lexicon.parse(lexicon.dump()).entries == lexicon.entries


@pytest.mark.parametrize("line", ["SOB", "SOB\t", "\tlong", "a\tb\tc\td"])
def test_lines_that_are_none(tmp_path, line):
    path = tmp_path / "lexicon.tsv"
    path.write_text(f"# first\n{line}\n")
    with pytest.raises(MedlinkError, match=r"E306.*line 2"):
        Lexicon.read(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(MedlinkError, match="E107"):
        Lexicon.read(tmp_path / "missing")
    (tmp_path / "latin").write_bytes(b"\xe9\tx\n")
    with pytest.raises(MedlinkError, match="E306"):
        Lexicon.read(tmp_path / "latin")

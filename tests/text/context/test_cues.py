"""Files of cues: what a line means, and which lines are none."""

from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.text import context
from spacy_medlink.text.context import KINDS, Cues, shipped_cues
from spacy_medlink.text.context.cues import plain
from spacy_medlink.text.tables import read_table
from tests.tables import table

LANGUAGES = sorted(path.stem for path in Path(context.__file__).parent.glob("*.tsv"))


def _phrases(cues: Cues) -> set[tuple[tuple[object, ...], str]]:
    return {(phrase.places, phrase.cue.kind) for same in cues.phrases.values() for phrase in same}


def test_alternatives_and_sets_stand_for_words() -> None:
    cues = Cues.parse(
        "set\tkin\tmother; father\nset\tkin\tfamily member\n"
        "family\tbackward\tin [her|his|] {kin}\n# a remark\n\nnegated\tforward 3\tno"
    )
    her, kin = frozenset({"her", "his"}), frozenset({"mother", "father"})
    assert _phrases(cues) == {
        (("in", her, kin), "family"),
        (("in", kin), "family"),
        (("in", her, "family", "member"), "family"),
        (("in", "family", "member"), "family"),
        (("no",), "negated"),
    }
    (no,) = cues.phrases["no"]
    assert (no.cue.forward, no.cue.backward, no.cue.reach) == (True, False, 3)


def test_the_longest_phrase_of_a_word_comes_first() -> None:
    cues = Cues.parse("negated\tforward\tno; no sign of\npseudo\t\tno increase in")
    assert [len(phrase.places) for phrase in cues.phrases["no"]] == [3, 3, 1]


def test_years_and_numbers_are_any() -> None:
    assert plain("1987") == plain("2031") != plain("1850") == plain("7")
    assert plain("Don’t") == "don't"


@table(__file__, "a_line_that_is_no_cue_is_named")
def test_a_line_that_is_no_cue_is_named(line: str) -> None:
    with pytest.raises(MedlinkError, match=r"E401.*own\.tsv, line 2") as raised:
        Cues.parse(f"# own\n{line}", "own.tsv")
    assert raised.value.code == "E401"


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(MedlinkError, match="E107"):
        read_table(tmp_path / "none.tsv")
    (tmp_path / "bad.tsv").write_bytes(b"negated\tforward\t\xff\xfe")
    with pytest.raises(MedlinkError, match="E401"):
        read_table(tmp_path / "bad.tsv")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_has_all_kinds(lang: str) -> None:
    cues = shipped_cues(lang)
    kinds = {phrase.cue.kind for same in cues.phrases.values() for phrase in same}
    assert kinds == {*KINDS, "end", "pseudo"}
    said = set().union(*(section.said for section in cues.sections.values()))
    assert said == {"family", "historical", "hypothetical"}


def test_languages() -> None:
    assert LANGUAGES == ["de", "en", "es", "fr", "it"]
    assert shipped_cues("en_GB") is not None and shipped_cues("en_GB").phrases
    assert not shipped_cues("xx").phrases

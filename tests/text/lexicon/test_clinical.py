"""The form of the clinical lexicons, and what terminologies know of their long forms."""

import pickle
from collections import Counter
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.text.lexicon import Lexicon, languages, open_lexicon
from spacy_medlink.text.normalisation import key
from spacy_medlink.types import Concept

LEAST = {"en": 400, "es": 100, "de": 100, "fr": 100}
# A short form that is a word in small letters, too: a condition must be met.
WORDS = "AS ALL OR US IT HIT AD ID IS HE WAS CAP CAN HAS TEN DISH CREST CHARGE BED DID SAD PAD TIPS"


def test_there_is_one_for_each_language() -> None:
    assert languages() == sorted(LEAST)


@pytest.mark.parametrize("language", LEAST)
def test_it_is_long_enough(language: str) -> None:
    entries = open_lexicon("clinical", language).entries
    assert len({one.shorts[0] for one in entries if one.is_concept}) >= LEAST[language]


@pytest.mark.parametrize("language", LEAST)
def test_lines_are_sorted_and_none_stands_twice(language: str) -> None:
    path = Path(open_lexicon.__code__.co_filename).with_name(f"{language}.tsv")
    lines = [line for line in path.read_text("utf-8").splitlines() if line[:1] != "#"]
    entries = Lexicon.read(path).entries
    assert len(lines) == len(set(lines)) == len(entries)
    places = [
        (one.shorts[0].casefold(), one.shorts[0], bool(one.conditions.parts)) for one in entries
    ]
    assert places == sorted(places)
    assert [one.line for one in entries] == lines


@pytest.mark.parametrize("language", LEAST)
def test_at_most_one_meaning_holds_without_a_condition(language: str) -> None:
    free = Counter(
        short
        for one in open_lexicon("clinical", language).entries
        if not one.conditions.parts
        for short in one.shorts
    )
    assert [short for short, count in free.items() if count > 1] == []


def test_short_forms_that_are_words_need_a_condition() -> None:
    lexicon = open_lexicon("clinical", "en")
    free = {short for one in lexicon.entries if not one.conditions.parts for short in one.shorts}
    assert free & {*WORDS.split(), *WORDS.lower().split()} == set()


@pytest.mark.parametrize("language", LEAST)
def test_they_are_pickled_by_name(language: str) -> None:
    lexicon = open_lexicon("clinical", language)
    data = pickle.dumps(lexicon)
    assert len(data) < 200
    assert pickle.loads(data).entries == lexicon.entries


def test_names_of_a_setting(tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("HTN\thigh blood pressure of ours\nXYZ\tour own\n")
    both = open_lexicon(["clinical", str(own)], "en")
    assert both.sense("HTN").expansions == ("high blood pressure of ours",)
    assert both.sense("XYZ").expansions == ("our own",)
    assert both.sense("AKI").expansions[0] == "acute kidney injury"
    assert len(open_lexicon(None, "en")) == len(open_lexicon("clinical", "xx")) == 0
    assert open_lexicon("clinical-de", "en").sense("HWI").expansions[0] == "Harnwegsinfekt"
    with pytest.raises(MedlinkError, match=r"E108.*clinical-it.*de, en, es, fr"):
        open_lexicon("clinical-it", "it")
    with pytest.raises(MedlinkError, match="E107"):
        open_lexicon(["clinical", "nowhere.tsv"], "en")


@pytest.mark.slow
def test_terminologies_have_the_long_forms(data_dir: Path) -> None:
    """Of 1,109 English meanings to be linked, 888 are names of open_umls or MEDIC (80 %)."""
    known = set()
    for name in ("open_umls", "medic_2012"):
        for one in read("jsonl", data_dir / f"{name}.kb.jsonl.gz"):
            if isinstance(one, Concept):
                known.update(key(surface.text) for surface in one.names)
    entries = [one for one in open_lexicon("clinical", "en").entries if one.is_concept]
    found = sum(any(key(long) in known for long in one.longs) for one in entries)
    assert found / len(entries) > 0.75

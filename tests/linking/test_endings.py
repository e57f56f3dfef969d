"""What ids end with: which part it is, what fitting finds, what files keep."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from spacy_medlink.errors import MedlinkError
from spacy_medlink.fitting import endings as fitting_endings
from spacy_medlink.fitting.endings import fit_endings
from spacy_medlink.linking.endings import LEAST, Endings, ending_of, features_of

GRADES = {"well differentiated": "31", "moderate": "32", "poorly differentiated": "33", "": "3"}
SITES = ("carcinoma", "sarcoma", "glioma", "melanoma", "lymphoma", "adenoma", "thymoma")
TEXTS = [f"{site} {grade}".strip() for site in SITES for grade in GRADES]
ENDS = [ending for _ in SITES for ending in GRADES.values()]


@pytest.fixture(scope="module")
def grades():
    return fit_endings(TEXTS, ENDS, [1.0] * len(TEXTS))


@pytest.mark.parametrize(
    ("id", "ending"),
    [("8140/33", "33"), ("8140/3/H", "3/H"), ("E11.9", "9"), ("HP:0001250", ""), ("", "")],
)
def test_ids_end_behind_the_first_slash_or_point(id, ending):
    assert ending_of(id) == ending


@given(st.text(alphabet="abc ", max_size=30))
def test_features_are_listed_once(text):
    found = features_of(text)
    assert len(set(found)) == len(found)
    assert set(text.split()) <= set(found)
    assert ("a b" in found) == ("a b" in " ".join(text.split()) and _is_pair(text, "a", "b"))


def _is_pair(text, one, two):
    words = text.split()
    return (one, two) in pairwise(words)


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("neuroblastoma poorly differentiated", "33"),
        ("poorly differentiated tumour of the lung", "33"),
        ("neuroblastoma moderately", "32"),  # by how the word begins
        ("neuroblastoma", "3"),
        ("", "3"),
    ],
)
def test_words_tell_whatever_else_is_said(grades, text, best):
    found = {ending: grades.log_probability(text, f"9500/{ending}") for ending in set(ENDS)}
    assert max(found, key=found.get) == best
    assert sum(map(np.exp, found.values())) == pytest.approx(1, abs=1e-5)


def test_what_was_never_seen_is_least_likely(grades):
    assert grades.log_probability("carcinoma", "8140/9") == LEAST
    assert grades.log_probability("carcinoma", "HP:1") == LEAST


def test_two_endings_are_told_apart_too():
    texts = [f"{site} {end}" for site in SITES for end in ("other", "unspecified")]
    model = fit_endings(texts, ["8", "9"] * len(SITES), [1.0] * len(texts))
    logs = [model.log_probability("fever unspecified", f"R50.{end}") for end in "89"]
    assert logs[1] > logs[0] and sum(map(np.exp, logs)) == pytest.approx(1, abs=1e-5)


def test_what_counts_more_decides():
    texts, ends = ["tumour"] * 6, ["1", "3"] * 3
    for weights, best in (([1.0, 5.0] * 3, "3"), ([5.0, 1.0] * 3, "1")):
        model = fit_endings(texts, ends, weights)
        assert max("13", key=lambda end: model.log_probability("tumour", f"8000/{end}")) == best


def test_without_two_endings_there_is_nothing_to_tell_apart():
    assert fit_endings([], [], []) is None
    assert fit_endings(TEXTS, ["3"] * len(TEXTS), [1.0] * len(TEXTS)) is None
    assert fit_endings(["a", "b", "c", "d"], ["3", "3", "3", "6"], [1.0] * 4) is None


def test_of_many_endings_the_most_common_are_told_apart(monkeypatch):
    monkeypatch.setattr(fitting_endings, "_MOST", 2)
    ends = ["1"] * 5 + ["2"] * 4 + ["3"] * 3
    found = fit_endings(["tumour"] * len(ends), ends, [1.0] * len(ends))
    assert found.endings == ("1", "2")
    assert found.log_probability("tumour", "8000/3") == LEAST


def test_files_keep_everything(grades, tmp_path):
    for name in ("one", "other"):
        grades.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    again = Endings.load(tmp_path / "one")
    assert again.fingerprint == grades.fingerprint
    assert again.endings == grades.endings and again.features == grades.features
    for text in TEXTS:
        assert again.log_probability(text, "1/33") == grades.log_probability(text, "1/33")
    other = fit_endings(TEXTS, ENDS[1:] + ENDS[:1], [1.0] * len(TEXTS))
    assert other.fingerprint != grades.fingerprint


@pytest.mark.parametrize("damage", ["nothing", "text", "cut", "shape", "nan", "words"])
def test_damaged_files(grades, tmp_path, damage):
    file = tmp_path / "endings.safetensors"
    grades.save(file)
    parts = load_file(file)
    says = {"says": json.dumps({"endings": grades.endings, "features": grades.features})}
    match damage:
        case "nothing":
            file.unlink()
        case "text":
            file.write_text("{}", encoding="utf-8")
        case "cut":
            file.write_bytes(file.read_bytes()[:-8])
        case "shape":
            save_file({**parts, "bias": parts["bias"][1:]}, file, says)
        case "nan":
            save_file({**parts, "bias": parts["bias"] * np.nan}, file, says)
        case "words":
            save_file(parts, file)
    with pytest.raises(MedlinkError, match="E202"):
        Endings.load(file)

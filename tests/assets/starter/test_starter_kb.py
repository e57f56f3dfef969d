"""The starter KB that ships in the wheel: its form, its languages, its CUIs."""

import re
from collections import Counter, defaultdict

import pytest
import spacy.util

from spacy_medlink.kb.readers import jsonl
from spacy_medlink.text.normalisation import is_short_form, key
from tests.assets.starter import check_cuis

LANGUAGES = ("en", "es", "de", "fr")
TERM_TYPES = {"PT", "SY", "AB"}
FIELDS = {"concept_id", "canonical_name", "names", "types", "definition", "codes"}
ICD10CM = re.compile(r"[A-Z]\d[\dA-Z](\.[\dA-Z]{1,4})?")

# Names that may stand for two concepts (as keys of the exact tier). None at present: an
# ambiguous name is better left out of a starter terminology.
SHARED_NAMES: frozenset[str] = frozenset()

STARTER = check_cuis.read_starter()


def each_name():
    for entry in STARTER:
        for name in entry["names"]:
            yield entry, name


def test_every_line_is_a_concept_for_the_reader():
    concepts = list(jsonl.read(check_cuis.STARTER_KB))
    assert [concept.id for concept in concepts] == [entry["concept_id"] for entry in STARTER]
    assert len(concepts) >= 150


def test_ids_are_cuis_sorted_and_unique():
    ids = [entry["concept_id"] for entry in STARTER]
    assert [id for id in ids if not re.fullmatch(r"C\d{7}", id)] == []
    assert ids == sorted(set(ids))


def test_fields():
    for entry in STARTER:
        assert entry.keys() <= FIELDS, entry["concept_id"]
        assert entry["definition"].endswith("."), entry["concept_id"]
        assert entry["types"], entry["concept_id"]
        assert all(re.fullmatch(r"T\d{3}", tui) for tui in entry["types"]), entry["concept_id"]
        for vocabulary, codes in entry.get("codes", {}).items():
            assert vocabulary == "ICD10CM"
            assert codes and all(ICD10CM.fullmatch(code) for code in codes), entry["concept_id"]


def test_names_are_tidy():
    for entry, name in each_name():
        assert name.keys() == {"name", "lang", "source", "tty"}, entry["concept_id"]
        assert name["source"] == "STARTER"
        assert name["tty"] in TERM_TYPES
        assert name["name"] == " ".join(name["name"].split()) != "", entry["concept_id"]
        assert len(name["name"]) > 1


def test_one_preferred_name_in_each_language():
    for entry in STARTER:
        preferred = Counter(n["lang"] for n in entry["names"] if n["tty"] == "PT")
        assert preferred == dict.fromkeys(LANGUAGES, 1), entry["concept_id"]
        english = next(n for n in entry["names"] if n["tty"] == "PT" and n["lang"] == "en")
        assert entry["canonical_name"] == english["name"]


def test_no_name_twice_in_a_language_of_a_concept():
    for entry in STARTER:
        counts = Counter((n["lang"], n["name"].casefold()) for n in entry["names"])
        assert counts.most_common(1)[0][1] == 1, (entry["concept_id"], counts.most_common(1))


def test_no_name_belongs_to_two_concepts():
    owners = defaultdict(set)
    for entry, name in each_name():
        owners[key(name["name"])].add(entry["concept_id"])
    shared = {name: ids for name, ids in owners.items() if len(ids) > 1}
    assert {name: ids for name, ids in shared.items() if name not in SHARED_NAMES} == {}


def test_abbreviations_are_cased_and_no_name_is_a_stop_word():
    stop_words = {
        key(word)
        for lang in LANGUAGES
        for word in spacy.util.get_lang_class(lang).Defaults.stop_words
    }
    for entry, name in each_name():
        if name["tty"] == "AB":
            assert sum(letter.isupper() for letter in name["name"]) >= 2, entry["concept_id"]
        if not is_short_form(name["name"]):
            assert key(name["name"]) not in stop_words, (entry["concept_id"], name)


def test_cuis_agree_with_the_open_names():
    if not check_cuis.OPEN_NAMES.exists():
        pytest.skip(f"needs {check_cuis.OPEN_NAMES} (set MEDLINK_DATA)")
    coverage = check_cuis.compare(STARTER, check_cuis.read_open_names())
    print(check_cuis.summary(coverage, STARTER))
    assert coverage.mismatched == []
    assert len(coverage.verified) >= 0.9 * len(STARTER)


def _entry(cui, *names):
    return {
        "concept_id": cui,
        "canonical_name": names[0],
        "names": [{"name": name, "lang": "en"} for name in names],
    }


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        (_entry("C0000001", "Back pain"), "verified"),
        (_entry("C0000001", "Sore back", "back pains"), "verified"),
        (_entry("C0000001", "Chest pain"), "mismatched"),
        (_entry("C0000001", "Pain behind", "BP"), "mismatched"),
        (_entry("C0000002", "Back pain"), "not_there"),
    ],
)
def test_the_check_tells_right_from_wrong(ours, verdict):
    coverage = check_cuis.compare([ours], [_entry("C0000001", "BACKPAIN", "Back pain, NOS", "BP")])
    assert getattr(coverage, verdict) == [ours["concept_id"]]
    assert sum(map(len, coverage)) == 1

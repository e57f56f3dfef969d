"""Words written short within a name, names that say their head first, and ordinary words."""

from collections.abc import Callable
from pathlib import Path

import pytest
import spacy

from spacy_medlink.text.normalisation import key
from spacy_medlink.text.written_forms import in_full, is_ordinary, ways_in_full, words_within
from spacy_medlink.types import Concept, Name
from tests.tiny import assets_of

NAMES = (
    "left ventricular hypertrophy", "atrioventricular block", "first degree atrioventricular block",
    "arteriovenous fistula", "iron deficiency anemia", "anemia", "abdominal pain", "leg edema",
    "febrile seizures", "seizures", "pulmonary edema", "edema", "nausea and vomiting", "nausea",
    "vomiting", "chest pain", "punding", "rickets", "tender", "eye disease", "miliary", "snoring",
    "Crohn disease", "left-sided", "hypothyroidism",
)  # fmt: skip


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> str:
    concepts = [Concept(name, name, (Name(name),)) for name in NAMES]
    return str(assets_of(tmp_path_factory.mktemp("within"), concepts).path)


@pytest.fixture(scope="module")
def found(assets: str) -> Callable[[str], list[tuple[str, str]]]:
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions", config={"assets": assets})
    nlp.add_pipe("medical_linker", config={"assets": assets, "threshold": 0.0, "lexicon": None})
    return lambda text: [(ent.text, ent.kb_id_) for ent in nlp(text).ents]


@pytest.mark.parametrize(
    ("text", "mention", "name"),
    [
        ("mild LV hypertrophy", "LV hypertrophy", "left ventricular hypertrophy"),
        ("AV block on ECG", "AV block", "atrioventricular block"),
        ("1st degree AV block.", "1st degree AV block", "first degree atrioventricular block"),
        ("AV fistula placed", "AV fistula", "arteriovenous fistula"),
        ("Fe def anemia", "Fe def anemia", "iron deficiency anemia"),
        ("abdo pain", "abdo pain", "abdominal pain"),
        ("no LE edema", "LE edema", "leg edema"),
        ("1. Seizures, febrile\n2. Gout", "Seizures, febrile", "febrile seizures"),
        ("Dx: Edema, pulmonary.", "Edema, pulmonary", "pulmonary edema"),
        ("Pain, chest", "Pain, chest", "chest pain"),
    ],
)
def test_the_whole_is_the_mention(found, text, mention, name):
    assert found(text) == [(mention, name)]


@pytest.mark.parametrize(
    ("text", "ents"),
    [
        ("le edema", [("edema", "edema")]),  # capitals alone are short
        ("Seen in LA. Edema.", [("Edema", "edema")]),
        ("Nausea, vomiting.", [("Nausea", "nausea"), ("vomiting", "vomiting")]),
        ("He had edema, pulmonary function was good.", [("edema", "edema")]),
        ("left-sided", []),
        ("The eyes were examined.", []),
        ("Crohns since 2012", [("Crohns", "Crohn disease")]),
        ("hypothyroidsm", [("hypothyroidsm", "hypothyroidism")]),
        *((f"Two {word} were noted.", []) for word in ("tickets", "crickets", "lenders")),
        *((f"The {word} was noted.", []) for word in ("gender", "funding", "pending", "scoring")),
        ("Military service", []),
    ],
)
def test_other_texts_stay_apart(found, text, ents):
    assert found(text) == ents


@pytest.mark.parametrize(
    ("mention", "name", "match"),
    [
        ("LV hypertrophy", "left ventricular hypertrophy", ""),
        ("severe LV hypertrophy", "left ventricular hypertrophy", "narrower"),
        ("1st degree AV block", "first degree atrioventricular block", ""),
        ("hypothyroid", "hypothyroidism", ""),
        ("hx of anemia", "anemia", ""),
    ],
)
def test_given_mentions_are_read_in_full_too(assets, mention, name, match):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_linker", config={"assets": assets})
    doc = nlp.make_doc(f"Pt has {mention}.")
    doc.ents = [doc.char_span(7, 7 + len(mention), label="PROBLEM", alignment_mode="expand")]
    (ent,) = nlp(doc).ents
    assert ent.kb_id_ == name
    assert ent._.candidates[0].get("match", "") == match


def test_a_saved_lexicon_of_ones_own_reads_given_mentions_in_full(assets, tmp_path):
    (tmp_path / "own.tsv").write_text("XYZ\tanemia\n", "utf8")
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_linker", config={"assets": assets, "lexicon": str(tmp_path / "own.tsv")})
    nlp.to_disk(tmp_path / "saved")
    for linker in (nlp, spacy.load(tmp_path / "saved")):
        doc = linker.make_doc("LV hypertrophy")
        doc.ents = [doc.char_span(0, 14, label="PROBLEM")]
        assert [ent.kb_id_ for ent in linker(doc).ents] == ["left ventricular hypertrophy"]


def test_lists_of_short_words_are_not_read_in_all_ways():
    short = words_within("en")
    words = [word for word in short if word.isupper()]
    assert ways_in_full(["AV", "fistula"], short)[1] == "arteriovenous fistula"
    assert len(ways_in_full(["1st", "degree", "AV", "block"], short)) == 7
    assert ways_in_full(words, short) == () == in_full(" ".join(words), "en")


def test_ordinary_words_and_their_forms():
    words = "funds funded funding tickets pageant planting copies hopping stories"
    assert all(is_ordinary(word, "en") for word in words.split())
    ill = "swelling sweating bleeding tearing aching limping spotting wasted panting tumor"
    assert not any(is_ordinary(word, "en") for word in ill.split())
    assert not is_ordinary("funding", "de")


def test_the_list_of_ordinary_words_has_no_word_twice():
    path = Path(__file__).parents[3] / "spacy_medlink/text/lists/ordinary.en.txt"
    lines = path.read_text(encoding="utf8").splitlines()
    words = [word for line in lines if not line.startswith("#") for word in line.split()]
    assert len(words) == len(set(words))
    assert all(word == word.lower() and key(word) for word in words)

"""What is a name and no mention: words of general language, headings, names in other languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.assets.languages import common_words, heading_words
from spacy_medlink.components.finding.left_out import mentions_among
from spacy_medlink.components.finding.matches import Match
from spacy_medlink.components.finding.settings import HEADINGS, LEAVE_OUT
from spacy_medlink.errors import MedlinkError
from spacy_medlink.retrieval.exact import ExactIndex
from spacy_medlink.text.normalisation import key
from spacy_medlink.text.pieces import Border, Pieces
from tests.pipelines import finder
from tests.tables import table
from tests.tiny import concept

RECORDS = [
    concept("NEW", "New"), concept("LEFT", "Left", "LEFT side"), concept("SHOW", "Shows"),
    concept("POS", "Positive"), concept("DAY", "Days"), concept("SWITCH", "Switch"),
    concept("WAS", "WAS", "NEWS"), concept("HEART", "Left heart", types=("T047",)),
    concept("COLD", "Cold"), concept("PAIN", "Pain", types=("T184",)),
    concept("NEO", "Oncology", "Neoplasm"), concept("HIST", "Family history"),
    concept("DM", "Diabetes"), concept("CARD", "Cardiology"), concept("ALL", "Allergy"),
    concept("ES", "Spain", types=("T083",)), concept("MON", "Gestalt", types=("T080", "T047")),
    concept("REG", "Catalonia coast", types=("T083",)), concept("LANG", "Klingon"),
    *(concept(f"N{n}", "Ambigua", f"Sole{n}") for n in range(7)),
    *(concept(f"F{n}", "Gestosis") for n in range(6)),
    concept("LEU", "LMP", "leucoencefalopatía", lang="es"), concept("FIB", "Fieber", lang="de"),
    concept("ANY", "anonyma", lang=""), concept("MUL", "multica", lang="mul"),
]  # fmt: skip

NO_NAMES = ExactIndex.build([], [])
LISTED = ("de", "en", "es", "fr")
NOTE = """ONCOLOGY
Seen today. Family history: diabetes. Diabetes: stable.
2. Cardiology: no allergy
FAMILY HISTORY OF DIABETES
DIABETES
Allergy - none; cardiology: see above
"""


def found(nlp, text):
    return [ent.text for ent in nlp(text).ents]


def without(*rules):
    return [rule for rule in LEAVE_OUT if rule not in rules]


@table(__file__, "each_rule_and_how_to_turn_it_off")
def test_each_rule_and_how_to_turn_it_off(assets, text, rule, names):
    everything = found(finder(assets, leave_out=without(rule)), text)
    assert [name for name in everything if name in names] == names
    assert found(finder(assets), text) == [name for name in everything if name not in names]


def test_longer_names_and_clinical_words_stay(assets):
    text = "a left heart, a cold, pain; Catalonia coast, left side"
    assert found(finder(assets), text) == [
        "left heart", "cold", "pain", "Catalonia coast", "left side",
    ]  # fmt: skip


def test_short_forms_are_no_common_words(assets):
    assert found(finder(assets), "the NEWS, the news, NEW and LEFT") == ["NEWS"]


def test_who_asks_for_types_gets_them(assets):
    assert found(finder(assets, types=["GEOG"]), "Spain, pain") == ["Spain"]


def test_headings(assets):
    assert found(finder(assets), NOTE) == [
        "diabetes", "Diabetes", "allergy", "FAMILY HISTORY", "DIABETES", "DIABETES", "Allergy",
    ]  # fmt: skip
    assert "ONCOLOGY" in found(finder(assets, leave_out=without("headings")), NOTE)


def _begins(pieces, place):
    return pieces.borders[place] == Border.SENTENCE or "\n" in pieces.gaps[place]


@given(st.lists(st.sampled_from(["HISTORY", "x", ":", "\n", "of", "2.", "-", "oncology"])))
def test_headings_take_nothing_else_away(words):
    pieces = Pieces(" ".join(words))
    every = [Match(place, place + 1, frozenset([place]), (0,)) for place in range(len(pieces))]
    kept = mentions_among(pieces, every, NO_NAMES, "en", [HEADINGS])
    assert [one for one in every if one in kept] == kept
    for match in set(every) - set(kept):
        before = [0, *(at for at in range(match.start + 1) if _begins(pieces, at))][-1]
        rest = pieces.text[pieces.starts[before] :]
        end = min(rest.index(one) for one in (":", "\n") if one in rest)
        assert "x" not in rest[:end]
        assert pieces.starts[match.start] < pieces.starts[before] + end


@table(__file__, "languages_follow_the_finder")
def test_languages_follow_the_finder(assets, lang, ents):
    """Where no name is in the pipeline's language (it), all are found: somebody wants them."""
    text = "LMP, Fieber, anonyma, multica"
    assert found(finder(assets, lang), text) == ents
    assert found(finder(assets, lang, languages=["es"]), text) == ["LMP"]
    assert len(found(finder(assets, lang, languages=[]), text)) == 4


def test_what_is_not_to_be_left_out_must_be_known(assets):
    for wrong in (["common", "rare"], "common"):
        with pytest.raises((MedlinkError, ValueError)):
            finder(assets, leave_out=wrong)


@pytest.mark.parametrize("lang", LISTED)
def test_lists(lang):
    assert len(common_words(lang)) > 600 and len(heading_words(lang)) > 90
    assert common_words(lang) is common_words(lang)
    assert all(word == key(word) and word for word in common_words(lang) | heading_words(lang))


def test_languages_without_lists():
    assert common_words("xx") == heading_words("nl") == frozenset()
    assert common_words("en-GB") == common_words("en")


# Findings, disorders, parts of the body and drugs that are words of general language, too.
CLINICAL = {
    "en": "ache allergy anxiety appetite arm arrest asthma attack back balance bite bleeding blind "
    "blood bone brain breast breath bruise bump burn cancer chest choking cold coma confusion "
    "cough cramp crisis cut deaf death delirium depression diabetes discharge dizzy "
    "dry ear eye face faint fall falls fatigue fear fever finger fit flu flush foot fracture "
    "frequency gait gold growth hair hand headache heart hearing hip hot hunger hurt infection "
    "injury insulin iron itch jaw joint kidney knee labor lead leg lip lithium liver lump lung "
    "lying-in mass memory migraine mole mouth movement murmur muscle nail nausea neck nerve nose "
    "numb obese pain pale palm panic patch poison pregnancy pressure pulse pupil rash rhythm "
    "salt scar seizure shock shoulder sick skin sleep smoking sneeze snoring sore spell spine "
    "spot stiff sting stomach stool strain stress stroke sugar suicide sweat swelling tear "
    "temperature tender tension thirst throat tick tired toe tongue tooth trauma tremor tumor "
    "ulcer urgency urine vision voice vomiting weak weakness wheezing wound wrist yawning",
    "de": "anfall angst arm atem auge ausfluss ausschlag bein blut brust darm druck fall fieber "
    "fuß gicht haar hals hand haut herz husten kalt knie kopf krampf krebs leber lunge magen müde "
    "narbe nase niere ohr puls rücken schlag schmerz schock schwindel stich stuhl sturz wunde zahn",
    "es": "ataque boca brazo cabeza caída cara choque corazón corte crisis cuello dedo diente "
    "dolor espalda estrés fiebre frío golpe gota gripe herida hígado hueso llaga mama mano masa "
    "miedo nariz náusea ojo oído parto peso pie piel pierna presión pulmón pulso regla riñón "
    "sangre sed sueño temblor tensión tos",
    "fr": "bouche bras cancer chute choc coeur coup crise dent doigt dos douleur estomac fatigue "
    "fièvre foie froid genou gorge goutte grippe jambe langue main mal masse nez oeil oreille os "
    "peau peur pied plaie poumon pouls pression règles rein rhume sang sein selle soif sommeil "
    "tension tête toux vertige",
}


@pytest.mark.parametrize("lang", LISTED)
def test_words_for_what_patients_have_are_not_common(lang):
    clinical = {key(word) for word in CLINICAL[lang].split()}
    assert not clinical & common_words(lang)

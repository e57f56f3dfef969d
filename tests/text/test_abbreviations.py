"""Abbreviations that a document defines: both orders, layout, what is no definition, and speed."""

import gzip
import json
import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.kb.gold import read_gold
from spacy_medlink.text.abbreviations import find_definitions, implied_definitions
from spacy_medlink.text.abbreviations.expansion import LongForms
from spacy_medlink.text.abbreviations.implied import abbreviates, letters_of
from tests.tables import table
from tests.timing import cpu_seconds


@table(__file__, "definitions")
def test_definitions(text, short, long):
    assert find_definitions(text) == {short: long}


@table(__file__, "no_definition")
def test_no_definition(text):
    assert find_definitions(text) == {}


@given(st.text(st.sampled_from("aAbB1 ()[]-;,.\n\té😀"), max_size=60))
def test_what_is_found_stands_in_the_text(text):
    words = text.split()
    for short, long in find_definitions(text).items():
        assert short in text
        assert " ".join(long.split()) == long
        assert long in " ".join(words)
        assert len(long) > len(short)
        assert 2 <= len(short) <= 10
        assert not set("()") & set(long)


SENTENCE = "An atrial septal defect (ASD) was seen, and COPD (chronic obstructive disease). "
HARD = {
    "prose": SENTENCE * (100_000 // len(SENTENCE)), "open": "(" * 100_000,
    "closed": "ab (" + "a" * 99_000, "pairs": "(AB)" * 25_000,
    "empty lines": ("AB (a b)" + "\n" * 12) * 5_000, "lines": "\n" * 99_990 + "(AB)",
    "spaces": ("x " + " " * 140 + "(AB)") * 680, "one word": ("a" * 290 + "(BA)") * 340,
    "sentences": ". A" * 33_000 + "(AB)", "emoji": "😀" * 50_000 + "(AB)" + "😀" * 49_000,
    "gaps": ("a b " * 60 + "(ZA)") * 400,
}  # fmt: skip


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_long_documents_take_little_time(text):
    assert cpu_seconds(lambda: find_definitions(text)) < 1


@table(__file__, "beyond_the_paper")
def test_beyond_the_paper(text, defined):
    assert find_definitions(text) == defined


@table(__file__, "what_mentions_of_a_document_imply")
def test_what_mentions_of_a_document_imply(mentions, implied):
    defined = {"PEM": "protein-energy malnutrition"}
    assert implied_definitions(mentions, defined) == implied


@given(st.lists(st.text(st.sampled_from("aAbBcC -sé1"), max_size=12), max_size=8))
def test_what_is_implied_is_spelled_by_its_words(mentions):
    for short, long in implied_definitions(mentions, {}).items():
        assert short in mentions or f"{short}s" in mentions
        assert long in {" ".join(text.split()) for text in mentions}
        letters = iter(long.lower())
        assert all(char in letters for char in short.lower())
        assert long.lower().split()[0][0] == short[0].lower()


def test_what_is_implied_is_right_in_real_text(data_dir):
    """The abbreviation and the mention that explains it are annotated with the same concept."""
    undefined, explained, documents = 0, 0, set()
    for corpus in ("ncbi_disease", "bc5cdr"):
        for document in read_gold(data_dir / f"{corpus}.train.jsonl.gz"):
            defined = find_definitions(document.text or "")
            said = [(own.text, set(own.ids)) for own in document.mentions]
            implied = implied_definitions((text for text, _ in said), defined)
            for text, ids in said:
                short = text.removesuffix("s")
                if not re.fullmatch("[A-Z]{3,6}", short) or LongForms(defined).written_out(short):
                    continue
                undefined += 1
                if short in implied:
                    explained += 1
                    documents.add(document.doc_id)
                    assert any(ids & its for long, its in said if long == implied[short])
    assert (undefined, explained, len(documents)) == (235, 30, 11)


@table(__file__, "initials")
def test_initials(short, text, fits):
    assert abbreviates(short, letters_of(text)) is fits
    assert abbreviates(short.lower(), letters_of(text.upper())) is fits


@given(st.lists(st.sampled_from("heart Lung of de überfunktion hyperthyroidism 2".split())))
def test_first_letters_of_all_words_abbreviate(words):
    assert abbreviates("".join(word[0] for word in words), letters_of(" ".join(words)))


@pytest.mark.slow
def test_initials_explain_the_abbreviations_of_a_terminology(data_dir):
    """By another name of the concept they are meant to; by one of another concept hardly ever."""
    with gzip.open(data_dir / "medic_2012.kb.jsonl.gz", "rt", encoding="utf-8") as file:
        concepts = [json.loads(line) for line in file]
    shorts, by_letter = [], {}
    for place, concept in enumerate(concepts):
        names = [concept["canonical_name"], *concept["aliases"]]
        shorts += [(one, place, names) for one in names if re.fullmatch("[A-Z]{3,6}", one)]
        by_letter.setdefault(names[0][0].lower(), []).append((names[0], place))
    lent = cache(letters_of)
    ways = (_first_letters, lambda short, name: abbreviates(short, lent(name)))
    own = [sum(any(way(one, name) for name in names) for one, _, names in shorts) for way in ways]
    assert (len(shorts), own) == (1639, [476, 643])
    pairs = [
        (one, name)
        for one, place, _ in sorted(shorts)  # by their first letters, for the sake of the caches
        for name, other in by_letter[one[0].lower()] if other != place
    ]  # fmt: skip
    chance = [10_000 * sum(way(*pair) for pair in pairs) / len(pairs) for way in ways]
    assert [round(share) for share in chance] == [4, 6]


def _first_letters(short, text):
    return short.lower() == _initials(text)


@cache
def _initials(text):
    return "".join(word[0] for word in re.findall(r"[^\W_]+", text.lower()))


def test_a_document_of_many_abbreviations_takes_little_time():
    capitals = [f"A{b}{c}" for b in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for c in "ABCDEFGHIJKLMNOPQRSTUVW"]
    mentions = [*(f"a{'ab' * 20} b{number}{'bc' * 20}" for number in range(2_500)), *capitals]
    assert cpu_seconds(lambda: implied_definitions(mentions, {})) < 5


DEFINED = {
    "SJS": "Schwartz-Jampel syndrome",
    "G6PD": "glucose-6-phosphate dehydrogenase",
    "HPRT": "hypoxanthine phosphoribosyltransferase",
    "APRT": "adenine phosphoribosyltransferase", "WT": "Wilms tumour", "WT1": "Wilms tumour 1",
    "FAP": "familial APC", "AFAP": "attenuated FAP", "APC": "adenomatous polyposis coli",
    "ONE": "TWO more", "TWO": "ONE less",
}  # fmt: skip


@table(__file__, "abbreviations_within_a_mention_are_written")
def test_abbreviations_within_a_mention_are_written_out(text, written):
    assert LongForms(DEFINED).written_out(text) == written


@given(st.text(max_size=40), st.dictionaries(st.text(max_size=6), st.text(max_size=12), max_size=3))
def test_writing_out_takes_any_text(text, defined):
    written = LongForms(defined).written_out(text)
    assert text.strip() in defined or written == "" or written != text.strip()

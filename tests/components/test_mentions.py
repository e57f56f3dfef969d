"""The component medical_mentions, against a plain search and by example."""

from itertools import pairwise

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.lang.en import English
from spacy.tokens import Doc, Span

from spacy_medlink.components.finding.settings import LEAVE_OUT
from spacy_medlink.text.any_order import any_order_key
from spacy_medlink.text.normalisation import is_short_form, key
from spacy_medlink.text.pieces import Border, Pieces
from tests.pipelines import finder
from tests.tables import table
from tests.timing import cpu_seconds

NAMES = [
    "Fever", "Heart attack", "Attack", "Acute heart attack", "Heart failure", "Crohn disease",
    "Parkinson's disease", "Beta-blocker", "Type 2 diabetes", "Diabetes", "Tumor", "Biopsy",
    "PE", "ALL", "AIDS", "It", "The", "Not", "All of us", "5", "2-5", "A", "B", "Vitamin B 12",
    "Vitamin B", "B 12", "Diabète", "Vorhofflimmern", "血圧", "血", "COVID-19",
    "Non small cell lung cancer stage", "HER2+", "Sjögren",
    "one two three four five six seven eight", "one two three four five six seven eight nine",
    "+", "T", "Cold", "C. difficile",
]  # fmt: skip


def pipeline(assets, lang="en", **config):
    """A pipeline that finds parts of phrases, too: what are parts is tested elsewhere."""
    config.setdefault("leave_out", [rule for rule in LEAVE_OUT if rule != "parts"])
    return finder(assets, lang, **config)


@pytest.fixture(scope="module")
def nlp(assets):
    return pipeline(assets)


def found(nlp, text):
    return [ent.text for ent in nlp(text).ents]


@table(__file__, "matches")
def test_matches(nlp, text, ents):
    assert found(nlp, text) == ents


@table(__file__, "other_languages")
def test_other_languages(assets, lang, text, ents):
    assert found(pipeline(assets, lang), text) == ents


WORDS = st.lists(
    st.sampled_from(
        ["acute", "heart", "attack", "Attacks", "failure", "fever", "the", "all", "ALL", "of", "us",
         "PE", "pe", "5", "B", "12", "vitamin", "-", ".", "\n\n", "\n", "one", "two", "three", "'s",
         "Crohn", "disease", "2", "血圧"]
    ),
    max_size=12,
)  # fmt: skip


def by_plain_search(text):
    """Every run of pieces whose key is a name's, tried one by one."""
    pieces = Pieces(text, English.Defaults.stop_words)
    spans = set()
    for start in range(len(pieces)):
        for end in range(start + 1, min(start + 8, len(pieces)) + 1):
            first, last = pieces.characters(start, end)
            own = " ".join(map(key, pieces.texts[start:end]))
            names = [name for name in NAMES if key(name) == own]
            if not any(not is_short_form(name) or name == text[first:last] for name in names):
                continue
            if max(pieces.borders[start + 1 : end], default=0) >= Border.COMMA:
                continue  # no name has one
            if end == start + 1 and (pieces.is_stop[start] or len(own) < 2 or own.isdigit()):
                continue
            spans.add((first, last))
    return spans


@given(WORDS)
def test_find_agrees_with_a_plain_search(nlp, words):
    doc = Doc(nlp.vocab, words=words)
    spans = nlp.get_pipe("medical_mentions").find(doc)
    places = {(span.start_char, span.end_char) for span in spans}
    wanted = by_plain_search(doc.text)
    assert wanted <= places
    orders = {any_order_key(name.split()) for name in NAMES}
    for first, last in places - wanted:
        assert any_order_key(doc.text[first:last].split()) in orders - {""}
    assert len(spans) == len(places)
    assert doc.ents == ()


@given(WORDS, st.sampled_from([" ", "", ";", ", "]))
def test_entities_do_not_overlap_and_are_what_was_found(nlp, words, sign):
    text = sign.join(words)
    places = {
        (span.start_char, span.end_char)
        for span in nlp.get_pipe("medical_mentions").find(nlp.make_doc(text))
    }
    doc = nlp(text)
    assert doc.text == text
    for ent, after in pairwise([*doc.ents, None]):
        assert text[ent.start_char : ent.end_char] == ent.text
        assert after is None or ent.end <= after.start
    if sign == " ":
        assert {(ent.start_char, ent.end_char) for ent in doc.ents} <= places


SIGNS = st.one_of(st.sampled_from("fever, FEVER;PE\n-.&#38;’s\u00ad\u200bβ("), st.characters())


@given(st.text(SIGNS))
def test_a_mention_is_a_piece_of_its_text(nlp, text):
    """Offsets are those of the text as it came, whatever is in it."""
    text = f"fever;{text};fever"
    doc = nlp(text)
    assert doc.text == text
    assert {ent.text for ent in doc.ents if "fever" in ent.text}


def test_the_longest_match_is_limited(assets, nlp):
    nine = "one two three four five six seven eight nine"
    assert found(nlp, nine) == ["one two three four five six seven eight"]
    assert found(nlp, nine.replace(" ", "-")) == ["one-two-three-four-five-six-seven-eight"]


def with_ents(assets, **config):
    """A pipeline in which "bad heart" and "fever" are entities already."""
    nlp = pipeline(assets, **config)
    ruler = nlp.add_pipe("entity_ruler", first=True)
    ruler.add_patterns([{"label": "OWN", "pattern": text} for text in ("bad heart", "fever")])
    return nlp


def test_existing_entities_are_kept(assets):
    doc = with_ents(assets)("a bad heart attack, fever and diabetes")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("bad heart", "OWN"), ("attack", "CONCEPT"), ("fever", "OWN"), ("diabetes", "CONCEPT"),
    ]  # fmt: skip


def test_existing_entities_are_replaced_where_asked(assets):
    doc = with_ents(assets, overwrite=True)("a bad heart attack, fever; bad heart")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("heart attack", "CONCEPT"), ("fever", "CONCEPT"), ("bad heart", "OWN"),
    ]  # fmt: skip


def test_a_span_group_keeps_overlaps(assets):
    nlp = with_ents(assets, spans_key="sc")
    doc = nlp("an acute heart attack, fever")
    assert [span.text for span in doc.spans["sc"]] == [
        "acute heart attack", "heart attack", "attack", "fever",
    ]  # fmt: skip
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("fever", "OWN")]
    assert len(nlp("nothing").spans["sc"]) == 0


def test_the_starter_needs_no_warning(recwarn):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions")
    assert found(nlp, "Known Alzheimer's disease, COPD.") == ["Alzheimer's disease", "COPD"]
    assert not recwarn.list


LONG = {
    "prose": "He had an acute heart attack, 5 fevers and type 2 diabetes. " * 1700,
    "one name": "fever " * 16_000,
    "one word": "x" * 100_000,
    "emoji": "😀 " * 30_000,
    "lines": "fever\n\n" * 14_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_documents_of_100_000_characters(nlp, text):
    nlp.max_length = 200_000
    doc = nlp.make_doc(text)
    component = nlp.get_pipe("medical_mentions")
    assert cpu_seconds(lambda: component(doc)) < 3
    assert len(doc.ents) == text.count("fever") + text.count("attack") + text.count("diabetes")


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("blocked", [[], [2], [2, 4]])
def test_blocked_tokens_stay_out_of_entities(tiny_assets, overwrite, blocked):
    """As `doc.set_ents(blocked=...)` says; a mention that has such a token is none."""
    nlp = finder(tiny_assets, overwrite=overwrite)
    doc = nlp.make_doc("fever and heart attack , asthma")
    doc.set_ents([], blocked=[doc[row : row + 1] for row in blocked])
    doc = nlp(nlp(doc))
    attack = [] if blocked else ["heart attack"]
    assert [ent.text for ent in doc.ents] == ["fever", *attack, "asthma"]
    assert [token.i for token in doc if token.ent_iob == 3 and not token.ent_type] == blocked


def test_a_span_group_of_somebody_else_is_added_to(tiny_assets):
    """Also by two dictionaries, the linker and the sections; twice makes no difference."""
    nlp = finder(tiny_assets, spans_key="a", linking={"spans_key": "a"})
    nlp.add_pipe(
        "medical_mentions",
        "more",
        before="medical_linker",
        config={"assets": str(tiny_assets.path), "spans_key": "a", "label": "MORE"},
    )
    nlp.add_pipe("medical_context", config={"spans_key": "a"})
    doc = nlp.make_doc("Assessment: fever")
    for group in ("a", "sections"):
        doc.spans[group] = [Span(doc, 0, 1, "THEIRS", span_id="x")]
        doc.spans[group].attrs["by"] = "them"
    held = doc.spans["a"]
    for _ in range(2):
        doc = nlp(doc)
        spans = [(span.text, span.label_) for span in doc.spans["a"]]
        assert spans == [("Assessment", "THEIRS"), ("fever", "CONCEPT"), ("fever", "MORE")]
        assert len(doc.spans["sections"]) == 2
    assert held is doc.spans["a"] and held[2].kb_id_ == held[2]._.cui == "HP:0001945"
    for group in ("a", "sections"):
        assert doc.spans[group].attrs == {"by": "them"} and doc.spans[group][0].id_ == "x"

"""The time that a text takes grows with its length, whatever stands in it."""

import warnings
from collections.abc import Callable

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_medlink.assets import Assets
from spacy_medlink.text.identifiers import find_identifiers, identifiers_of
from spacy_medlink.text.normalisation import key
from tests.growth import calls, exponent, seconds
from tests.tables import rows_of_table

MOST = 1.2  # exponent of the growth

REPEATED = dict(rows_of_table(__file__, "repeated")[1])
NUMBERED: dict[str, Callable[[int], str]] = {
    "distinct definitions": lambda i: f"alpha{i} beta (A{i}B) A{i}B fever ",
    "distinct definitions within mentions": lambda i: f"fever xx{i} (FX{i}) fever ",
    "distinct short forms and long ones": lambda i: (
        f"{chr(65 + i % 26)}{chr(65 + i // 26 % 26)}{chr(65 + i // 676 % 26)} fever a{i} "
    ),
}
LONG_TOKENS = {
    "one long word": "a",
    "one long word of marks": "e\u0301\u0316\u0301\u0316",
    "one letter with marks": "\u0301\u0316\u05b0\u0591",
    "one long number": "1",
    "one long word in Korean": "\uac01",
}


def text_of(name: str, size: int) -> str:
    """Make the text of a family, of so many characters."""
    if name in NUMBERED:
        make, parts, length = NUMBERED[name], [], 0
        while length < size:
            parts.append(make(len(parts)))
            length += len(parts[-1])
        return "".join(parts)
    part = {**REPEATED, **LONG_TOKENS}[name]
    return part * (size // len(part))


@pytest.fixture(scope="module", params=["entities", "everything"])
def nlp(request: pytest.FixtureRequest, tiny_assets: Assets) -> Language:
    """A pipeline as by default, and one that is told to find all that it can."""
    nlp = spacy.blank("en")
    nlp.max_length = 10**8
    assets = {"assets": str(tiny_assets.path)}
    if request.param == "entities":
        nlp.add_pipe("medical_mentions", config=assets)
        nlp.add_pipe("medical_linker", config=assets)
    else:
        nlp.add_pipe("medical_mentions", config={**assets, "spans_key": "sc"})
        linking = {"composite": True, "spans_key": "sc"}
        nlp.add_pipe("medical_linker", config={**assets, **linking})
    nlp("fever")
    return nlp


def run(nlp: Language, doc: Doc) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\[W34")  # more than is compared
        for _, component in nlp.pipeline:
            doc = component(doc)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*REPEATED, *NUMBERED])
def test_seconds(nlp: Language, name: str) -> None:
    took = {}
    for size in (4_000, 8_000, 16_000, 32_000):
        docs = iter([nlp.make_doc(text_of(name, size)) for _ in range(2)])
        took[size] = seconds(lambda docs=docs: run(nlp, next(docs)), repeats=2)
    assert exponent(took) <= MOST or took[32_000] < 0.1, took


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG_TOKENS)
def test_seconds_of_keys(name: str) -> None:
    """spaCy's own tokenizer is left out, which reads a long word again and again."""
    took = {size: seconds(key, text_of(name, size)) for size in (125_000, 250_000, 500_000)}
    assert exponent(took) <= MOST or took[500_000] < 0.1, took


@pytest.mark.parametrize("name", LONG_TOKENS)
def test_seconds_of_one_token(nlp: Language, name: str) -> None:
    """And that of a token of a hundred thousand combining marks."""
    took = {}
    for size in (30_000, 60_000, 120_000):
        words = [f"e{text_of(name, size)}"]
        docs = iter([Doc(nlp.vocab, words=words) for _ in range(2)])
        took[size] = seconds(lambda docs=docs: run(nlp, next(docs)), repeats=2)
    assert exponent(took) <= MOST or took[120_000] < 0.2, took


@pytest.mark.parametrize(
    "name", ["mentions", "slashes, spaced", "and", "commas, and", "of", "hyphens, names"]
)
def test_calls(nlp: Language, name: str) -> None:
    counts = {}
    for size in (600, 2_400):
        doc = nlp.make_doc(text_of(name, size))
        counts[size] = calls(run, nlp, doc)
    assert exponent(counts) <= 1.1, counts


def test_marks_are_ordered_in_pieces() -> None:
    took = {size: seconds(key, text_of("one letter with marks", size)) for size in (20_000, 80_000)}
    assert took[80_000] < 2, took  # five seconds, where all are ordered at once


def test_many_mentions_in_one_place() -> None:
    text = "fever [fever HP:0001945]"

    def attach(n: int) -> None:
        found = identifiers_of(text, find_identifiers(text), [(7, 12)] * n, ["fever"] * n)
        assert found == [("HP:0001945",)] * n

    assert exponent({n: calls(attach, n) for n in (200, 800)}) <= 1.1

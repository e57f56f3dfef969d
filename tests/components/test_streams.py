"""Streams of documents: batches, contexts, generators, failures, and memory that stays flat."""

import gc
import sys
import tracemalloc
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import ignore_error

from spacy_medlink import Candidate
from spacy_medlink.components import pipe
from spacy_medlink.components.linker import opened
from spacy_medlink.components.linker.writing import SpanWriter
from spacy_medlink.components.mentions import MedicalMentions
from tests.children import python
from tests.pipelines import TEXTS, doc_with, pipeline

ROOT = Path(__file__).parents[2]


def links(docs):
    return [[(ent.text, ent.kb_id_) for ent in doc.ents] for doc in docs]


@pytest.fixture
def calls(monkeypatch):
    """The sizes of the batches of texts that any encoder is given."""
    from spacy_medlink.encoders.bi_encoder import BiEncoder

    sizes: list[int] = []
    encode = BiEncoder.encode

    def counted(self, texts, *arguments):
        sizes.append(len(texts))
        return encode(self, texts, *arguments)

    monkeypatch.setattr(BiEncoder, "encode", counted)
    monkeypatch.setattr(pipe, "PATIENCE", float("inf"))  # on a busy machine, too
    return sizes


def test_many_notes_are_one_call_of_the_encoder(tiny_assets, calls):
    nlp = pipeline(tiny_assets, mentions=False)
    docs = [doc_with(nlp, f"old fever {number} again", f"fever {number}") for number in range(100)]
    assert len(list(nlp.pipe(docs, batch_size=10))) == 100
    assert calls == [100], "the mentions of all documents are encoded together"
    list(nlp.pipe(doc_with(nlp, doc.text, doc.ents[0].text) for doc in docs))
    assert calls == [100], "what was linked is remembered"


def test_batches_are_as_large_as_the_larger_setting(tiny_assets, calls):
    nlp = pipeline(tiny_assets, mentions=False, batch_size=4)
    docs = [doc_with(nlp, f"fever {number}", f"fever {number}") for number in range(10)]
    list(nlp.pipe(docs, batch_size=2))
    assert calls == [4, 4, 2]
    list(nlp.pipe([doc_with(nlp, f"{doc.text}0", f"{doc.text}0") for doc in docs], batch_size=7))
    assert calls[3:] == [7, 3]


def test_batches_end_with_enough_mentions(tiny_assets, calls, monkeypatch):
    monkeypatch.setattr(pipe, "MUCH", 4)
    nlp = pipeline(tiny_assets, mentions=False)
    texts = ["a fever 1 and fever 2", "nothing", "fever 3", "fever 4 to fever 5", "fever 6"]
    docs = [nlp.make_doc(text) for text in texts]
    for doc in docs:
        starts = [token.i for token in doc if token.text == "fever"]
        doc.set_ents([Span(doc, start, start + 2, "X") for start in starts])
    assert [len(doc.ents) for doc in nlp.pipe(docs)] == [2, 0, 1, 2, 1]
    assert calls == [5, 1], "three documents have less than enough, a fourth more"


def test_a_slow_stream_is_not_held_back(tiny_assets, monkeypatch):
    monkeypatch.setattr(pipe, "PATIENCE", 0.0)
    nlp = pipeline(tiny_assets)
    read: list[str] = []

    def slow() -> Iterator[str]:
        for text in TEXTS:
            read.append(text)
            yield text

    for count, doc in enumerate(nlp.pipe(slow()), 1):
        assert doc.text == read[-1] and len(read) == count


@pytest.mark.parametrize("cache", [0, opened.CACHE_SIZE])
def test_line_ends_make_no_other_mention(tiny_assets, calls, monkeypatch, cache):
    monkeypatch.setattr(opened, "CACHE_SIZE", cache)
    nlp = pipeline(tiny_assets, mentions=False, exact_first=False)
    linker = nlp.get_pipe("medical_linker")
    forms = ["Heart attack", "Heart\nattack", "Heart \t attack", " Heart attack "]
    first, *others = linker.link_texts(forms)
    assert first.id == "HP:0001658" and first.candidates[0].scores["exact"] == 1.0
    assert others == [first] * 3 == linker.link_texts(forms)[1:]
    assert calls == [1] * (1 if cache else 2), "each mention of a batch once"


def test_candidates_of_a_link_say_what_the_dicts_of_a_span_say(tiny_assets):
    nlp = pipeline(tiny_assets)
    doc = nlp("diabetes type 2")
    (link,) = nlp.get_pipe("medical_linker").link_spans(doc, doc.ents)
    for one, said in zip(link.candidates, doc.ents[0]._.candidates, strict=True):
        assert isinstance(one, Candidate) and one.scores == pytest.approx(said["scores"], abs=1e-5)
        for key in ("id", "name", "matched", "prob", "ranks"):
            assert getattr(one, key) == said[key]


def test_generators_are_read_as_far_as_they_are_needed(tiny_assets):
    nlp = pipeline(tiny_assets, batch_size=4)
    read: list[int] = []

    def endless() -> Iterator[str]:
        while True:
            read.append(1)
            yield "fever and asthma"

    stream = nlp.pipe(endless(), batch_size=4)
    for _ in range(6):
        assert [ent.kb_id_ for ent in next(stream).ents] == ["HP:0001945", "HP:0002099"]
    assert len(read) <= 12


@pytest.mark.parametrize("size", [1, 2, 256])
def test_what_was_read_before_a_stream_fails_is_passed_on(tiny_assets, size):
    nlp = pipeline(tiny_assets)
    nlp.add_pipe("medical_context")

    def breaking() -> Iterator[str]:
        yield from ["fever", "asthma", "fever"]
        raise OSError("the file ends here")

    ids = []
    with pytest.raises(OSError, match="ends here"):
        for doc in nlp.pipe(breaking(), batch_size=size):
            ids += [ent.kb_id_ for ent in doc.ents]
    assert ids == ["HP:0001945", "HP:0002099", "HP:0001945"]


@pytest.fixture
def fragile():
    """Whatever `doc._.abbreviations` holds is read: what is no list makes a document fail."""
    Doc.set_extension("abbreviations", default=None)
    yield
    Doc.remove_extension("abbreviations")


def make_docs(nlp, count, bad=()):
    for number in range(count):
        doc = doc_with(nlp, f"fever, number {number}", "fever")
        if number in bad:
            doc._.abbreviations = 5
        yield doc


def test_one_bad_document_does_not_take_others_with_it(tiny_assets, fragile):
    nlp = pipeline(tiny_assets, mentions=False, batch_size=8)
    failed = []

    def handler(name, component, docs, error):
        failed.append((name, component, [doc.text for doc in docs], type(error)))

    nlp.set_error_handler(handler)
    docs = list(nlp.pipe(make_docs(nlp, 20, bad={3, 17}), batch_size=8))
    linker = nlp.get_pipe("medical_linker")
    assert failed == [
        ("medical_linker", linker, [f"fever, number {number}"], TypeError) for number in (3, 17)
    ]
    # As with spaCy's own components, what failed is the handler's, not the stream's.
    assert [doc.text for doc in docs] == [
        f"fever, number {number}" for number in range(20) if number not in (3, 17)
    ]
    assert {ent.kb_id_ for doc in docs for ent in doc.ents} == {"HP:0001945"}


def test_contexts_of_the_documents_that_did_not_fail(tiny_assets, fragile):
    nlp = pipeline(tiny_assets, mentions=False)
    nlp.set_error_handler(ignore_error)
    pairs = ((doc, place) for place, doc in enumerate(make_docs(nlp, 5, bad={2})))
    found = list(nlp.pipe(pairs, as_tuples=True))
    assert [(doc.text[-1], context) for doc, context in found] == [
        (str(place), place) for place in (0, 1, 3, 4)
    ]


def test_without_a_handler_the_error_is_raised(tiny_assets, fragile):
    nlp = pipeline(tiny_assets, mentions=False)
    with pytest.raises(TypeError):
        list(nlp.pipe(make_docs(nlp, 5, bad={2})))
    (bad,) = make_docs(nlp, 1, bad={0})
    with pytest.raises(TypeError):
        nlp(bad)


@pytest.mark.parametrize(
    ("name", "owner", "method"),
    [("medical_mentions", MedicalMentions, "_matches"), ("medical_linker", SpanWriter, "write")],
)
def test_what_fails_on_one_document_drops_it_alone(tiny_assets, monkeypatch, name, owner, method):
    nlp, original, failed = pipeline(tiny_assets), getattr(owner, method), []

    def fails_at_two(self, given, *more):
        return failed.missing if "2" in given.text else original(self, given, *more)

    monkeypatch.setattr(owner, method, fails_at_two)
    nlp.set_error_handler(lambda name, pipe, docs, error: failed.append((name, docs[0].text)))
    docs = list(nlp.pipe([f"fever, number {number}" for number in range(5)]))
    assert [doc.text[-1] for doc in docs] == ["0", "1", "3", "4"]
    assert {ent.kb_id_ for doc in docs for ent in doc.ents} == {"HP:0001945"}
    assert failed == [(name, "fever, number 2")]
    assert nlp("fever 2").text == "fever 2"


def test_what_was_passed_on_is_let_go(tiny_assets):
    """A batch of thousands of links that outlive their reading is work for the collector."""
    nlp = pipeline(tiny_assets)
    docs = list(map(nlp.make_doc, TEXTS))
    alive = list(map(weakref.ref, docs))
    stream = nlp.get_pipe("medical_linker").pipe(iter(docs.copy()), batch_size=len(docs))
    del docs
    for place, doc in enumerate(stream):
        assert [one() is None for one in alive[:place]] == [True] * place
        assert doc is alive[place]()


def patients(begin: int, end: int) -> Iterator[str]:
    """Short notes of few words, with many mentions that are made of them."""
    words = ["fever", "asthma", "HTN", "heart attacks", "type 2 diabetes", "pneumonia"]
    for number in range(begin, end):
        own = f"type {number % 37} diabetes {number % 41} {number % 43}"
        yield f"Known {words[number % 6]} and {own}: MI, seen {number % 99} times."


def entities(nlp: Language, texts: Iterable[str]) -> Iterator[Doc]:
    for text in texts:
        doc = nlp.make_doc(text)
        middle = next(token.i for token in doc if token.text == "and")
        end = next(token.i for token in doc if token.text == ":")
        doc.set_ents([Span(doc, 1, middle, label="X"), Span(doc, middle + 1, end, label="X")])
        yield doc


def test_nothing_that_python_allocates_grows_with_the_stream(tiny_assets, monkeypatch):
    monkeypatch.setattr(opened, "CACHE_SIZE", 100)
    nlp = pipeline(tiny_assets, mentions=False, batch_size=64)

    def run(begin: int, end: int) -> int:
        linked = sum(
            len(doc.ents) for doc in nlp.pipe(entities(nlp, patients(begin, end)), batch_size=64)
        )
        gc.collect()
        return linked

    run(0, 200)
    tracemalloc.start()
    try:
        run(200, 600)
        before, _ = tracemalloc.get_traced_memory()
        assert run(600, 1200) == 1200
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 60_000, f"{(after - before) / 600:.0f} bytes a document"


# A process of its own, so that nothing else that the tests do is measured.
STREAM = """
import sys
from pathlib import Path
from spacy_medlink.assets import Assets
from tests.components.test_streams import entities, patients
from spacy_medlink import Candidate
from spacy_medlink.components import pipe
from spacy_medlink.components.linker import opened
from tests.pipelines import pipeline

count = int(sys.argv[2])
opened.CACHE_SIZE = 1000
nlp = pipeline(Assets(sys.argv[1]), mentions=False)

def memory():  # resident, in MB
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

def run(begin, end):
    return sum(len(doc.ents) for doc in nlp.pipe(entities(nlp, patients(begin, end))))

# The first documents fill caches, spaCy's own too, and the pools of the memory allocator.
linked = run(0, count // 4)
begin = memory()
linked += run(count // 4, count)
print(linked, memory() - begin)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_stays_flat_over_100_000_documents(tiny_assets):
    ended = python("-c", STREAM, tiny_assets.path, 100_000, timeout=None)
    linked, grown = ended.stdout.split()
    assert int(linked) == 200_000
    assert float(grown) < 25, f"{grown} MB more at the end than after a quarter"


def test_documents_that_another_pipeline_made(tiny_assets):
    """Docs carry their own vocabulary: the links' ids must be known there."""
    maker = spacy.blank("en")
    nlp = pipeline(tiny_assets, mentions=False)
    (doc,) = nlp.pipe([doc_with(maker, "a heart attack", "heart attack")])
    assert doc.vocab is maker.vocab is not nlp.vocab
    assert (doc.ents[0].kb_id_, doc.ents[0]._.cui) == ("HP:0001658", "HP:0001658")

"""The text of a Doc is what spaCy says."""

import threading

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_medlink.linker import doc_text
from spacy_medlink.linker.doc_text import text_of

NLP = spacy.blank("en")


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    assert text_of(NLP.make_doc(text)) == text
    assert text_of(NLP.make_doc(text)) == text


def test_the_same_words_with_other_spaces() -> None:
    for spaces, text in (([True, False], "a a"), ([False, True], "aa "), ([False, False], "aa")):
        assert text_of(Doc(Vocab(), words=["a", "a"], spaces=spaces)) == text


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doc_text, "_KEPT", 100)
    texts = [f"word{number} and word{number + 1} again" for number in range(1000)]
    assert [text_of(doc) for doc in NLP.pipe(texts)] == texts
    assert len(doc_text._texts) <= 110


def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doc_text, "_KEPT", 5)
    docs = [NLP.make_doc(f"a{number} b{number % 7} c") for number in range(200)]
    wrong: list[str] = []

    def read() -> None:
        wrong.extend(doc.text for doc in docs * 5 if text_of(doc) != doc.text)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []

"""Tokenises text in a time that grows with its length."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from spacy.tokenizer import Tokenizer  # type: ignore[import-not-found]
from spacy.tokens import Doc

if TYPE_CHECKING:
    from spacy.language import Language

LONGEST = 128  # characters without white space that are tokenised together
_RUN = re.compile(rf"(?<!\S)\S{{{LONGEST + 1},}}")
_PIECE = re.compile(rf"\S{{1,{LONGEST}}}(?!(?<=\w)\w)|\S{{1,{LONGEST}}}")  # whole words if possible


def make_doc(nlp: "Language", text: str) -> Doc:
    """Tokenise a text as `nlp.make_doc` does, with long runs as in `read_runs`.

    RAISES (ValueError): for a text longer than `nlp.max_length`.
    """
    return nlp.make_doc(text) if len(text) > nlp.max_length else read_runs(nlp.make_doc, text)


def read_runs(tokenize: Callable[[str], Doc], text: str) -> Doc:
    """Tokenise a text, but a long run without white space in parts.

    spaCy's tokenizer takes punctuation off a run one by one, and reads the rest each time: for
    100,000 brackets it needs a quarter of an hour, in which nothing can interrupt it. Tokenizers
    that are not spaCy's get the text as it is. tokenize (Callable): a tokenizer, or `nlp.make_doc`.
    """
    tokenizer = getattr(getattr(tokenize, "__self__", None), "tokenizer", tokenize)
    if _RUN.search(text) is None or not isinstance(tokenizer, Tokenizer):
        return tokenize(text)
    return Doc.from_docs(list(map(tokenize, _pieces(text))), ensure_whitespace=False)


def _pieces(text: str) -> Iterator[str]:
    end = 0
    for run in _RUN.finditer(text):
        yield text[end : run.start()]
        yield from _PIECE.findall(run.group())
        end = run.end()
    yield text[end:]

"""Tokenises text in a time that grows with its length."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from spacy.tokenizer import Tokenizer  # type: ignore[import-not-found]
from spacy.tokens import Doc

if TYPE_CHECKING:
    from spacy.language import Language

LONGEST = 128  # characters without white space that are tokenised together
_RUN = re.compile(rf"(?<!\S)\S{{{LONGEST + 1},}}")
_PIECE = re.compile(rf"\S{{1,{LONGEST}}}(?!(?<=\w)\w)|\S{{1,{LONGEST}}}")  # whole words if possible


def make_doc(nlp: "Language", text: str) -> Doc:
    """Tokenise a text as `nlp.make_doc` does, but a long run without white space in pieces.

    spaCy's tokenizer takes punctuation off a run one by one, and reads the rest each time: for
    100,000 brackets it needs a quarter of an hour, in which nothing can interrupt it. Tokenizers
    that are not spaCy's get the text as it is.
    RAISES (ValueError): for a text longer than `nlp.max_length`.
    """
    is_short = len(text) > nlp.max_length or _RUN.search(text) is None
    if is_short or not isinstance(nlp.tokenizer, Tokenizer):
        return nlp.make_doc(text)
    return Doc.from_docs(list(map(nlp.make_doc, _pieces(text))), ensure_whitespace=False)


def _pieces(text: str) -> Iterator[str]:
    end = 0
    for run in _RUN.finditer(text):
        yield text[end : run.start()]
        yield from _PIECE.findall(run.group())
        end = run.end()
    yield text[end:]

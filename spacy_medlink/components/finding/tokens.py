"""From characters to the tokens of a Doc, which are split where a mention lies within one."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from itertools import pairwise

from spacy.tokens import Doc

# What a tokenizer leaves at 0.
_ANNOTATIONS: list[int | str] = [*"ENT_IOB ENT_KB_ID ENT_ID HEAD DEP TAG POS MORPH LEMMA".split()]


def token_starts(doc: Doc) -> list[int]:
    """List the first character of each token; tokens themselves would take longer."""
    starts: list[int] = doc.to_array("IDX").tolist()
    return starts


def carries_anything(doc: Doc) -> bool:
    """Tell whether something hangs on the tokens of a Doc, so that they must stay.

    That is a tensor, annotation of tokens, entities, span groups, and values of extensions but for
    texts, yes, no and None that a Doc itself has: other values may hold spans or token numbers.
    """
    has_sentences = doc.to_array("SENT_START")[1:].any()  # the first token always begins one
    if has_sentences or doc.tensor.size or len(doc.spans) or doc.to_array(_ANNOTATIONS).any():
        return True
    return any(
        not isinstance(value, str | bool | None)
        or (isinstance(key, tuple) and key[2:] != (None, None))
        for key, value in doc.user_data.items()
    )


def split_tokens(doc: Doc, places: Iterable[int]) -> None:
    """Split the tokens of a Doc in place, so that one begins at each of some characters.

    Where something hangs on the tokens they stay: spaCy would leave it where it was.
    """
    inside = _inside(doc, places)
    if not inside or carries_anything(doc):
        return
    norms = _norms(doc)
    with doc.retokenize() as retokenizer:
        for index, cuts in inside.items():
            token = doc[index]
            texts = [token.text[a:b] for a, b in pairwise([0, *cuts, len(token)])]
            retokenizer.split(token, texts, heads=[(token, 0)] * len(texts))
    _set_norms(doc, norms)


def with_cuts(doc: Doc, places: Iterable[int]) -> Doc:
    """Do as `split_tokens` for a new Doc, in a time that grows with the length of the text."""
    inside = _inside(doc, places)
    words, spaces = list[str](), list[bool]()
    for token in doc:
        cuts = [0, *inside.get(token.i, ()), len(token)]
        words += [token.text[a:b] for a, b in pairwise(cuts)]
        spaces += [False] * (len(cuts) - 2) + [bool(token.whitespace_)]
    made = Doc(doc.vocab, words=words, spaces=spaces, user_data=doc.user_data)
    _set_norms(made, _norms(doc))
    return made


def _inside(doc: Doc, places: Iterable[int]) -> dict[int, list[int]]:
    """Find the tokens that characters lie within, and the characters of each."""
    starts = token_starts(doc)
    inside: dict[int, list[int]] = {}
    for character in sorted(set(places)):
        index = bisect_right(starts, character) - 1
        if index >= 0 and starts[index] < character < starts[index] + len(doc[index]):
            inside.setdefault(index, []).append(character - starts[index])
    return inside


def _norms(doc: Doc) -> dict[int, str]:
    return {token.idx: token.norm_ for token in doc if token.norm != token.lex.norm}


def _set_norms(doc: Doc, norms: Mapping[int, str]) -> None:
    """Give tokens their norms again: that of "n't" does not follow from its characters."""
    for token in doc:
        if token.norm_ != (norm := norms.get(token.idx, token.lex.norm_)):
            token.norm_ = norm


def token_run(starts: list[int], first: int, last: int) -> tuple[int, int]:
    """Find the tokens that hold characters.

    starts (List[int]): the first character of each token.
    """
    begin = bisect_right(starts, first) - 1
    return max(begin, 0), max(bisect_left(starts, last), begin + 1)

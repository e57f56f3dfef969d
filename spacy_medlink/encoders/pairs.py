"""Pairs: a mention in its context and a candidate, cut into word pieces so that both stay whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..types import Mention
from .preparation import AS_IT_IS, Preparation
from .tokens import FastTokenizer

# The mention stands between these marks; every vocabulary has both, so no token need be added.
_OPEN, _CLOSE = "[", "]"
_LONGEST = 200  # characters of a mention that are read


class Pair(NamedTuple):
    """mention (Mention): with its context. candidate (str): the text about a concept."""

    mention: Mention
    candidate: str


class Pieces(NamedTuple):
    """ids (List[int]): word pieces. second (int): where the candidate begins."""

    ids: list[int]
    second: int


@dataclass(frozen=True)
class Template:
    """The template by which a tokenizer joins two texts.

    before, between, after (List[int]): the special tokens around them.
    max_length (int): of the whole. context (int): on each side of the mention; in word pieces.
    preparation (Preparation): what is done to each text, without a prefix.
    """

    tokenizer: FastTokenizer
    before: list[int]
    between: list[int]
    after: list[int]
    max_length: int
    context: int
    preparation: Preparation = AS_IT_IS

    @classmethod
    def of(
        cls,
        tokenizer: FastTokenizer,
        max_length: int,
        context: int,
        preparation: Preparation = AS_IT_IS,
    ) -> "Template":
        """Read from a tokenizer what it puts around two texts."""
        fast = tokenizer.backend_tokenizer
        word = fast.encode("a", add_special_tokens=False).ids
        ids = fast.encode("a", "a", add_special_tokens=True).ids
        size = len(word)
        starts = [start for start in range(len(ids)) if ids[start : start + size] == word]
        first, second = starts[0], starts[-1]
        return cls(
            tokenizer, ids[:first], ids[first + size : second], ids[second + size :],
            max_length, context, preparation.without_prefix(),
        )  # fmt: skip

    def cut(self, pairs: Sequence[Pair]) -> list[Pieces]:
        """Cut pairs into word pieces; each text is cut once, however many pairs it is in."""
        texts: dict[str, int] = {_OPEN: 0, _CLOSE: 1}
        mentions = {pair.mention: None for pair in pairs}
        parts = {mention: _parts(mention) for mention in mentions}
        for texts_of in parts.values():
            for text in texts_of:
                texts.setdefault(text, len(texts))
        for pair in pairs:
            texts.setdefault(pair.candidate, len(texts))
        fast = self.tokenizer.backend_tokenizer
        prepared = self.preparation(list(texts))
        encodings = fast.encode_batch(prepared, add_special_tokens=False)
        ids = {text: encoding.ids for text, encoding in zip(texts, encodings, strict=True)}
        return [
            self._together([ids[text] for text in parts[pair.mention]], ids[pair.candidate], ids)
            for pair in pairs
        ]

    def _together(
        self, mention: Sequence[list[int]], candidate: list[int], ids: dict[str, list[int]]
    ) -> Pieces:
        left, text, right = mention
        opening, closing = ids[_OPEN], ids[_CLOSE]
        special = len(self.before) + len(self.between) + len(self.after)
        room = max(2, self.max_length - special - len(opening) - len(closing))
        # Neither the mention nor the candidate may crowd out the other; context takes what is left.
        candidate = candidate[: max(room // 2, room - len(text))]
        text = text[: room - len(candidate)]
        side = min(self.context, (room - len(candidate) - len(text)) // 2)
        first = [*left[max(0, len(left) - side) :], *opening, *text, *closing, *right[:side]]
        head = [*self.before, *first, *self.between]
        return Pieces([*head, *candidate, *self.after], len(head))


def _parts(mention: Mention) -> tuple[str, str, str]:
    """Return the texts left of the marks, between them, and right of them."""
    text = mention.text[:_LONGEST]
    if mention.long_form and mention.long_form != mention.text:
        text = f"{text} ({mention.long_form[:_LONGEST]})"
    return mention.left, text, mention.right

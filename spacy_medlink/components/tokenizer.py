"""MedicalTokenizer, registered as `spacy-medlink.Tokenizer.v1`: tokens that mentions fit in.

It has the rules of a spaCy tokenizer, and cuts its tokens where a name of a terminology may begin
or end: "asthma;fever", "HTN&DM", "metformin500mg". So no mention has to be widened to its token.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc
from spacy.util import SimpleFrozenList, registry

from ..text.normalisation import APOSTROPHES
from ..text.pieces import BRACKETS, Border, Pieces
from .finding.tokens import carries_anything, with_cuts
from .reading import read_runs

if TYPE_CHECKING:
    from spacy.language import Language

TOKENIZER = "spacy-medlink.Tokenizer.v1"
_NONE = SimpleFrozenList()
_DOMAINS = (
    "com|org|net|edu|gov|info|int|eu|io|ai|uk|de|fr|es|it|ch|at|nl|be|pt|se|ca|au|us|jp|cn|in|br"
)
_ADDRESS = re.compile(rf"://|^www\.|@|^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:{_DOMAINS})(?:[/:?#]|$)")
_JOINING = frozenset("+&")
_KEPT_AT_ENDS = frozenset([*APOSTROPHES, "."])  # "'ll", "approx."
_WORD = 3  # letters of a word beside brackets and low lines; shorter ones are parts of formulas
_LONG = 5  # letters before a number: "aspirin-81", but "IL-2"
_BESIDE_LETTER = 4  # letters of a word beside a single one: "fever:N", but "35A>G"


class MedicalTokenizer:
    """A spaCy tokenizer whose tokens are cut further where mentions may begin or end.

    Numbers, doses, dates, addresses and names with signs (1,000; 120/80; IL-2; t(9;22); E.coli)
    stay as the base cuts them. It saves what the base saves: either reads the other's files.

    base (Callable[[str], Doc]): the tokenizer of the language, or of the user.
    """

    def __init__(self, base: Callable[[str], Doc]) -> None:
        self.base = base

    def __call__(self, text: str) -> Doc:
        """Make the tokens of a text, in a time that grows with its length."""
        doc = read_runs(self.base, text)
        starts, texts = list[int](), list[str]()
        for token in doc:
            if not (token.is_alpha and token.is_ascii) and len(token) > 1:
                starts.append(token.idx)
                texts.append(token.text)
        places = [
            start + cut for start, text in zip(starts, texts, strict=True) for cut in cuts(text)
        ]
        return with_cuts(doc, places) if places and not carries_anything(doc) else doc

    def pipe(self, texts: Iterable[str], batch_size: int = 1000) -> Iterator[Doc]:
        """Make the tokens of several texts."""
        return map(self, texts)

    def to_bytes(self, *, exclude: Iterable[str] = _NONE) -> bytes:
        """Save the rules of the base; b"" for a base that cannot be saved."""
        save = getattr(self.base, "to_bytes", None)
        return save(exclude=exclude) if save else b""

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = _NONE) -> "MedicalTokenizer":
        """Load the rules of the base."""
        load = getattr(self.base, "from_bytes", None)
        if load and data:
            load(data, exclude=exclude)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = _NONE) -> None:
        """Save the rules of the base, where it has a method for that."""
        if save := getattr(self.base, "to_disk", None):
            save(path, exclude=exclude)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = _NONE) -> "MedicalTokenizer":
        """Load the rules of the base, where it has a method for that."""
        if load := getattr(self.base, "from_disk", None):
            load(path, exclude=exclude)
        return self


def medical_tokenizer(
    base: Callable[["Language"], Callable[[str], Doc]] | None = None,
) -> Callable[["Language"], MedicalTokenizer]:
    """Make `spacy-medlink.Tokenizer.v1`.

    base (Optional[Callable]): a registered tokenizer; None for that of the language.
    """

    def make(nlp: "Language") -> MedicalTokenizer:
        make_base = base
        if make_base is None:
            config = {"tokenizer": nlp.default_config["nlp"]["tokenizer"]}
            make_base = registry.resolve(config)["tokenizer"]
        return MedicalTokenizer(make_base(nlp))

    return make


def use_tokenizer(nlp: "Language") -> "Language":
    """Let the tokenizer of a pipeline cut its tokens further, also once it is saved and loaded.

    Call it before the pipeline is trained, since its networks learn from the tokens.
    RETURNS (Language): the same pipeline.
    """
    if not isinstance(nlp.tokenizer, MedicalTokenizer):
        nlp.tokenizer = MedicalTokenizer(nlp.tokenizer)
        settings: dict[str, Any] = nlp.config["nlp"]
        settings["tokenizer"] = {"@tokenizers": TOKENIZER, "base": settings["tokenizer"]}
    return nlp


@lru_cache(maxsize=65_536)
def cuts(token: str) -> tuple[int, ...]:
    """Find the characters of a token at which it is cut.

    Pieces are the words that mentions are made of; what parts two of them is a token of its own.
    """
    if _ADDRESS.search(token):
        return ()
    pieces = Pieces(token)
    found = set[int]()
    for index in range(1, len(pieces)):
        if _parts(pieces, index):
            found |= {pieces.ends[index - 1], pieces.starts[index]}
    if len(pieces):
        if _is_apart(pieces.texts[0], pieces.gaps[0]):
            found.add(pieces.starts[0])
        if _is_apart(pieces.texts[-1], pieces.gaps[-1]):
            found.add(pieces.ends[-1])
    return tuple(sorted(found - {0, len(token)}))


def _is_apart(piece: str, gap: str) -> bool:
    """Tell whether signs at an end of a token are none of its word: "-SOB", but not "'ll"."""
    return len(piece) > 1 and piece[0].isalpha() and _KEPT_AT_ENDS.isdisjoint(gap)


def _parts(pieces: Pieces, index: int) -> bool:
    """Tell whether a token is cut before a piece."""
    left, right = pieces.texts[index - 1], pieces.texts[index]
    gap, border = pieces.gaps[index], pieces.borders[index]
    if not gap:
        return _parts_tightly(pieces, index)
    if border >= Border.COMMA:
        return _parts_strongly(left, right, gap)
    if not _JOINING.isdisjoint(gap):
        return len(left) > 1 and len(right) > 1
    if not BRACKETS.isdisjoint(gap):
        return _is_word(left, _WORD) or _is_word(right, _WORD)
    if "-" in gap and right[0].isdigit():
        return _is_word(left, _LONG) and not left.isupper()
    return gap == "_" and _is_word(left, _WORD) and _is_word(right, _WORD)


def _parts_strongly(left: str, right: str, gap: str) -> bool:
    """Tell whether a separator parts two pieces; one beside a single letter may be of a name."""
    shorter, longer = sorted((left, right), key=len)
    if _is_item(shorter):
        return True
    return gap != "." and _is_word(longer, _BESIDE_LETTER)


def _parts_tightly(pieces: Pieces, index: int) -> bool:
    """Tell whether two pieces without a sign between are cut: "metformin|500", "fever|+|cough"."""
    left, right = pieces.texts[index - 1], pieces.texts[index]
    if left == "+":
        return len(right) > 1 and (index < 2 or _is_item(pieces.texts[index - 2]))
    if right == "+":
        if index + 1 < len(pieces):
            return _is_item(left) and len(pieces.texts[index + 1]) > 1
        return _is_word(left, _WORD) or (len(left) > 1 and left.isupper())
    if left[-1].isdigit() == right[0].isdigit():
        return False
    # "2days", "metformin500units", but not "c.35delG"
    return not left.isdigit() or index == 1 or _is_word(pieces.texts[index - 2], _LONG)


def _is_item(piece: str) -> bool:
    return len(piece) > 1 or piece.isdigit()


def _is_word(piece: str, least: int) -> bool:
    return len(piece) >= least and piece.isalpha()

"""MedicalTokenizer, registered as `spacy-medlink.Tokenizer.v1`: tokens that mentions fit in."""

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc
from spacy.util import registry

from ..text.cuts import cuts
from .finding.tokens import carries_anything, with_cuts
from .reading import read_runs

if TYPE_CHECKING:
    from spacy.language import Language

TOKENIZER = "spacy-medlink.Tokenizer.v1"


def _of_base(method: str) -> Any:
    """Make a property that is a method of the base; spaCy asks whether there is one."""
    return property(attrgetter(f"base.{method}"))


class MedicalTokenizer:
    """A tokenizer whose tokens are cut further where mentions may begin or end; see `text.cuts`.

    It saves what the base saves, so that either reads the other's files.

    base (Callable[[str], Doc]): the tokenizer of the language, or of the user.
    """

    to_bytes = _of_base("to_bytes")
    from_bytes = _of_base("from_bytes")
    to_disk = _of_base("to_disk")
    from_disk = _of_base("from_disk")

    def __init__(self, base: Callable[[str], Doc]) -> None:
        self.base = base

    def __call__(self, text: str) -> Doc:
        """Make the tokens of a text, in a time that grows with its length."""
        doc = read_runs(self.base, text)
        tokens = [(token.idx, token.text) for token in doc]
        places = [
            start + cut
            for start, word in tokens
            if len(word) > 1 and not (word.isascii() and word.isalpha())
            for cut in cuts(word)
        ]
        return with_cuts(doc, places) if places and not carries_anything(doc) else doc

    def pipe(self, texts: Iterable[str], batch_size: int = 1000) -> Iterator[Doc]:
        """Make the tokens of several texts."""
        return map(self, texts)


Maker = Callable[["Language"], Callable[[str], Doc]]


def medical_tokenizer(base: Maker | None = None) -> Callable[["Language"], MedicalTokenizer]:
    """Make `spacy-medlink.Tokenizer.v1` over a registered one, or None: that of the language."""

    def make(nlp: "Language") -> MedicalTokenizer:
        config = {"base": nlp.default_config["nlp"]["tokenizer"]}
        return MedicalTokenizer((base or registry.resolve(config)["base"])(nlp))

    return make


def use_tokenizer(nlp: "Language") -> "Language":
    """Let the tokenizer of a pipeline cut its tokens further, also once it is saved and loaded.

    Call it before the pipeline is trained, since its networks learn from the tokens.
    """
    if not isinstance(nlp.tokenizer, MedicalTokenizer):
        nlp.tokenizer = MedicalTokenizer(nlp.tokenizer)
        settings: dict[str, Any] = nlp.config["nlp"]
        settings["tokenizer"] = {"@tokenizers": TOKENIZER, "base": settings["tokenizer"]}
    return nlp

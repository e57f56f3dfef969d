"""spaCy's tokenizer, without the wait for more than a thousand special cases of its languages.

To add them takes most of the time of `spacy.blank("en")`, and that half of the time of tests of
components. A special case can only stand in a text that has its characters: until then it waits.
"""

from threading import Lock
from typing import Any

from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc


class PatientTokenizer(Tokenizer):
    """Gives the same tokens, and the same bytes when it is saved."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        self._waiting: dict[str, Any] = {}
        self._lock = Lock()
        super().__init__(*args, **settings)

    def __call__(self, string: str) -> Doc:
        self._add(string)
        return super().__call__(string)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Tokenizer, *super().__reduce__()[1:])

    def _load_special_cases(self, special_cases: dict[str, Any] | None) -> None:
        self._waiting.update(special_cases or {})

    def _add(self, text: str | None = None) -> None:
        """Add the special cases that a text may have, or all."""
        with self._lock:
            for chunk in sorted(self._waiting):
                if text is None or chunk in text:
                    super().add_special_case(chunk, self._waiting.pop(chunk))

    def add_special_case(self, string: str, substrings: Any) -> None:
        self._waiting.pop(string, None)
        super().add_special_case(string, substrings)

    @property
    def rules(self) -> dict[str, Any]:
        self._add()
        return Tokenizer.rules.__get__(self)

    @rules.setter
    def rules(self, rules: dict[str, Any]) -> None:
        self._waiting = {}
        Tokenizer.rules.__set__(self, rules)

    def to_bytes(self, **settings: Any) -> bytes:
        self._add()
        return super().to_bytes(**settings)

    def explain(self, text: str) -> list[tuple[str, str]]:
        self._add()
        return super().explain(text)

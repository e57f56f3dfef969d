"""MedicalContext, the `medical_context` component: what the text says of each mention.

"No fever" is no fever, and "mother had breast cancer" is no cancer of the patient. The rules are
those of ConText (`text.context`); the attributes have the names that medspaCy gives them.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import SimpleFrozenList
from spacy.vocab import Vocab

from ..errors import Warnings
from ..text.context import (
    KINDS,
    SECTION,
    Cues,
    Part,
    Said,
    find_sections,
    read_cues,
    said_of,
    shipped_cues,
)  # fmt: skip
from ..util.files import save_text
from ..util.outputs import marked
from ..util.setting_types import (
    PATH_RULE,
    TEXT_RULE,
    Place,
    Settings,
    Text,
    Texts,
    factory_of,
    setting,
)
from ..util.telling import tell
from .pipe import PicklablePipe
from .pipelines import CONTEXT, linked_spans

ATTRIBUTES = {kind: f"is_{kind}" for kind in KINDS}  # of spans, by what is said
_FILE = "cues.tsv"
_HEAD = "# The cues of a saved medical_context\n"
_SAVED = marked("the cues of a saved medical_context", _HEAD)


class ContextSettings(Settings):
    """The settings of `medical_context`."""

    spans_key: Text | Texts | None = setting(
        None,
        "must be a key, or a list of keys",
        "read the mentions of `doc.spans[spans_key]` instead of `doc.ents`; of several keys, each",
    )
    sections_key: Text | None = setting(
        "sections", TEXT_RULE, "write the sections of the text to `doc.spans[sections_key]`, or not"
    )
    cues: Place | None = setting(
        None,
        PATH_RULE,
        "a file of cues and headings in place of those of the package, which are for en, es, "
        "de, fr and it; it is saved with the pipeline",
    )


class MedicalContext(PicklablePipe):
    """Writes what the text says of each mention, and the sections of a note.

    A mention has `_.is_negated`, `_.is_historical`, `_.is_hypothetical`, `_.is_family` and
    `_.is_uncertain` (bool), and `_.section` (str), "" where it is in none.

    settings: of ContextSettings, which says what they mean.
    RAISES (MedlinkError): E302 for settings of wrong types; when the cues are first used, E107
        without their file, E311 for a line that is no cue.
    """

    def __init__(self, vocab: Vocab, name: str = CONTEXT, **settings: Any) -> None:
        own = ContextSettings.of(settings)
        self.vocab, self.name, self.lang = vocab, name, vocab.lang
        self.spans_key, self.sections_key = own.spans_key, own.sections_key
        self._path = own.cues
        self._text: str | None = None  # of the user's own cues
        self._cues: Cues | None = None
        register_attributes()

    @property
    def cues(self) -> Cues:
        """The cues and the headings of sections.

        RAISES (MedlinkError): E107 without their file, E311 for a line that is no cue.
        """
        if self._cues is None:
            text = self._own_text()
            self._cues = shipped_cues(self.lang) if text is None else Cues.parse(text, _FILE)
            if text is None and not self._cues.phrases:
                tell(Warnings.no_cues.format(name=self.name, lang=self.lang))
        return self._cues

    def __call__(self, doc: Doc) -> Doc:
        """Read one Doc, and write what it says of its mentions."""
        error_handler = self.get_error_handler()
        try:
            self._annotate(doc)
        except Exception as error:
            error_handler(self.name, self, [doc], error)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Read a stream of Docs; those that fail go to the error handler alone."""

        def annotate(docs: list[Doc]) -> None:
            for doc in docs:
                self._annotate(doc)

        return self._in_batches(stream, 1, annotate)

    def initialize(
        self, get_examples: Callable[[], Iterable[Any]], *, nlp: Language | None = None
    ) -> None:
        """Read the cues."""
        _ = self.cues

    def to_bytes(self, *, exclude: Iterable[str] = SimpleFrozenList()) -> bytes:
        """Save the user's own cues as bytes."""
        return (self._own_text() or "").encode()

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "MedicalContext":
        """Load the user's own cues from bytes."""
        self._take(data.decode() or None)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> None:
        """Save the user's own cues into a directory.

        RAISES (MedlinkError): E109 when it cannot be written, E120-E124 where something else has
            its name.
        """
        text = self._own_text()
        if text is not None:
            Path(path).mkdir(parents=True, exist_ok=True)
            text = _HEAD + text.removeprefix(_HEAD)
        save_text(Path(path) / _FILE, _SAVED, text)

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "MedicalContext":
        """Load the user's own cues from a directory."""
        file = Path(path) / _FILE
        self._take(read_cues(file) if file.is_file() else None)
        return self

    def _take(self, text: str | None) -> None:
        if text is not None:
            self._text, self._cues = text, None

    def _own_text(self) -> str | None:
        if self._text is None and self._path is not None:
            self._text = read_cues(Path(self._path))
        return self._text

    def _annotate(self, doc: Doc) -> None:
        cues, text = self.cues, doc.text
        parts = find_sections(text, cues)
        if self.sections_key is not None:
            doc.spans[self.sections_key] = [_span(doc, part) for part in parts]
        spans = linked_spans(doc, self.spans_key)
        self._check_order(self.spans_key, not spans)
        places = [(span.start_char, span.end_char) for span in spans]
        for span, said in zip(spans, said_of(text, places, cues, parts), strict=True):
            _write(span, said)


def register_attributes() -> None:
    """Register the attributes of spans, unless another component has registered them."""
    for name in ATTRIBUTES.values():
        if not Span.has_extension(name):
            Span.set_extension(name, default=False)
    if not Span.has_extension(SECTION):
        Span.set_extension(SECTION, default="")


def _write(span: Span, said: Said) -> None:
    for kind, name in ATTRIBUTES.items():
        if (is_said := kind in said.kinds) or span._.get(name):  # storing a default would take room
            span._.set(name, is_said)
    if said.section or span._.get(SECTION):
        span._.set(SECTION, said.section)


def _span(doc: Doc, part: Part) -> Span:
    span = doc.char_span(part.start, part.end, label=part.section.name, alignment_mode="expand")
    assert span is not None  # it is not empty, and lies within the text
    return span


def _make(nlp: Language, name: str, settings: dict[str, Any]) -> MedicalContext:
    context = MedicalContext(nlp.vocab, name, **settings)
    context.set_home(nlp)
    return context


make_medical_context = Language.factory(
    CONTEXT,
    func=factory_of(ContextSettings, _make),
    assigns=[f"span._.{name}" for name in (*ATTRIBUTES.values(), SECTION)],
    requires=["doc.ents"],
    default_config=ContextSettings.defaults(),
)

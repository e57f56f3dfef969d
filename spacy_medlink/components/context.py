"""MedicalContext, the `medical_context` component: what the text says of each mention.

"No fever" is no fever, and "mother had breast cancer" is no cancer of the patient. The rules are
those of ConText (`text.context`); the attributes have the names that medspaCy gives them.
"""

from collections.abc import Iterable
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import SimpleFrozenList
from spacy.vocab import Vocab

from ..errors import Warnings
from ..text import context as reading
from ..text.context import KINDS, SECTION, Cues
from ..text.layout import laid_out
from ..text.lines import Page
from ..text.normalisation import key
from ..text.tables import read_table
from ..types import Data
from ..util import setting_types as types
from ..util.files import save_text
from ..util.outputs import marked
from ..util.telling import tell
from .extensions import check_plain, read_characters, registered_prefixes
from .names import CONTEXT
from .pipe import DocPipe, add_to_group
from .pipelines import linked_spans

ATTRIBUTES = {statement: f"is_{statement}" for statement in KINDS}  # of spans, by what is said
_WRITTEN = (*ATTRIBUTES.values(), SECTION)
_FILE, _NONE = "cues.tsv", SimpleFrozenList()
_HEAD = "# The cues of a saved medical_context\n"
_SAVED = marked("the cues of a saved medical_context", _HEAD)


class ContextSettings(types.Settings):
    """The settings of `medical_context`."""

    spans_key: types.Text | types.Texts | None = types.setting(
        None,
        "must be a key, or a list of keys",
        "read the mentions of `doc.spans[spans_key]` instead of `doc.ents`; or of several groups",
    )
    sections_key: types.Text | None = types.setting(
        "sections",
        types.TEXT_RULE,
        "write the sections of the text to `doc.spans[sections_key]`; null writes none",
    )
    cues: types.Place | None = types.setting(
        None,
        types.PATH_RULE,
        "file of cues and headings that replaces the built-in ones (en, es, de, fr, it)",
    )


class MedicalContext(DocPipe):
    """Writes what the text says of each mention, and the sections of a note.

    A mention has `_.is_negated`, `_.is_historical`, `_.is_hypothetical`, `_.is_family` and
    `_.is_uncertain` (bool), and `_.section` (str), "" where it is in none.

    settings: of ContextSettings, which says what they mean.
    RAISES (MedlinkError): E302 for settings of wrong types; when the cues are first used, E107
        without their file, E401 for a line that is no cue.
    """

    def __init__(self, vocab: Vocab, name: str = CONTEXT, **settings: object) -> None:
        given = ContextSettings.of(settings)
        self.vocab, self.name, self.lang = vocab, name, vocab.lang or ""
        self.spans_key, self.sections_key = given.spans_key, given.sections_key
        self._path = given.cues
        self._text: str | None = None  # of the user's own cues
        self._cues: Cues | None = None
        register_attributes()

    def _shown(self) -> Data:
        reads = self.spans_key or "doc.ents"
        return {"lang": self.lang, "reads": reads, "cues": self._path or "of the package"}

    @property
    def cues(self) -> Cues:
        """The cues and the headings of sections.

        RAISES (MedlinkError): E107 without their file, E401 for a line that is no cue.
        """
        if self._cues is None:
            text = self._own_text()
            self._cues = (
                reading.shipped_cues(self.lang) if text is None else Cues.parse(text, _FILE)
            )
            if text is None and not self._cues.phrases:
                tell(Warnings.no_cues.format(name=self.name, lang=self.lang))
        return self._cues

    def initialize(self, get_examples: object, *, nlp: Language | None = None) -> None:
        """Read the cues."""
        _ = self.cues

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

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = _NONE) -> "MedicalContext":
        """Load the user's own cues from a directory."""
        file = Path(path) / _FILE
        if file.is_file():
            self._text, self._cues = read_table(file), None
        return self

    def __getstate__(self) -> Data:
        self._own_text()  # where the component goes to, its file may be out of reach
        return super().__getstate__()

    def _own_text(self) -> str | None:
        if self._text is None and self._path is not None:
            self._text = read_table(Path(self._path))
        return self._text

    def _annotate(self, doc: Doc) -> None:
        register_attributes()
        cues, text = self.cues, doc.text
        page = Page(text, laid_out)
        parts = reading.find_sections(page.plain, cues)
        if self.sections_key is not None:
            add_to_group(doc, self.sections_key, [_span(doc, part, page) for part in parts])
        spans = linked_spans(doc, self.spans_key)
        self._check_order(self.spans_key, not spans)
        places = [page.read(*_characters(text, span, cues)) for span in spans]
        said = reading.said_of(page.plain, places, cues, parts)
        for span, context in zip(spans, said, strict=True):
            _write(span, context)


def register_attributes() -> None:
    """Register the attributes of spans, or check that they can be written.

    RAISES (MedlinkError): E331 for a name that something else has taken.
    """
    check_plain(_WRITTEN)


def _write(span: Span, context: reading.Said) -> None:
    # False and "" are written, too: `Doc.to_json(underscore=...)` knows only what is stored.
    for statement, name in ATTRIBUTES.items():
        span._.set(name, statement in context.kinds)
    span._.set(SECTION, context.section)


def _characters(text: str, span: Span, cues: Cues) -> tuple[int, int]:
    """Find the characters that cues may speak of: without the cues inside of the mention.

    Those of a name that was linked are part of the name: the concept "No fever".
    """
    from ..linking.cued import without_cues  # imports the linker

    characters = read_characters(span)
    left = without_cues(text, *characters, cues)
    names = [span._.get(prefix + "candidates") for prefix in registered_prefixes() if left]
    matched = {key(candidates[0]["matched"]) for candidates in names if candidates}
    is_name = text[characters[0]].isalnum() and key(text[slice(*characters)]) in matched
    return characters if not left or is_name else left[-1]


def _span(doc: Doc, part: reading.Part, page: Page) -> Span:
    start, end = page.written(part.start, part.end)
    span = doc.char_span(start, end, label=part.section.name, alignment_mode="expand")
    assert span is not None  # it is not empty, and lies within the text
    return span


def _make(nlp: Language, name: str, settings: Data) -> MedicalContext:
    context = MedicalContext(nlp.vocab, name, **settings)
    context.set_home(nlp)
    return context


make_medical_context = Language.factory(
    CONTEXT,
    func=types.factory_of(ContextSettings, _make),
    assigns=[f"span._.{name}" for name in _WRITTEN],
    requires=["doc.ents"],
    default_config=ContextSettings.defaults(),
)

"""MedicalMentions, the `medical_mentions` component: finds the KB's names in text.

For pipelines without an NER: every run of pieces of the text is looked up in the memory-mapped
exact tier, and those that say most become entities. A token is split where a mention lies within.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans, get_lang_class
from spacy.vocab import Vocab

from ..assets.dictionary import Choice
from ..text.lexicon import Lexicon
from ..text.normalisation import key
from ..text.pieces import Pieces
from ..util.setting_types import factory_of
from .extensions import READING, register_reading
from .finding.choosing import apart, settled, without_nested
from .finding.dictionary_pipe import DictionaryPipe
from .finding.headings import without_headings
from .finding.idioms import without_idioms
from .finding.kept import Kept, make_kept
from .finding.languages import common_words, heading_words
from .finding.linker_filters import Kinds, LinkerFilters
from .finding.match import Match
from .finding.name_facts import LABELLINGS
from .finding.persons_and_places import without_persons_and_places
from .finding.phrases import Phrases
from .finding.scoring import SCORES, score_mentions
from .finding.settings import DEFAULT_CONFIG, HEADINGS, LABEL, PARTS, MentionSettings
from .finding.tokens import split_tokens, text_of, token_run, token_starts

if TYPE_CHECKING:
    from .finding.overlaid import OverlaidNames
_ATTRIBUTES = ("spans_key", "annotate_ents", "overwrite", "linker")
_LONGEST = 8  # words of a mention

_WORKED_OUT = ("_followed", "_kept_for", "_kept_now", "_kinds", "_overlay")


class MedicalMentions(DictionaryPipe):
    """Finds names of the knowledge base in a Doc: those that say most words, in few mentions.

    A match is a run of pieces (`text.pieces`) with the key of a name (`text.key`: without case,
    punctuation and plural endings). Stop words, lone digits and single letters never match; short
    upper-case names match only with the same case.

    settings: of MentionSettings, which says what they mean.
    nlp (Optional[Language]): the pipeline that has it; given by spaCy.
    RAISES (MedlinkError): E302 for something else in `leave_out`, all settings of wrong types;
        when the dictionary is opened, E106 for a concept that there is not, E213 for an
        unknown type, group or language, E224 for a bad expression.
    """

    spans_key: str | None
    annotate_ents: bool
    overwrite: bool
    linker: str | None
    _kept_for: tuple[Any, ...] | None  # what `_kept_now` was made for
    _kept_now: Kept
    _kinds: Kinds | None
    _overlay: "OverlaidNames | None"

    def __init__(
        self,
        vocab: Vocab,
        name: str = "medical_mentions",
        *,
        nlp: Language | None = None,
        **settings: Any,
    ) -> None:
        own = MentionSettings.of(settings)
        choice = Choice(tuple(own.types or ()), tuple(own.languages or ()), own.within or "")
        label_by = own.label if own.label in LABELLINGS else None
        super().__init__(own.assets, choice, vocab.lang, label_by)
        self.label = LABEL if label_by else own.label
        self.vocab = vocab
        self.name = name
        for setting in _ATTRIBUTES:
            setattr(self, setting, getattr(own, setting))
        self._stop_words = get_lang_class(vocab.lang).Defaults.stop_words if vocab.lang else set()
        self.stop = frozenset(map(key, own.stop or ()))
        self.leave_out = frozenset(own.leave_out)
        # Given filters replace the linker's; [] does too, and lets all names pass.
        self._own_filters = frozenset(
            name for name in ("types", "languages", "within") if getattr(own, name) is not None
        )
        self._nlp = nlp
        self._linker: Any = None  # of the pipeline from which the component was taken
        self._lexicon = Lexicon()  # of the pipeline from which the component was taken
        self._forget()
        register_reading()

    def find(self, doc: Doc) -> list[Span]:
        """Find all matches, overlapping ones too, without changing the Doc.

        A match within a token is given as the whole token.
        """
        pieces = self._read(doc)
        starts = token_starts(doc)
        return [self._span(doc, starts, pieces, one) for one in self._matches(pieces)]

    def set_annotations(self, doc: Doc, spans: Sequence[Span]) -> None:
        """Write matches, as the pipe does: all to a group, those that say most to `doc.ents`."""
        pieces = self._read(doc)
        runs = [(pieces.before(one.start_char), pieces.before(one.end_char)) for one in spans]
        matches = [
            Match(start, end, frozenset(range(start, end)), (), label=one.label_)
            for (start, end), one in zip(runs, spans, strict=True)
        ]
        self._set(doc, pieces, matches, matches)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Any]],
        *,
        nlp: Language | None = None,
        assets: str | Path | None = None,
    ) -> None:
        """Open the dictionary; `assets` replaces the source, as for medical_linker."""
        if assets is not None:
            self.use(assets)
        _ = self.exact
        _ = self.facts

    def score(self, examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
        """Measure on Examples, as `spacy evaluate` does: see `finding.scoring.score_mentions`."""
        return score_mentions(list(examples), self.spans_key, self.name)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        # Keep parts of the pipeline only, since the pipeline itself contains this component.
        linker = self._find_linker()
        followed = self._followed.selection(linker)
        overlaid = self._followed.overlaid(linker) is not None
        state["_linker"] = linker if followed or self.spans_key or overlaid else None
        state["_lexicon"] = self.lexicon
        state["_nlp"] = None
        for name in _WORKED_OUT:
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._forget()

    def use(self, assets: str | Path) -> None:
        """Take the dictionary of other assets."""
        super().use(assets)
        self._forget()

    def _annotate(self, doc: Doc) -> None:
        pieces = self._read(doc)
        matches = phrases = self._matches(pieces)
        if PARTS in self.leave_out and (self.annotate_ents or self.spans_key is None):
            phrases = Phrases(pieces, matches, self.exact.vocabulary, self.lang).matches
        self._set(doc, pieces, matches, phrases)

    def _read(self, doc: Doc) -> Pieces:
        return Pieces(text_of(doc), self._stop_words)

    def _matches(self, pieces: Pieces) -> list[Match]:
        """Find all matches of a text, in its order."""
        from .finding.names import NameFinder
        from .finding.short_forms import ShortForms

        every, overlaid = self._kept(), self._overlaid()
        kept = every if overlaid is None else overlaid.left_of(every)
        found = NameFinder(self.exact, _LONGEST, kept, self.lang).find(pieces)
        if overlaid is not None:
            found = overlaid.added_to(pieces, found, every)
        found = ShortForms(self.exact, self.lexicon, kept).corrected(pieces, found)
        return self._wanted(pieces, settled(found))

    def _overlaid(self) -> "OverlaidNames | None":
        """Make the finder for the linker's current overlay; None without an overlay."""
        linker = self._find_linker()
        assets = self._followed.overlaid(linker)
        if assets is None or not self._followed.has_same_names(linker, self.exact):
            return None
        if self._overlay is None or self._overlay.assets is not assets:
            from .finding.overlaid import OverlaidNames

            self._overlay = OverlaidNames(assets, _LONGEST)
        return self._overlay

    def _wanted(self, pieces: Pieces, matches: Sequence[Match]) -> list[Match]:
        """Leave out persons, places, headings and stop texts; sort the rest."""
        if PARTS in self.leave_out:
            common = common_words(self.lang)
            matches = without_persons_and_places(pieces, matches, self.exact, common)
            matches = without_idioms(pieces, matches, self.lang)
        if HEADINGS in self.leave_out:
            matches = without_headings(pieces, matches, heading_words(self.lang))
        if self.stop:
            texts = [(key(pieces.between(x.start, x.end)), key(x.reading)) for x in matches]
            matches = [
                x for x, own in zip(matches, texts, strict=True) if self.stop.isdisjoint(own)
            ]
        return sorted(matches, key=lambda one: (one.start, one.end))

    def _kept(self) -> Kept:
        """Get the names that may be found now; the linker's filters may change at any time."""
        linker: Any = self._find_linker()
        selection = self._followed.selection(linker)
        assets = linker.assets if selection else None
        asked = (self.exact, selection, assets, self.leave_out)
        if self._kept_for != asked:
            mask, choice = self._followed.mask(linker, selection, self.exact), self.choice
            decided = {
                "foreign": "languages" in self._own_filters or any(x.languages for x in selection),
                "general": choice.types or choice.within
                or any(x.types or x.allow or x.within for x in selection),
            }  # fmt: skip
            leave_out = [rule for rule in self.leave_out if not decided.get(rule)]
            self._kept_now = make_kept(self.facts, leave_out, self.lang, mask)
            self._kept_for = asked
        return self._kept_now

    def _forget(self) -> None:
        """Forget values computed for another dictionary, or in another process."""
        self._followed = LinkerFilters("" if self.label_by else self.label, self._own_filters)
        self._kept_for = None
        self._kept_now = Kept()
        self._kinds = self._overlay = None

    def _label(self, match: Match) -> str:
        if match.label or self.label_by is None:
            return match.label or self.label
        return self.facts.label(match.rows) or self.label

    def _set(
        self, doc: Doc, pieces: Pieces, matches: Sequence[Match], phrases: Sequence[Match]
    ) -> None:
        is_for_ents = self.annotate_ents or self.spans_key is None
        if is_for_ents:
            self._set_ents(doc, pieces, phrases)
        if self.spans_key is not None:
            doc.spans[self.spans_key] = self._spans(doc, pieces, self._group(matches))

    def _set_ents(self, doc: Doc, pieces: Pieces, matches: Sequence[Match]) -> None:
        """Write the matches that say most beside or over the entities."""
        ents = [(ent.start_char, ent.end_char) for ent in doc.ents]
        if self.overwrite:
            chosen = apart(matches)
            taken = [pieces.characters(match.start, match.end) for match in chosen]
            ents = [
                (a, b) for a, b in ents if not any(a < end and start < b for start, end in taken)
            ]
        else:
            runs = (range(pieces.before(first), pieces.before(last)) for first, last in ents)
            chosen = apart(matches, (place for run in runs for place in run))
        # Of several mentions in a token that could not be split, one.
        spans = filter_spans(self._spans(doc, pieces, chosen))
        # Read anew: the tokens of the others may be split by now.
        left = set(ents)
        kept = [ent for ent in doc.ents if (ent.start_char, ent.end_char) in left]
        doc.set_ents(sorted([*kept, *spans], key=lambda span: span.start))

    def _group(self, matches: Sequence[Match]) -> Sequence[Match]:
        """Leave out what lies within another match, but kinds of it, where a linker knows."""
        linker = self._find_linker()
        is_linker = hasattr(type(linker), "engine")
        if not (is_linker and self._followed.has_same_names(linker, self.exact)):
            return matches
        if self._kinds is None or self._kinds.assets is not linker.assets:
            self._kinds = Kinds(linker)
        return without_nested(matches, self._kinds.is_kind)

    def _spans(self, doc: Doc, pieces: Pieces, matches: Sequence[Match]) -> list[Span]:
        """Make the spans of matches, whose tokens are split where a match lies within one."""
        runs = [pieces.characters(one.start, one.end) for one in matches]
        split_tokens(doc, (place for run in runs for place in run))
        starts = token_starts(doc)
        return [self._span(doc, starts, pieces, one) for one in matches]

    def _span(self, doc: Doc, starts: list[int], pieces: Pieces, match: Match) -> Span:
        first, last = pieces.characters(match.start, match.end)
        start, end = token_run(starts, first, last)
        span = Span(doc, start, end, label=self._label(match))
        if match.reading:
            span._.set(READING, match.reading)
        elif (span.start_char, span.end_char) != (first, last):  # the tokens could not be split
            span._.set(READING, pieces.text[first:last])
        return span

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon of the pipeline's linker.

        RAISES (MedlinkError): E107, E401, E108 when it cannot be read.
        """
        known = getattr(self._find_linker(), "abbreviations", None)
        return known if isinstance(known, Lexicon) else self._lexicon

    def _find_linker(self) -> Any:
        if self._nlp is not None and self.linker in self._nlp.component_names:
            return self._nlp.get_pipe(self.linker)
        return self._linker


def _make(nlp: Language, name: str, settings: dict[str, Any]) -> MedicalMentions:
    mentions = MedicalMentions(nlp.vocab, name, nlp=nlp, **settings)
    mentions.set_home(nlp)
    return mentions


make_medical_mentions = Language.factory(
    "medical_mentions",
    func=factory_of(MentionSettings, _make),
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config=DEFAULT_CONFIG,
    # `spacy train` shows these scores, but chooses by the scores of the components it trains.
    default_score_weights=dict.fromkeys(SCORES, 0.0),
)

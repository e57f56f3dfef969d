"""MedicalMentions, the `medical_mentions` component: finds the KB's names in text.

For pipelines without an NER: every run of pieces of the text is looked up in the memory-mapped
exact tier, and those that say most become entities. A mention within a token is the whole token:
see `_split`.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans, get_lang_class
from spacy.vocab import Vocab

from ..assets.dictionary import Choice
from ..errors import Errors, MedlinkError, Warnings
from ..text.lexicon import Lexicon
from ..text.normalisation import key
from ..text.pieces import Pieces
from ..types import Data
from ..util.setting_types import factory_of
from ..util.telling import tell
from .extensions import READ_AT, READING, register_reading, store_defaults
from .finding.dictionary_pipe import DictionaryPipe
from .finding.matches import Match, apart, settled, without_nested
from .finding.scoring import SCORES, score_mentions
from .finding.settings import DEFAULT_CONFIG, LABEL, LABELLINGS, PARTS, MentionSettings
from .finding.tokens import split_tokens, token_run, token_starts
from .linker.component import MedicalLinker
from .names import LINKER, MENTIONS
from .pipe import PicklablePipe, add_to_group
from .tokenizer import MedicalTokenizer

if TYPE_CHECKING:  # imported when a text is read: spaCy imports this with every `spacy.blank`
    from .finding.dictionary_pipe import Dictionary
    from .finding.linker_names import LinkerNames

_ATTRIBUTES = ("spans_key", "annotate_ents", "overwrite", "linker")
_BEGINS = 3  # of ENT_IOB: an entity begins, or without a type, none may
_LONGEST = 8  # words of a mention
_Characters = tuple[int, int]


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

    def __init__(
        self,
        vocab: Vocab,
        name: str = MENTIONS,
        *,
        nlp: Language | None = None,
        **settings: object,
    ) -> None:
        given = MentionSettings.of(settings)
        choice = Choice(tuple(given.types or ()), tuple(given.languages or ()), given.within or "")
        label_by = given.label if given.label in LABELLINGS else None
        super().__init__(given.assets, choice, vocab.lang or "", label_by)
        self.label = LABEL if label_by else given.label
        self.vocab = vocab
        self.name = name
        for setting in _ATTRIBUTES:
            setattr(self, setting, getattr(given, setting))
        own = nlp.Defaults.stop_words if nlp is not None else set()
        self._stop_words = own or _language(vocab.lang).Defaults.stop_words
        self.stop = frozenset(map(key, given.stop or ()))
        self.leave_out = frozenset(given.leave_out)
        # Given filters replace the linker's; [] does too, and lets all names pass.
        self._own_filters = frozenset(
            name for name in ("types", "languages", "within") if getattr(given, name) is not None
        )
        self._linker: MedicalLinker | None = None  # that was asked last
        self._named: tuple[str, MedicalLinker] | None = None  # the last that had the name
        if nlp is not None:
            self.set_home(nlp)
        self._was_alone = False  # when it was pickled
        self._has_warned = False
        self._lexicon = Lexicon()
        self._made_names: LinkerNames | None = None
        register_reading()

    def _shown(self) -> Data:
        places = [f"doc.spans[{self.spans_key!r}]"] if self.spans_key else []
        places += ["doc.ents"] if self.annotate_ents or not places else []
        return {"assets": self.source or "starter", "writes": ", ".join(places)}

    @property
    def name(self) -> str:
        """The name in the pipeline. spaCy sets it anew with each change of the pipeline."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = name
        if "_linker" in self.__dict__:
            with suppress(MedlinkError):  # follow a linker that was renamed
                self._find_linker()

    def find(self, doc: Doc) -> list[Span]:
        """Find all matches, overlapping ones too, without changing the Doc.

        A match within a token is given as the whole token.
        """
        pieces = Pieces(doc.text, self._stop_words)
        matches = self._matches(pieces, self._opened())
        return [span for span, *_ in self._spans(doc, pieces, matches)]

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        assets: str | Path | None = None,
    ) -> None:
        """Open the dictionary; `assets` replaces the source, as for medical_linker."""
        if assets is not None:
            self.use(assets)
        _ = self.facts, self._find_linker()

    def score(self, examples: Iterable[Example], **settings: object) -> Data:
        """Measure on Examples, as `spacy evaluate` does: see `finding.scoring.score_mentions`."""
        return score_mentions(list(examples), self.spans_key, self.name)

    def __getstate__(self) -> Data:
        state = super().__getstate__()
        # Keep parts of the pipeline only, since the pipeline itself contains this component.
        linker, names = self._find_linker(), self._names
        is_asked = linker and (names.selection(linker) or linker.opened.overlaid is not None)
        state["_linker"] = linker if is_asked or self.spans_key else None
        state["_lexicon"] = self._lexicon_of(linker)
        state["_named"] = state["_made_names"] = None
        state["_was_alone"] = self._is_alone
        return state

    def use(self, assets: str | Path) -> None:
        """Take the dictionary of other assets."""
        super().use(assets)
        self._made_names = None

    def _annotate(self, doc: Doc) -> None:
        pieces, dictionary = Pieces(doc.text, self._stop_words), self._opened()
        matches = self._matches(pieces, dictionary)
        chosen, ents = list[Match](), set[_Characters]()
        if is_for_ents := self.annotate_ents or self.spans_key is None:
            phrases = matches
            if matches and PARTS in self.leave_out:
                from .finding.phrases import Phrases

                phrases = Phrases(pieces, matches, dictionary.exact.vocabulary, self.lang).matches
            blocked = _blocked(doc)
            chosen, ents = self._chosen(doc, pieces, phrases, blocked)
        group = list[Match]()
        if self.spans_key is not None:
            ancestors = self._names.ancestors(self._find_linker(), dictionary.exact)
            # Of what lies within another match, related names stay, where a linker knows them.
            group = matches if ancestors is None else without_nested(matches, ancestors.are_shared)
        self._split(doc, pieces, [*chosen, *group])
        if is_for_ents:
            kept = [ent for ent in doc.ents if (ent.start_char, ent.end_char) in ents]
            # Tokens of two mentions may overlap where they could not be split.
            spans = filter_spans(self._written(doc, pieces, chosen))
            ents_in_order = sorted([*kept, *spans], key=attrgetter("start"))
            doc.set_ents(ents_in_order, blocked=_blocked(doc) if blocked else [])
        if self.spans_key is not None:
            add_to_group(doc, self.spans_key, self._written(doc, pieces, group))

    def _matches(self, pieces: Pieces, dictionary: "Dictionary") -> list[Match]:
        """Find all matches of a text, in its order."""
        from .finding.left_out import mentions_among
        from .finding.names import NameFinder
        from .finding.short_forms import ShortForms

        exact, names, linker = dictionary.exact, self._names, self._find_linker()
        kept = every = names.kept(linker, exact, dictionary.facts, self.leave_out)
        if overlaid := names.overlaid(linker, exact, _LONGEST):
            kept = overlaid.left_of(every)
        matches = NameFinder(exact, _LONGEST, kept, self.lang).find(pieces)
        if overlaid:
            matches = overlaid.added_to(pieces, matches, every)
        matches = ShortForms(exact, self._lexicon_of(linker), kept).corrected(pieces, matches)
        matches = mentions_among(pieces, settled(matches), exact, self.lang, self.leave_out)
        if self.stop:
            matches = [match for match in matches if not self._is_stopped(pieces, match)]
        return sorted(matches, key=attrgetter("start", "end"))

    def _is_stopped(self, pieces: Pieces, match: Match) -> bool:
        texts = pieces.between(match.start, match.end), match.reading
        return not self.stop.isdisjoint(map(key, texts))

    @property
    def _names(self) -> "LinkerNames":
        if self._made_names is None:
            from .finding.linker_names import LinkerNames

            label = "" if self.label_by else self.label
            self._made_names = LinkerNames(label, self._own_filters, self.choice, self.lang)
        return self._made_names

    def _chosen(
        self, doc: Doc, pieces: Pieces, matches: Sequence[Match], blocked: Sequence[Span]
    ) -> tuple[list[Match], set[_Characters]]:
        """Choose the matches that say most. RETURNS: them, and where the entities are that stay."""
        ents = {(ent.start_char, ent.end_char) for ent in doc.ents}
        taken = blocked if self.overwrite else [*doc.ents, *blocked]
        rows = [range(*map(pieces.before, (span.start_char, span.end_char))) for span in taken]
        chosen = apart(matches, chain.from_iterable(rows))
        if not self.overwrite:
            return chosen, ents
        runs = [pieces.characters(match.start, match.end) for match in chosen]
        return chosen, {
            (a, b) for a, b in ents if not any(a < end and start < b for start, end in runs)
        }

    @property
    def _is_alone(self) -> bool:
        """Whether all components of the pipeline are of this package; no other one has tokens."""
        pipes = [pipe for _, pipe in nlp.pipeline] if (nlp := self.home()) else []
        return all(isinstance(pipe, PicklablePipe) for pipe in pipes) if nlp else self._was_alone

    def _split(self, doc: Doc, pieces: Pieces, matches: Iterable[Match]) -> None:
        """Split the tokens that matches begin or end in, where nobody else can have read them.

        A Doc of another vocabulary is one of a pipeline that has the component from this one.
        """
        if self._is_alone and doc.vocab is self.vocab:
            runs = [pieces.characters(match.start, match.end) for match in matches]
            split_tokens(doc, chain.from_iterable(runs))

    def _written(self, doc: Doc, pieces: Pieces, matches: Sequence[Match]) -> list[Span]:
        """Make the spans of matches, and write what was read on those that say it otherwise.

        A mention that lies within a token brings one warning, unless the tokenizer is ours.
        """
        nlp, spans = self.home(), list[Span]()
        is_ours = nlp is not None and isinstance(nlp.tokenizer, MedicalTokenizer)
        for span, match, (first, last) in self._spans(doc, pieces, matches):
            is_widened = (span.start_char, span.end_char) != (first, last)
            if is_widened:
                span._.set(READ_AT, [first, last])
            if is_widened and not (self._has_warned or is_ours):
                self._has_warned, text = True, pieces.text[first:last]
                tell(Warnings.widened.format(name=self.name, text=text, token=span.text))
            if match.reading or is_widened:
                span._.set(READING, match.reading or pieces.text[first:last])
            store_defaults(span, (READING, READ_AT))
            spans.append(span)
        return spans

    def _spans(
        self, doc: Doc, pieces: Pieces, matches: Sequence[Match]
    ) -> list[tuple[Span, Match, _Characters]]:
        """Make the spans of matches: the tokens that a match lies in, with its own characters.

        Of matches at several places within the same tokens only the longest one is given, since
        their spans would share all attributes.
        """
        starts, longest = token_starts(doc), dict[_Characters, _Characters]()
        runs = [pieces.characters(match.start, match.end) for match in matches]
        places = [token_run(starts, first, last) for first, last in runs]
        by_length = sorted(zip(runs, places, strict=True), key=lambda pair: pair[0][0] - pair[0][1])
        for run, place in by_length:
            longest.setdefault(place, run)
        spans = []
        for match, run, place in zip(matches, runs, places, strict=True):
            if longest[place] == run:
                label = self.label if self.label_by is None else self.facts.label(match.rows)
                spans.append((Span(doc, *place, label=label or self.label), match, run))
        return spans

    def _lexicon_of(self, linker: MedicalLinker | None) -> Lexicon:
        return self._lexicon if linker is None else linker.abbreviations

    def _find_linker(self) -> MedicalLinker | None:
        """Find the linker to ask: the one with the name, or the only one for the default name.

        RAISES (MedlinkError): E332 where there is none with the name, or several for the default.
        """
        nlp = self.home()
        if nlp is None or self.linker is None:
            return self._linker if self.linker is not None else None
        linkers = {name: pipe for name, pipe in nlp.components if isinstance(pipe, MedicalLinker)}
        if self.linker in linkers:
            self._named = self.linker, linkers[self.linker]
        elif self.linker != LINKER or len(linkers) > 1:
            renamed = [name for name in linkers if (self.linker, linkers[name]) == self._named]
            if not renamed:
                known = ", ".join(map(repr, linkers)) or "no linker"
                raise Errors.unknown_linker(name=self.name, linker=self.linker, known=known)
            self.linker = renamed[0]
            self._say("linker", self.linker)
        self._linker = linkers.get(self.linker) or next(iter(linkers.values()), None)
        return self._linker


def _blocked(doc: Doc) -> list[Span]:
    """List the tokens that may not be in an entity, as `doc.set_ents(blocked=...)` says."""
    iob, types = doc.to_array(["ENT_IOB", "ENT_TYPE"]).reshape(-1, 2).T
    return [doc[row : row + 1] for row in np.flatnonzero((iob == _BEGINS) & (types == 0)).tolist()]


def _language(lang: str | None) -> type[Language]:
    """Get the class of a language; the one without any rules, where spaCy knows none."""
    try:
        return get_lang_class(lang) if lang else Language
    except ImportError:
        return Language


def _make(nlp: Language, name: str, settings: Data) -> MedicalMentions:
    return MedicalMentions(nlp.vocab, name, nlp=nlp, **settings)


make_medical_mentions = Language.factory(
    MENTIONS,
    func=factory_of(MentionSettings, _make),
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config=DEFAULT_CONFIG,
    # `spacy train` shows these scores, but chooses by the scores of the components it trains.
    default_score_weights=dict.fromkeys(SCORES, 0.0),
)

"""Filters at build: which concepts and names of a source go into the knowledge base."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from ..text.normalisation import is_short_form, normalise
from ..types import Concept, Name, Record, Retired
from ..util.setting_types import Options, option, setting
from .vocabularies import GROUPS, canonical, iso_639_1, type_named, types_of

Verdict = Callable[[Name], str]


class Filters(Options):
    """The concepts and names to keep: all that pass every given filter.

    A name of several vocabularies keeps only those in `sources`. Single names and concepts are
    left out by rules.
    """

    languages: tuple[str, ...] = option((), "Keep names of these languages: en,es.")
    sources: tuple[str, ...] = option((), "Keep names of these vocabularies: SNOMEDCT_US.")
    types: tuple[str, ...] = option(
        (), "Keep concepts of these types, or groups of UMLS types: T047,DISO."
    )
    term_types: tuple[str, ...] = option((), "Keep names of these term types: PT,SY.")
    include_obsolete: bool = option(False, "Keep obsolete and suppressed names.")
    allow_ids: tuple[str, ...] = setting((), "must be a list of ids", "the only concepts to keep")

    def apply(
        self, records: Iterable[Record], removed: Counter[str] | None = None
    ) -> Iterator[Record]:
        """Stream the records that pass; retired ids do.

        A concept whose preferred name is removed gets the best remaining one, see `with_names`.

        removed (Optional[Counter[str]]): counts what is removed, by reason ("name: language",
            "concept: no name left").
        """
        removed = Counter() if removed is None else removed
        verdict = self._verdict()
        named = set(map(type_named, self.types))
        types = {*self.types, *named, *types_of({*map(str.upper, named)} & GROUPS.keys())}
        allowed_ids = frozenset(self.allow_ids)
        for record in records:
            if isinstance(record, Retired):
                yield record
                continue
            reason, kept = "", None
            if allowed_ids and record.id not in allowed_ids:
                reason = "id not allowed"
            elif types and types.isdisjoint(record.types):
                reason = "type"
            else:
                kept = self._with_names(record, verdict, removed)
            if kept is None:
                removed[f"concept: {reason or 'no name left'}"] += 1
            else:
                yield kept

    @cached_property
    def _sources(self) -> frozenset[str]:
        """The vocabularies of names, which sources spell in many ways."""
        return frozenset(map(canonical, self.sources))

    def as_manifest(self) -> dict[str, object]:
        """List the filters that were given, for the manifest."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def _with_names(
        self, concept: Concept, verdict: Verdict, removed: Counter[str]
    ) -> Concept | None:
        kept = []
        for name in names_of(concept):
            if reason := verdict(name):
                removed[f"name: {reason}"] += 1
            elif self.sources and "|" in name.source:
                sources = name.source.split("|")
                wanted = [source for source in sources if canonical(source) in self._sources]
                kept.append(name._replace(source="|".join(wanted)))
            else:
                kept.append(name)
        return with_names(concept, kept) if kept else None

    def _verdict(self) -> Verdict:
        """Make the function that returns why a name is left out, "" for a name to keep."""
        # The UMLS writes ENG, and its names are "en" here.
        languages = {*self.languages, *map(iso_639_1, self.languages)}
        sources = self._sources
        term_types = frozenset(self.term_types)

        def verdict(name: Name) -> str:
            if name.obsolete and not self.include_obsolete:
                return "obsolete"
            if languages and name.lang not in languages:
                return "language"
            if sources and sources.isdisjoint(map(canonical, name.source.split("|"))):
                return "source"
            if term_types and name.tty not in term_types:
                return "term type"
            return ""

        return verdict


def names_of(concept: Concept) -> tuple[Name, ...]:
    """List a concept's names, the preferred one included."""
    names = concept.names
    if names and (names[0].text == concept.name or concept.name in {name.text for name in names}):
        return names
    return (Name(concept.name), *names) if concept.name.strip() else names


def with_names(concept: Concept, names: list[Name]) -> Concept:
    """Copy a concept with other names, the best ones first, as readers give them.

    The preferred name stays if it is among them, in its language; else it is the first in use.
    """
    preferred = next(name for name in names_of(concept) if name.text == concept.name)
    if not any(name[:2] == preferred[:2] for name in names):
        preferred = next((name for name in names if not name.obsolete), names[0])
    return replace(concept, name=preferred.text, names=tuple(names))


def name_identity(text: str) -> tuple[str, bool]:
    """Make the key by which rules compare names: equal keys are one name."""
    return normalise(text) or text, is_short_form(text)

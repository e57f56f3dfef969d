"""Filters at build: which concepts and names of a source go into the knowledge base."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property

from ..errors import Errors
from ..text.normalisation import is_short_form, normalise
from ..types import Concept, Name, Record, Retired
from .vocabularies import canonical, iso_639_1, type_named, types_of

Verdict = Callable[[Name], str]


@dataclass(frozen=True)
class Filters:
    """The concepts and names to keep: all that pass every given filter.

    languages (Tuple[str, ...]): languages of names. sources (Tuple[str, ...]): vocabularies of
        names; a name of several vocabularies keeps only these.
    types (Tuple[str, ...]): types of concepts, such as "T047" or "Disease or Syndrome". groups
        (Tuple[str, ...]): of types, such as "DISO"; a concept needs one of the types or groups.
    term_types (Tuple[str, ...]): term types of names, such as "PT".
    include_obsolete (bool): whether to keep names that are obsolete or suppressed.
    min_length, max_length (int): length of names, in characters; 0 is no limit.
    allow_ids, deny_ids (Tuple[str, ...]): the only concepts to keep; concepts to leave out.
    allow_names, deny_names (Tuple[str, ...]): the same for names, compared without regard to case,
        accents and punctuation, except that short forms keep their case ("ALL" is not "all").
    RAISES (MedlinkError): E213 for an unknown group, E163 when nothing could pass.
    """

    languages: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    term_types: tuple[str, ...] = ()
    include_obsolete: bool = False
    min_length: int = 0
    max_length: int = 0
    allow_ids: tuple[str, ...] = ()
    deny_ids: tuple[str, ...] = ()
    allow_names: tuple[str, ...] = ()
    deny_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.max_length and self.min_length > self.max_length:
            problem = f"names of {self.min_length} or more and {self.max_length} or fewer letters"
            raise Errors.bad_filter(problem=problem)
        if self.allow_ids and set(self.allow_ids) <= set(self.deny_ids):
            raise Errors.bad_filter(problem="every allowed id is denied too")
        types_of(self.groups)  # so that an unknown group fails here

    def apply(
        self, records: Iterable[Record], removed: Counter[str] | None = None
    ) -> Iterator[Record]:
        """Stream the records that pass. Retired ids pass unless they are denied.

        A concept whose preferred name is removed gets the best remaining one, see `with_names`.

        removed (Optional[Counter[str]]): counts what is removed, by reason ("name: language",
            "concept: no name left").
        """
        removed = Counter() if removed is None else removed
        verdict = self._verdict()
        types = {*self.types, *map(type_named, self.types), *types_of(self.groups)}
        allowed_ids, denied_ids = frozenset(self.allow_ids), frozenset(self.deny_ids)
        for record in records:
            if isinstance(record, Retired):
                if record.id not in denied_ids:
                    yield record
                else:
                    removed["retired: denied id"] += 1
                continue
            reason, kept = "", None
            if allowed_ids and record.id not in allowed_ids:
                reason = "id not allowed"
            elif record.id in denied_ids:
                reason = "denied id"
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
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items() if value
        }  # fmt: skip

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
        allowed = frozenset(map(name_identity, self.allow_names))
        denied = frozenset(map(name_identity, self.deny_names))
        shortest, longest = self.min_length, self.max_length or float("inf")

        def verdict(name: Name) -> str:
            if name.obsolete and not self.include_obsolete:
                return "obsolete"
            if languages and name.lang not in languages:
                return "language"
            if sources and sources.isdisjoint(map(canonical, name.source.split("|"))):
                return "source"
            if term_types and name.tty not in term_types:
                return "term type"
            if not shortest <= len(name.text) <= longest:
                return "length"
            if denied and name_identity(name.text) in denied:
                return "denied name"
            if allowed and name_identity(name.text) not in allowed:
                return "name not allowed"
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
    """Make the key by which filters and curation compare names: equal keys are one name."""
    return normalise(text) or text, is_short_form(text)

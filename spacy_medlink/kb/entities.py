"""Concepts as scispaCy's users know them: `kb.cui_to_entity[cui]`."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from ..types import Concept


class _Concepts(Protocol):
    """The methods of a knowledge base that are used here."""

    def __getitem__(self, id: str) -> Concept: ...
    def __contains__(self, id: object) -> bool: ...
    def __len__(self) -> int: ...
    def iter_ids(self) -> Iterator[str]: ...


class Entity(NamedTuple):
    """A concept with the fields of scispaCy's `Entity`.

    aliases (List[str]): the names but for the preferred one, each once, in any language.
    definition (Optional[str]): None where the terminology has none.
    """

    concept_id: str
    canonical_name: str
    aliases: list[str]
    types: list[str]
    definition: str | None = None


class EntitiesById(Mapping[str, Entity]):
    """The concepts of a knowledge base by id; each is read when it is asked for.

    RAISES (KeyError): for an unknown id.
    """

    def __init__(self, kb: _Concepts) -> None:
        self._kb = kb

    def __getitem__(self, id: str) -> Entity:
        concept = self._kb[id]
        aliases = dict.fromkeys(name.text for name in concept.names if name.text != concept.name)
        types, definition = list(concept.types), concept.definition or None
        return Entity(concept.id, concept.name, list(aliases), types, definition)

    def __contains__(self, id: object) -> bool:
        return id in self._kb

    def __iter__(self) -> Iterator[str]:
        return self._kb.iter_ids()

    def __len__(self) -> int:
        return len(self._kb)

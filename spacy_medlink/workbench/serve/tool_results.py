"""The results of an assistant's tools: their types are the output schemas that it reads."""

from typing import Any, Literal

from pydantic import ConfigDict
from typing_extensions import TypedDict  # pydantic reads no other one on Python 3.11

Codes = dict[str, list[str]]
"""Codes of other vocabularies, by vocabulary."""


class Proposed(TypedDict):
    """A concept that may be meant, too."""

    id: str
    name: str
    probability: float | None


class LinkedMention(TypedDict, total=False):
    """A mention: its characters, and its concept, or the reason why it has none."""

    mention: str
    start: int
    end: int
    id: str | None
    name: str
    probability: float | None
    codes: Codes
    reason: str
    match: str
    section: str
    status: list[Literal["absent", "possible", "past", "conditional", "family"]]
    candidates: list[Proposed]


class Linked(TypedDict):
    """The mentions of a text."""

    mentions: list[LinkedMention]


class Hit(TypedDict):
    """A concept, the name by which it was found, and how that is like the query."""

    id: str
    name: str
    matched: str
    how: str
    codes: Codes


class Hits(TypedDict):
    """The concepts of a search, the best first."""

    concepts: list[Hit]


class Described(TypedDict):
    """What the terminology says of a concept."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]  # pydantic reads it

    id: str
    name: str
    types: list[str]
    definition: str
    codes: Codes


class Resolved(TypedDict, total=False):
    """Whether a code exists, and its concepts; the reason where it has none."""

    asked: str
    status: Literal["current", "code", "replaced", "retired", "unknown"]
    reason: str
    concepts: list[Described]


class Explained(TypedDict):
    """Why a mention is linked as it is; `text` says it in words."""

    mention: str
    link: dict[str, Any]
    candidates: list[dict[str, Any]]
    runner_up: dict[str, Any] | None
    tied: list[Any]
    text: str


class Target(TypedDict):
    """A concept for a term, and how their meanings are related."""

    id: str
    name: str
    match: str
    matched: str
    probability: float | None


class Mapping(TypedDict, total=False):
    """A term with the concepts proposed for it, or the reason why there are none."""

    term: str
    targets: list[Target]
    candidates: list[Target]
    reason: str


class Mappings(TypedDict):
    """The terms in their order."""

    mappings: list[Mapping]

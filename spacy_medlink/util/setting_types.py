"""What settings of components may be, checked when a component is made: models of pydantic.

A model says of each setting what it may be, and in `description` the rule that a message names.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ..errors import Errors

_MOST = 2**31 - 1  # what libraries in C take
_SHOWN = 80  # characters of a value in a message
_PATH, _PART = 4_096, 255  # bytes of a path and of each of its names, on the common systems


class Limits(BaseModel):
    """Limits of settings; a value is what it says, and not what could be made of it."""

    model_config = ConfigDict(
        strict=True, extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=True
    )


def whole(least: int, most: int = _MOST) -> Any:
    """Make the field of a whole number."""
    rule = f"must be a whole number from {least} to {most:,}"
    return Field(ge=least, le=most, description=rule)


def share() -> Any:
    """Make the field of a number from 0 to 1."""
    return Field(ge=0, le=1, description="must be a number between 0 and 1")


def rule(text: str) -> Any:
    """Make the field of any other setting."""
    return Field(description=text)


def check_limits(
    limits: type[Limits], settings: Mapping[str, Any], codes: Mapping[str, Any] | None = None
) -> None:
    """Check settings.

    codes (Optional[Mapping[str, Message]]): the errors of settings that have one of their own.
    RAISES (MedlinkError): E302 for the first setting that is not what it may be, or its own error.
    """
    try:
        limits.model_validate({name: _plain(value) for name, value in settings.items()})
    except ValidationError as error:
        place = error.errors(include_url=False, include_context=False, include_input=False)[0]
        name = str(place["loc"][0])
        field = limits.model_fields.get(name)
        own = field.description if field is not None else "there is no such setting"
        value = _Shown(settings.get(name))
        if codes is not None and name in codes:
            raise codes[name](**{name: value}) from error
        raise Errors.bad_setting(name=name, value=value, rule=own) from error


def is_weight(value: object) -> bool:
    """Tell whether a value can be the weight of a tier."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= _MOST  # which nothing is that is no number


class _Shown:
    """The beginning of a value, as messages show it."""

    def __init__(self, value: object) -> None:
        shown = repr(value[:_SHOWN] if isinstance(value, str | list | tuple) else value)
        self._shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."

    def __repr__(self) -> str:
        return self._shown

    __str__ = __repr__


def _plain(value: object) -> object:
    """Take numbers of numpy for what they are."""
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return value.item()  # type: ignore[attr-defined]
    return value


def _encodable(value: str) -> str:
    value.encode()  # half a surrogate pair cannot be stored: UnicodeEncodeError, a ValueError
    return value


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple | set | frozenset) else value


def _path(value: str) -> str:
    bytes = os.fsencode(_encodable(value))
    names = bytes.replace(b"\\", b"/").split(b"/")
    if len(bytes) > _PATH or any(len(name) > _PART for name in names) or b"\0" in bytes:
        raise ValueError("no path")
    return value


def _text_of_path(value: object) -> object:
    return str(value) if isinstance(value, Path) else value


Text = Annotated[str, AfterValidator(_encodable)]
Texts = Annotated[list[Text], BeforeValidator(_listed)]
TextLists = dict[Text, Texts]
Place = Annotated[str, BeforeValidator(_text_of_path), AfterValidator(_path)]
PATH_RULE = "must be a path or the name of a package, in characters that can be written"
LIST_RULE = "must be a list of texts in characters that can be written, or null"
TEXT_RULE = "must be a text in characters that can be written"

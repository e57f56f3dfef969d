"""Settings: pydantic models, the source of spaCy's factories, of options and of the reference.

A field has the type, the default, the limits and the description of a setting.
"""

import os
from collections.abc import Callable, Collection, Mapping
from copy import copy
from functools import reduce
from inspect import Parameter, Signature
from operator import attrgetter, or_
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ..errors import Errors
from ..types import Data

MOST = 2**31 - 1  # the greatest int of libraries in C
_PATH, _PART = 4_096, 255  # bytes of a path and of each of its names, on the common systems

Component = TypeVar("Component")
Made = TypeVar("Made", bound="Settings")


class Settings(BaseModel):
    """The settings of a component; values are not converted to another type."""

    # Built when first used: spaCy imports the components' settings with every `spacy.blank`.
    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
        defer_build=True,
    )

    @classmethod
    def of(cls: type[Made], given: Mapping[str, object]) -> Made:
        """Make settings; those that are not given have their defaults.

        RAISES (MedlinkError): E302 for the first invalid setting, or the setting's own error.
        """
        try:
            return cls.model_validate({name: _plain(value) for name, value in given.items()})
        except ValidationError as error:
            first, *_ = error.errors(include_url=False, include_context=False, include_input=False)
            name = str(first["loc"][0])
            rule = cls.rule_of(name) or str(first["msg"]).removeprefix("Value error, ")
            raise Errors.bad_setting(name=name, value=given.get(name), rule=rule) from error

    def change(self, values: Mapping[str, object]) -> None:
        """Change some settings, or none if one of them is invalid.

        RAISES (MedlinkError): as `of` does.
        """
        self.__dict__.update(self.of({**self.__dict__, **values}).__dict__)

    @classmethod
    def defaults(cls) -> dict[str, object]:
        """List the defaults, in the order of the settings."""
        return {name: copy(field.default) for name, field in cls.model_fields.items()}

    @classmethod
    def rule_of(cls, name: str) -> str:
        """Return the rule of a setting: the values that are allowed."""
        extra = getattr(cls.model_fields.get(name), "json_schema_extra", None)
        return str(extra["rule"]) if isinstance(extra, dict) else "there is no such setting"


class Options(Settings):
    """The settings of a verb, which makes options of them; texts are converted, as "5" to 5."""

    model_config = ConfigDict(strict=False, frozen=True)


def option(
    default: object,
    help: str,
    name: str = "",
    least: float | None = None,
    most: float | None = None,
    **shown: str | bool,
) -> Any:
    """Make the field of a setting that is an option of the command line.

    name (str): of the option, where the field has another one. shown: further arguments of
        `typer.Option`, such as "metavar" and "exists".
    """
    about: Any = {"name": name, "min": least, "max": most, **shown}
    extra: Data = {"rule": "", "option": about}
    return Field(default, description=help, json_schema_extra=extra, ge=least, le=most)


def one_of(allowed: Callable[[], Collection[str]]) -> AfterValidator:
    """Make the check that a value is one of those that are allowed when it is checked."""

    def check(value: str) -> str:
        if value not in allowed():
            raise ValueError(f"{value!r} is not one of {', '.join(allowed())}.")
        return value

    return AfterValidator(check)


def factory_of(
    settings: type[Settings], make: Callable[..., Component]
) -> Callable[..., Component]:
    """Make a factory of spaCy, which reads the names and types of its arguments.

    make (Callable): (pipeline, name, values of all settings) -> component.
    """

    def factory(nlp: object, name: str, **values: object) -> Component:
        return make(nlp, name, values)

    arguments = {"nlp": Any, "name": str, **types_of(settings)}
    positional = Parameter.POSITIONAL_OR_KEYWORD
    factory.__signature__ = Signature(  # type: ignore[attr-defined]  # PEP 362 lets functions have it
        [Parameter(name, positional, annotation=type) for name, type in arguments.items()]
    )
    factory.__doc__ = make.__doc__
    return factory


def setting_property(name: str) -> Any:
    """Make a component's property for one of its `settings`; new values are checked."""

    def change(component: Any, value: object) -> None:
        component.settings.change({name: value})

    return property(attrgetter(f"settings.{name}"), change)


def types_of(settings: type[Settings]) -> dict[str, object]:
    """List the types of settings as spaCy reads them, without the limits of their values."""
    return {name: _bare(field.annotation) for name, field in settings.model_fields.items()}


def setting(
    default: object,
    rule: str,
    help: str,
    least: float | None = None,
    most: float | None = None,
) -> Any:
    """Make the field of a setting.

    rule (str): the allowed values, for messages. help (str): the effect, for the reference.
    least, most (Optional[float]): the limits of a number.
    """
    return Field(default, description=help, json_schema_extra={"rule": rule}, ge=least, le=most)


def whole(default: int | None, least: int, most: int, help: str) -> Any:
    """Make the field of a whole number."""
    rule = f"must be a whole number from {least} to {most:,}"
    return setting(default, rule, help, least, most)


def share(default: float | None, help: str) -> Any:
    """Make the field of a number from 0 to 1."""
    return setting(default, "must be a number between 0 and 1", help, 0, 1)


def flag(default: bool | None, help: str) -> Any:
    """Make the field of a yes or no; null where that is the default."""
    rule = "must be true or false" if default is not None else "must be true, false or null"
    return setting(default, rule, help)


def _bare(annotation: Any) -> Any:
    """Return a type without limits: the base of an Annotated, the type of a Literal's values."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _bare(inner[0])
    if origin is Literal:
        return type(inner[0])
    if origin in (Union, UnionType):
        return reduce(or_, map(_bare, inner))
    if origin in (list, dict):
        return origin[tuple(map(_bare, inner))]
    plain = (str, int, float, bool, NoneType)
    return annotation if annotation in plain else Any


def is_weight(value: object) -> bool:
    """Tell whether a value can be the weight of a tier."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= MOST  # which nothing is that is no number


def _plain(value: Any) -> object:
    """Convert numpy numbers to Python numbers."""
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return value.item()
    return value


def _encodable(value: str) -> str:
    value.encode()  # half a surrogate pair cannot be stored: UnicodeEncodeError, a ValueError
    return value


def _path(value: str) -> str:
    if not value:
        raise ValueError("no path")  # it would mean where the process happens to work
    bytes = os.fsencode(_encodable(value))
    names = bytes.replace(b"\\", b"/").split(b"/")
    if len(bytes) > _PATH or any(len(name) > _PART for name in names) or b"\0" in bytes:
        raise ValueError("no path")
    return value


Text = Annotated[str, AfterValidator(_encodable)]
Listed = BeforeValidator(
    lambda value: list(value) if isinstance(value, tuple | set | frozenset) else value
)
Texts = Annotated[list[Text], Listed]
TextLists = dict[Text, Texts]
Place = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if isinstance(value, Path) else value),
    AfterValidator(_path),
]
PATH_RULE = "must be a path or the name of a package, in characters that can be written"
LIST_RULE = "must be a list of texts in characters that can be written, or null"
TEXT_RULE = "must be a text in characters that can be written"

"""Options of verbs, made from the fields of settings, which name and explain them."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import typer
from pydantic import ValidationError

from ..util.setting_types import Options
from .parsing import comma_list


def with_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of its settings, in place of its parameter `settings`.

    A list may be given several times, a tuple is written with commas. What the model refuses is an
    error of usage (exit code 2).
    """
    own = signature(verb, eval_str=True)
    model: type[Options] = own.parameters["settings"].annotation
    options = {
        name: _parameter(name, field, extra["option"])
        for name, field in model.model_fields.items()
        if isinstance(extra := field.json_schema_extra, dict) and "option" in extra
    }

    @wraps(verb)
    def with_settings(**values: Any) -> None:
        given = {name: values.pop(name) for name in options}
        verb(**values, settings=_settings(model, given, options))

    parameters: list[Parameter] = []
    for name, parameter in own.parameters.items():
        parameters += options.values() if name == "settings" else [parameter]
    keywords = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    with_settings.__signature__ = own.replace(parameters=keywords)  # type: ignore[attr-defined]  # PEP 362 lets functions have it
    return with_settings


def _parameter(name: str, field: Any, about: Mapping[str, str]) -> Parameter:
    limits = {
        end: getattr(limit, at)
        for limit in field.metadata
        for end, at in (("min", "ge"), ("max", "le"))
        if hasattr(limit, at)
    }
    typed, default = _typed(field.annotation), field.default
    if isinstance(default, tuple):
        default = ",".join(map(str, default))
    if default is None or default == []:
        typed, default = typed | None, None
    shown = {key: value for key, value in about.items() if key != "name"}
    flag = about["name"] or f"--{name.replace('_', '-')}"
    declared = f"{flag}/--no-{flag[2:]}" if default is True else flag
    option = typer.Option(declared, help=field.description, **limits, **shown)
    annotation = Annotated[typed, option]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _typed(annotation: Any) -> Any:
    """Find the type of a value on the command line."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return _typed(next(part for part in inner if part is not NoneType))
    return _typed(inner[0]) if origin is Annotated else str if origin is tuple else annotation


def _settings(
    model: type[Options], given: Mapping[str, Any], options: Mapping[str, Parameter]
) -> Options:
    """Make the settings; what is not given has its default."""
    fields = model.model_fields
    values = {
        name: comma_list(value) if get_origin(fields[name].annotation) is tuple else value
        for name, value in given.items()
        if value is not None
    }
    try:
        return model(**values)
    except ValidationError as error:
        first, *_ = error.errors(include_url=False)
        name = str(first["loc"][0])
        problem = first.get("ctx", {}).get("error", first["msg"])
        option = options[name].annotation.__metadata__[0]
        raise typer.BadParameter(str(problem), param_hint=option.default) from error

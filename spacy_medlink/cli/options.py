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
    """Give a verb the options of its settings, in place of each parameter that is a model of them.

    A list may be given several times, a tuple is written with commas. What the model refuses is an
    error of usage (exit code 2).
    """
    own = signature(verb, eval_str=True)
    models = {
        name: declared.annotation
        for name, declared in own.parameters.items()
        if isinstance(declared.annotation, type) and issubclass(declared.annotation, Options)
    }
    options = {name: _options(model) for name, model in models.items()}

    @wraps(verb)
    def with_settings(**values: Any) -> None:
        for name, model in models.items():
            given = {field: values.pop(field) for field in options[name]}
            values[name] = _settings(model, options[name], given)
        verb(**values)

    parameters = [
        parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for name, declared in own.parameters.items()
        for parameter in (
            [_parameter(field, models[name].model_fields[field], about)
             for field, about in options[name].items()]
            if name in models
            else [declared]
        )
    ]  # fmt: skip
    with_settings.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]  # PEP 362 lets functions have it
    return with_settings


def _options(model: type[Options]) -> dict[str, Any]:
    """List the fields that are options, with what their help shows."""
    return {
        name: extra["option"]
        for name, field in model.model_fields.items()
        if isinstance(extra := field.json_schema_extra, dict) and "option" in extra
    }


def _parameter(name: str, field: Any, about: Mapping[str, Any]) -> Parameter:
    typed, default, flag = _typed(field.annotation), field.default, _flag(name, about)
    if isinstance(default, tuple):
        default = ",".join(map(str, default))
    elif default is None or default == []:
        typed, default = typed | None, None
    elif default is True:
        flag += f"/--no-{flag[2:]}"
    shown = {key: value for key, value in about.items() if key != "name"}
    option = typer.Option(flag, help=field.description, **shown)
    annotation = Annotated[typed, option]  # type: ignore[valid-type]  # a type at run time
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _flag(name: str, about: Mapping[str, Any]) -> str:
    return str(about.get("name") or f"--{name.replace('_', '-')}")


def _typed(annotation: Any) -> Any:
    """Find the type of a value on the command line."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return _typed(next(part for part in inner if part is not NoneType))
    return _typed(inner[0]) if origin is Annotated else str if origin is tuple else annotation


def _settings(
    model: type[Options], options: Mapping[str, Any], given: Mapping[str, Any]
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
        problem = first.get("ctx", {}).get("error", first["msg"])
        name = str(first["loc"][0])
        raise typer.BadParameter(str(problem), param_hint=_flag(name, options[name])) from error

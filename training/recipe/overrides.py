"""Values of a recipe given on the command line: `--set section.key=value`."""

import json
from collections.abc import Sequence
from typing import Any

import typer


def parse_overrides(given: Sequence[str] | None, **settings: Any) -> dict[str, Any]:
    """Read "section.key=value" strings; values are JSON, or plain text.

    settings (Any): more values by key, None where nothing is said.
    RAISES (typer.BadParameter): for one without a section, a key or a value.
    """
    settings = {key: value for key, value in settings.items() if value is not None}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals or "." not in key:
            raise typer.BadParameter(f"{text!r} is not section.key=value", param_hint="--set")
        try:
            settings[key.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[key.strip()] = value.strip()
    return settings

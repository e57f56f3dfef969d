"""Values of a recipe given on the command line: `--set section.key=value`."""

import json
from collections.abc import Sequence
from typing import Any

import typer


def parse_overrides(given: Sequence[str]) -> dict[str, Any]:
    """Read "section.key=value" strings; values are JSON, or plain text.

    RAISES (typer.BadParameter): for one without a section, a key or a value.
    """
    settings: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or "." not in key:
            raise typer.BadParameter(f"{text!r} is not section.key=value", param_hint="--set")
        try:
            settings[key.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[key.strip()] = value.strip()
    return settings

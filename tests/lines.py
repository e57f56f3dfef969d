"""Files of JSON Lines, such as gold mentions."""

import json
from pathlib import Path
from typing import Any


def said(text: str, mention: str, *ids: str, **facts: Any) -> dict[str, Any]:
    """Make a gold mention, at its first place in a text."""
    start = text.index(mention)
    end = start + len(mention)
    return {"start": start, "end": end, "mention": mention, "ids": [*ids], **facts}


def note(text: str, *mentions: tuple[str, ...] | dict[str, Any], **facts: Any) -> dict[str, Any]:
    """Make a gold document of mentions, each a dict or a text with its ids."""
    made = [one if isinstance(one, dict) else said(text, *one) for one in mentions]
    return {"text": text, "mentions": made, **facts}


def write_lines(path: Path, *lines: Any) -> Path:
    """Write values as JSON, one a line. RETURNS the path."""
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path

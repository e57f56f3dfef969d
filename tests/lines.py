"""Files of JSON Lines, such as gold mentions."""

import json
from pathlib import Path
from typing import Any


def write_lines(path: Path, *lines: Any) -> Path:
    """Write values as JSON, one a line. RETURNS the path."""
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path

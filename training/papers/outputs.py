"""The outputs of a table: a JSON file, and a Markdown page beside it."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spacy_medlink.util.files import replacing_file
from spacy_medlink.util.outputs import PathLike, check_output, companion, marked

_FORMAT = "spacy-medlink table"
_TABLE = marked("a table of a paper", f'"format": "{_FORMAT}"')


class Outputs:
    """Two files that are written together.

    output (Path): the JSON file. inputs (Iterable[Path]): what must not be replaced.
    overwrite (bool): replace files of something else.
    RAISES (MedlinkError): E120-E124 for what is there.
    """

    def __init__(self, output: Path, inputs: Iterable[PathLike | None], overwrite: bool) -> None:
        page = output.with_suffix(".md")
        self._kinds = {output: _TABLE, page: companion("a table of a paper", _TABLE, output)}
        self._inputs, self._overwrite = list(inputs), overwrite
        for path, kind in self._kinds.items():
            check_output(path, kind, self._inputs, overwrite=overwrite)

    def write(self, facts: dict[str, Any], text: str) -> None:
        """Write facts as JSON, and the page."""
        pages = json.dumps({"format": _FORMAT, **facts}, indent=2, ensure_ascii=False), text
        for (path, kind), content in zip(self._kinds.items(), pages, strict=True):
            with replacing_file(path, kind, self._inputs, overwrite=self._overwrite) as place:
                place.write_text(content + "\n", encoding="utf-8")

"""The result of a verb that measures: a JSON file, and its table beside it as Markdown."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typer

from spacy_medlink.util.files import save_text
from spacy_medlink.util.outputs import PathLike, check_output, companion, marked


class Outputs:
    """Two files that are written together.

    output (Path): the JSON file. what (str): its content, such as "a comparison"; the file says so.
    inputs (Iterable[Path]): what must not be replaced. overwrite (bool): replace files of something
        else.
    RAISES (MedlinkError): E120-E124 for what is there.
    """

    def __init__(
        self, output: Path, what: str, inputs: Iterable[PathLike | None], overwrite: bool
    ) -> None:
        self._format = f"spacy-medlink {what.partition(' ')[2]}"
        kind, page = marked(what, f'"format": "{self._format}"'), output.with_suffix(".md")
        self._kinds = {output: kind, page: companion(f"the table of {what}", kind, output)}
        self._inputs, self._overwrite = list(inputs), overwrite
        for path, one in self._kinds.items():
            check_output(path, one, self._inputs, overwrite=overwrite)

    def write(self, facts: Mapping[str, Any], table: str) -> None:
        """Write facts as JSON and their table, and print the table."""
        whole = json.dumps({"format": self._format, **facts}, indent=2, ensure_ascii=False)
        for (path, kind), text in zip(self._kinds.items(), (whole, table), strict=True):
            save_text(path, kind, text + "\n", self._inputs, overwrite=self._overwrite)
        typer.echo(table)

"""Unpublished checksums: the first download is trusted, and later ones must equal it."""

import json
import time
from pathlib import Path
from typing import Any

from spacy_medlink.errors import Errors
from spacy_medlink.util.files import save_text
from spacy_medlink.util.outputs import marked

RECORD = "checksums.json"
_FORMAT = "spacy-medlink checksums"
_KIND = marked("checksums of downloads", f'"format": "{_FORMAT}"')


class Trust:
    """The checksums of first downloads, in a file beside the downloads.

    path (Path): the JSON file; may be missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def check(self, key: str, path: Path, sha256: str) -> str:
        """Compare a file with its first download, or record it as the first.

        key (str): name in the record: source and file name.
        path (Path): of the file, for the message. sha256 (str): of the file.
        RETURNS (str): a line for the user about the checksum.
        RAISES (MedlinkError): E261 when the file differs, E262 when the record is damaged.
        """
        files = self._read()
        if key in files:
            first = files[key]
            if first["sha256"] != sha256:
                raise Errors.first_checksum(
                    path=path, found=sha256, expected=first["sha256"], date=first["date"],
                    key=key, record=self._path,
                )  # fmt: skip
            return f"as it first came, on {first['date']}"
        files[key] = {"sha256": sha256, "date": time.strftime("%Y-%m-%d")}
        self._write(files)
        return f"none is known to compare it with: recorded in {self._path} for the next time"

    def _read(self) -> dict[str, Any]:
        if not self._path.exists():
            return {}
        try:
            facts = json.loads(self._path.read_text(encoding="utf-8"))
            if facts["format"] != _FORMAT:
                raise ValueError(f"its format is {facts['format']!r}")
            return {
                key: {"sha256": own["sha256"], "date": own["date"]}
                for key, own in facts["files"].items()
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise Errors.bad_record(path=self._path, problem=repr(error)) from error

    def _write(self, files: dict[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        facts = {"format": _FORMAT, "files": dict(sorted(files.items()))}
        save_text(self._path, _KIND, json.dumps(facts, indent=1) + "\n")

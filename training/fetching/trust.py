"""Unpublished checksums: the first download is trusted, and later ones must equal it."""

import json
from pathlib import Path

from spacy_medlink.errors import Errors
from spacy_medlink.util.files import save_text
from spacy_medlink.util.outputs import marked, read_json

_FORMAT = "spacy-medlink checksums"
_KIND = marked("checksums of downloads", f'"format": "{_FORMAT}"')


def compare_with_first(record: Path, key: str, path: Path, sha256: str) -> str:
    """Compare a file with its first download, or record it as the first.

    record (Path): JSON file beside the downloads; may be missing. key (str): source and file name.
    path (Path): of the file, for the message. sha256 (str): of the file.
    RETURNS (str): what is known of the checksum.
    RAISES (MedlinkError): E261 when the file differs, E160 when the record is damaged.
    """
    content = read_json(record) if record.exists() else {"format": _FORMAT, "sha256": {}}
    checksums = content.get("sha256") if isinstance(content, dict) else None
    if not isinstance(checksums, dict) or content.get("format") != _FORMAT:
        expected = (
            "what a download wrote, or delete it: the next ones are then trusted as they come"
        )
        raise Errors.wrong_file(
            path=record, what="a record of checksums", problem="it is damaged", expected=expected
        )
    if key not in checksums:
        content["sha256"] = dict(sorted({**checksums, key: sha256}.items()))
        record.parent.mkdir(parents=True, exist_ok=True)
        save_text(record, _KIND, json.dumps(content, indent=1) + "\n")
        return f"none is known to compare it with: recorded in {record} for the next time"
    if checksums[key] != sha256:
        raise Errors.first_checksum(
            path=path, found=sha256, expected=checksums[key], key=key, record=record
        )
    return "as it first came"

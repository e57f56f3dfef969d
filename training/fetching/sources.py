"""The sources of corpora: sources.yml as records."""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import srsly

from spacy_medlink.errors import Errors

_FILE = Path(__file__).with_suffix(".yml")


class Remote(NamedTuple):
    """A file of a source; `sources.yml` says what the fields are."""

    urls: tuple[str, ...]
    place: str = ""
    sha256: str = ""


class Source(NamedTuple):
    """A corpus or terminology to download; `sources.yml` says what the fields are."""

    name: str
    licence: str
    homepage: str
    files: tuple[Remote, ...] = ()
    how: str = ""
    key: str = ""


# Converters whose corpora share a download.
ALIASES = {
    "cadec-meddra": "cadec",
    "codiesp-d": "codiesp",
    "codiesp-x": "codiesp",
    "cometa-specific": "cometa",
    "medmentions-st21pv": "medmentions",
    "psytar-snomed": "psytar",
}


@cache
def sources() -> dict[str, Source]:
    """Read all sources, by name."""
    entries = srsly.yaml_loads(_FILE.read_text(encoding="utf-8"))
    return {name: _source(name, entry) for name, entry in entries.items()}


def _source(name: str, entry: dict[str, Any]) -> Source:
    files = [{"urls": [file]} if isinstance(file, str) else file for file in entry.pop("files", ())]
    remotes = (Remote(**{**file, "urls": tuple(file["urls"])}) for file in files)
    return Source(name, files=tuple(remotes), **entry)


def find_source(name: str) -> Source:
    """Find the source of a corpus.

    RAISES (MedlinkError): E108 when there is none of the name.
    """
    name = ALIASES.get(name, name)
    if name not in sources():
        raise Errors.unknown_choice(
            what="corpus", value=name, known=", ".join(sorted({*sources(), *ALIASES}))
        )
    return sources()[name]

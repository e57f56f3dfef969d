"""BioC in JSON: a collection of documents, each one passage, with annotations.

Comeau et al. 2013, doi:10.1093/database/bat064; the JSON form is that of NCBI's BioC API.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from ..annotate.formats import Format, Record
from ..types import Data
from .shared import SYSTEM, as_json, framed, kinds_of, links_of, said_in, section_of


def write(records: Iterable[Record]) -> Iterator[str]:
    """Write a collection; infons, which are texts, hold ids ("identifier") and the context."""
    head = {"source": SYSTEM, "date": date.today().isoformat(), "key": "", "version": "1.0",
             "infons": {"offsets": "Unicode code points"}}  # fmt: skip
    yield from framed(as_json(head)[:-1] + ',"documents":[', map(_document, records), "]}")


def _document(record: Record) -> Data:
    annotations = [
        _annotation(str(nth), record, mention) for nth, mention in enumerate(record["mentions"], 1)
    ]
    passage = {"offset": 0, "infons": {}, "text": record["text"], "sentences": [],
               "annotations": annotations, "relations": []}  # fmt: skip
    return {"id": record["doc_id"], "infons": {}, "passages": [passage], "annotations": [],
            "relations": []}  # fmt: skip


def _annotation(id: str, record: Record, mention: Record) -> Data:
    links = links_of(mention)
    values = {
        "type": mention["type"], "identifier": ",".join(link.curie for link in links),
        "name": " | ".join(link.name for link in links), "score": mention["score"],
        "probability": mention["prob"], "reason": mention["reason"],
        "section": section_of(mention), **dict.fromkeys(kinds_of(mention), "true"),
    }  # fmt: skip
    infons = {key: str(value) for key, value in values.items() if value not in ("", None)}
    location = {"offset": mention["start"], "length": mention["end"] - mention["start"]}
    return {"id": id, "infons": infons, "text": said_in(record, mention), "locations": [location]}


FORMAT = Format(write)

"""Elements of XML files, one at a time; entities are refused."""

from collections.abc import Collection, Iterator
from pathlib import Path

from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.kb.readers.xml_records import XmlRecord, xml_records


def read_elements(path: Path, tags: Collection[str]) -> Iterator[XmlRecord]:
    """Stream the elements that have one of the tags, written with their prefix.

    RAISES (MedlinkError): E165 where the document is not well-formed, declares or needs entities,
        or cannot be opened.
    """
    try:
        yield from xml_records(path, tags)
    except MedlinkError as error:
        if error.code != "E105":
            raise
        # The remedy of E105 would be a flag of `medlink kb build`.
        problem = error.message.split(". Expected ")[0].removeprefix(f"{path}, ")
        raise Errors.source_unreadable(path=path, reason=problem) from error

"""Mantra GSC (Kors et al. 2015): 5 languages, Medline titles, drug labels and patents, UMLS.

XML: `Medline_GSC_fr_man.xml` with `<unit id><text/><e offset len cui grp>`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Mention
from spacy_medlink.exchange.ids import cuis_in, either
from spacy_medlink.exchange.lines import to_span
from spacy_medlink.exchange.uima import read_elements
from spacy_medlink.kb.readers.xml_records import XmlRecord

from .layout import files_of
from .tally import Tally

_EXPECTED = "the XML files, such as Medline_GSC_fr_man.xml"
_KIND = re.compile("medline|emea|patent", re.I)


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the units; the kind of text is the split."""
    for path in files_of(source, r".*\.xml", "mantra", _EXPECTED):
        yield from _units(path, tally)


def _units(path: Path, tally: Tally) -> Iterator[Document]:
    named = re.search(r"_(en|es|fr|de|nl)(?=[_.])", path.name)
    for record in read_elements(path, {"unit"}):
        lang = named[1] if named else record.root.get("lang", "")[:2].lower() or "en"
        unit = record.element.get("id", "")
        text = record.element.findtext("text")
        if text is None:
            tally.fault("units without a text", path, record.line)
            continue
        mentions = tuple(_entities(record, path, tally))
        yield Document(f"{lang}-{unit}", text, mentions, path, lang, _kind(path.name), record.line)


def _entities(record: XmlRecord, path: Path, tally: Tally) -> Iterator[Mention]:
    for entity in record.element.iter("e"):
        span = to_span(entity.get("offset", ""), entity.get("len", ""))
        mention_text = "".join(entity.itertext()).strip()
        link = either(*cuis_in(entity.get("cui", "")))
        if span is None:
            tally.fault("mentions without offsets", path, record.line)
        spans = ((span[0], span[0] + span[1]),) if span else ()
        yield Mention(mention_text, spans, link, entity.get("grp", ""), line=record.line)


def _kind(name: str) -> str:
    """Read the kind of text out of a name: "medline", "emea", "patent", or ""."""
    named = _KIND.match(name)
    return named[0].lower() if named else ""

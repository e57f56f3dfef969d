"""Mantra GSC (Kors et al. 2015): 5 languages, Medline titles, drug labels and patents, UMLS.

XML: `Medline_GSC_fr_man.xml` with `<unit id><text/><e offset len cui grp>`. brat: a directory a
language, and in it one a kind of text, such as `Medline_EN_FR_ec22-cui-best_man`. The type of an
annotation is its semantic group, and its note the list `['C0011849', 'name', 'type', 'DISO']`; or
the type is the CUI, and the note has the other three. The English Medline texts are repeated for
each language that they were paired with.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from spacy_medlink.errors import Errors
from spacy_medlink.kb.readers.xml_records import XmlRecord

from .formats.brat import read_brat
from .formats.pubtator import to_span
from .formats.text import read_text
from .formats.xml import read_elements
from .ids import cuis_in, either
from .layout import beside, walk
from .records import Document, Ids, Mention
from .tally import Tally

_EXPECTED = "the XML files, or the directory of the brat files"
_LANGUAGES = {"english": "en", "spanish": "es", "french": "fr", "german": "de", "dutch": "nl"}
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_GROUP = re.compile(r"[A-Z]{4}")
_KIND = re.compile("medline|emea|patent", re.I)


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the units (XML) or files (brat); the kind of text is the split."""
    files = [source] if source.is_file() else list(walk(source))
    xml = [path for path in files if path.suffix == ".xml"]
    brat = [path for path in files if path.suffix == ".ann"]
    if not xml and not brat:
        problem = "it has neither .xml nor .ann files"
        raise Errors.wrong_file(
            path=beside(source), what="the corpus mantra", problem=problem, expected=_EXPECTED
        )
    for path in xml:
        yield from _units(path, tally)
    for path in brat if not xml else ():
        yield from _file(path, tally)


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
        said = "".join(entity.itertext()).strip()
        link = either(*cuis_in(entity.get("cui", "")))
        if span is None:
            tally.fault("mentions without offsets", path, record.line)
        spans = ((span[0], span[0] + span[1]),) if span else ()
        yield Mention(said, spans, link, entity.get("grp", ""), line=record.line)


def _file(path: Path, tally: Tally) -> Iterator[Document]:
    textual = path.with_suffix(".txt")
    if not textual.is_file():
        tally.fault("annotation files without a text", path)
        return
    text = read_text(textual, tally)
    if text is None:
        return
    folders = [part.lower() for part in path.parts]
    lang = next((_LANGUAGES[part] for part in reversed(folders) if part in _LANGUAGES), "en")
    standoff = read_brat(path, tally)
    mentions = []
    for id, bound in standoff.bounds.items():
        link, group = _note(bound.type, standoff.notes.get(id, []))
        mentions.append(Mention(bound.said, bound.spans, link, group, line=bound.line))
    found = _KIND.match(path.parent.name)  # each counts its files from 1
    doc_id = "-".join([lang, *([found[0]] if found else []), path.stem])
    yield Document(doc_id, text, tuple(mentions), path, lang, _kind(path.parent.name))


def _kind(name: str) -> str:
    """Read the kind of text out of a name: "medline", "emea", "patent", or ""."""
    found = _KIND.match(name)
    return found[0].lower() if found else ""


def _note(type: str, notes: list[str]) -> tuple[Ids, str]:
    """Read the CUI and the semantic group out of an annotation's type and note."""
    cells = [first or second for note in notes for first, second in _QUOTED.findall(note)]
    found = cuis_in(type) or [id for cell in cells[:1] for id in cuis_in(cell)]
    groups = [cell for cell in cells if _GROUP.fullmatch(cell)]
    group = groups[-1] if groups else "" if cuis_in(type) else type
    return either(*found[:1]), group

"""Orphadata: the disorders of Orphanet (product 1) and their phenotypes (product 4), in XML.

https://www.orphadata.com. Product 4 gives relations to the HPO, and is read beside product 1.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from ..errors import Errors
from ..kb.readers.fields import FieldError
from ..kb.readers.lines import report
from ..kb.readers.xml_records import xml_records
from ..kb.vocabularies import by_vocabulary, canonical, iso_639_1
from ..types import BadLines, CodeMap, Concept, Name, Record, Relation, Retired

_SOURCE, _PHENOTYPE = "ORPHA", "has_phenotype"
# How a disorder is mapped: exactly, narrower to broader term, broader to narrower term.
_RELATIONS = {"E": "exact", "NTBT": "broader", "BTNT": "narrower"}
_REMARK = re.compile(r"^(OBSOLETE|NON RARE IN EUROPE)\s*:\s*", re.I)
_EXCLUDED = "excluded"


def read(path: Path, bad_lines: BadLines = None, *, lang: str = "en") -> Iterator[Record]:
    """Stream the disorders of a product, with names, types, codes and their relation, definition.

    path (Path): the XML of product 1 or 4, plain or `.gz`. lang (str): of names without one.
    RAISES (MedlinkError): E105 for a disorder without code or name, unless `bad_lines` collects it;
        always E105 for XML that is not well-formed; E160 without any disorder.
    """
    is_empty = True
    for record in xml_records(path, ("Disorder",)):
        is_empty = False
        try:
            yield _record(record.element, lang)
        except FieldError as error:
            report(path, record.line, error.problem, error.expected, bad_lines)
    if is_empty:
        raise Errors.wrong_file(
            path=path, what="Orphadata", problem="it has no Disorder",
            expected="the XML of product 1 (or 4), such as en_product1.xml",
        )  # fmt: skip


def release_of(path: Path) -> str:
    """Read the date of the release, "" without one."""
    for record in xml_records(path, ("Disorder",)):
        return record.root.get("date", "")[:10]
    return ""


def _record(element: Element, lang: str) -> Record:
    code, name = _text(element, "OrphaCode"), _text(element, "Name")
    if not (code.isdecimal() and name):
        raise FieldError(
            f"a disorder with the code {code[:20]!a} and the name {name[:40]!a}", "both"
        )
    remark = _REMARK.match(name)
    if remark and remark[1].upper() == "OBSOLETE":
        successor = _text(element, ".//TargetDisorder/OrphaCode")
        return Retired(_id(code), _id(successor) if successor else "", "obsolete")
    terms = (element.find("Name"), *element.iterfind("SynonymList/Synonym"))
    names = [
        Name(text, iso_639_1(term.get("lang", "")) or lang, _SOURCE, "SY" if nth else "PT")
        for nth, term in enumerate(terms)
        if term is not None and (text := _REMARK.sub("", " ".join((term.text or "").split())))
    ]
    maps = tuple(_maps(element))
    kind = _text(element, "DisorderType/Name")
    sections = {
        _text(section, "TextSectionType/Name"): _text(section, "Contents")
        for section in element.iter("TextSection")
    }
    return Concept(
        _id(code), names[0].text, tuple(names), (kind,) if kind else (),
        sections.get("Definition", ""),
        {_SOURCE: (code,), **by_vocabulary((each.vocabulary, each.code) for each in maps)},
        relations=tuple(_phenotypes(element)), maps=maps,
    )  # fmt: skip


def _id(code: str) -> str:
    return f"{_SOURCE}:{code}"


def _maps(element: Element) -> Iterator[CodeMap]:
    for reference in element.iterfind("ExternalReferenceList/ExternalReference"):
        vocabulary, code = _text(reference, "Source"), _text(reference, "Reference")
        word = _text(reference, "DisorderMappingRelation/Name").partition(" ")[0]
        if vocabulary and code:
            yield CodeMap(canonical(vocabulary), code, _RELATIONS.get(word, "related"), _SOURCE)


def _phenotypes(element: Element) -> Iterator[Relation]:
    for each in element.iter("HPODisorderAssociation"):
        id, frequency = _text(each, "HPO/HPOId"), _text(each, "HPOFrequency/Name")
        if id and not frequency.lower().startswith(_EXCLUDED):
            yield Relation(_PHENOTYPE, id, _SOURCE)


def _text(element: Element, path: str) -> str:
    return " ".join((element.findtext(path) or "").split())

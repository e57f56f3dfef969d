"""MeSH: descriptors (descYYYY.xml) and supplementary concept records (suppYYYY.xml)."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

from ..errors import Errors
from ..kb.readers.fields import FieldError
from ..kb.readers.lines import report
from ..kb.readers.xml_records import XmlRecord, xml_records
from ..kb.vocabularies import by_vocabulary, iso_639_1
from ..types import ISA, BadLines, Concept, Name, Record, Relation

_SOURCE, _EXPECTED = "MESH", "an id and a name"
_DESCRIPTOR, _SUPPLEMENT = "DescriptorRecord", "SupplementalRecord"
# Elements that take up half of the files and have no names.
_WITHOUT = frozenset({
    "ActiveMeSHYearList", "AllowableQualifiersList", "ConceptRelationList", "DateCreated",
    "DateEstablished", "DateRevised", "EntryCombinationList", "IndexingInformationList",
    "PharmacologicalActionList", "PreviousIndexingList", "RelatedRegistryNumberList",
    "SeeRelatedList", "SourceList", "ThesaurusIDlist",
})  # fmt: skip
# Supplementary records are in no tree; these are the trees of their classes.
_CLASSES = {"1": "D", "2": "E", "3": "C", "4": "B", "5": "M", "6": "A"}
_REGISTRIES = (
    ("CAS", re.compile(r"(\d{2,7}-\d\d-\d)")),
    ("EC", re.compile(r"EC (\d+(?:\.(?:\w+|-)){1,3})")),
    ("UNII", re.compile(r"([0-9A-Z]{10})")),
)


def read(path: Path, bad_lines: BadLines = None) -> Iterator[Record]:
    """Stream the concepts of a MeSH XML file, or of a directory with both files.

    Parents are the descriptors one level up in the trees, or the descriptors that a supplementary
    record is mapped to. Types are the letters of the trees ("C" for diseases). Term types are as in
    the UMLS: MH and NM for the preferred names of descriptors and supplementary records, PEP for
    preferred terms of other concepts, ET for other terms, PM for permuted ones.

    path (Path): descYYYY.xml or suppYYYY.xml, plain or `.gz`, or a directory, whose latest year is
        read.
    RAISES (MedlinkError): E105 for a record without id or name, unless `bad_lines` collects it, and
        for a document that is not well-formed; E160 without files; E105 for entities.
    """
    for file in _files(path):
        trees: dict[str, str] | None = None
        for record in xml_records(file, (_DESCRIPTOR, _SUPPLEMENT), _WITHOUT):
            if trees is None:
                trees = _trees(file) if record.element.tag == _DESCRIPTOR else {}
            try:
                yield _concept(record, trees)
            except FieldError as error:
                report(file, record.line, error.problem, error.expected, bad_lines)


def release_of(path: Path) -> str:
    """Read the year from the names of the files, "" when they have none."""
    years = (re.search(r"\d{4}", file.name) for file in _files(path))
    return max((year.group() for year in years if year is not None), default="")


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    kinds = (sorted([*path.glob(f"{prefix}*.xml"), *path.glob(f"{prefix}*.xml.gz")])
             for prefix in ("desc", "supp"))  # fmt: skip
    latest = [files[-1] for files in kinds if files]
    if not latest:
        expected = "the directory with descYYYY.xml and suppYYYY.xml, or one of the two"
        problem = "it has no such XML file"
        raise Errors.wrong_file(path=path, what="MeSH", problem=problem, expected=expected)
    return latest


def _trees(file: Path) -> dict[str, str]:
    """Map the tree numbers of a file to descriptors, in a first pass."""
    without = _WITHOUT | {"ConceptList", "DescriptorName"}
    return {
        tree: _text(record.element, "DescriptorUI")
        for record in xml_records(file, (_DESCRIPTOR,), without)
        for tree in _tree_numbers(record.element)
    }


def _concept(record: XmlRecord, trees: Mapping[str, str]) -> Concept:
    element = record.element
    record_type = "Descriptor" if element.tag == _DESCRIPTOR else "SupplementalRecord"
    id = _text(element, f"{record_type}UI")
    if not id or not id.isprintable() or " " in id:
        raise FieldError(f"{record_type}UI is {id[:40]!r}", _EXPECTED)
    lang = iso_639_1(record.root.get("LanguageCode", "eng"))
    name = _text(element, f"{record_type}Name/String")
    main = "MH" if record_type == "Descriptor" else "NM"
    names = list(_names(element, name, main, lang))
    if not names:
        raise FieldError(f"{record_type} {id} has no name", _EXPECTED)
    numbers = _tree_numbers(element)
    letters = [tree[:1] for tree in numbers] or [_CLASSES.get(element.get("SCRClass", ""), "")]
    above = [trees.get(tree.rpartition(".")[0], "") for tree in numbers]
    above += [
        (ui.text or "").strip().lstrip("*")
        for ui in element.iterfind("HeadingMappedToList/HeadingMappedTo/*/DescriptorUI")
    ]
    parents = tuple(dict.fromkeys(parent for parent in above if parent and parent != id))
    notes = (_text(concept, "ScopeNote") for concept in _preferred(element))
    return Concept(
        id=id,
        name=name or names[0].text,
        names=tuple(names),
        types=tuple(dict.fromkeys(filter(None, letters))),
        definition=next(filter(None, notes), "") or _text(element, "Note"),
        codes=_codes(element),
        parents=parents,
        relations=tuple(Relation(ISA, parent, _SOURCE) for parent in parents),
    )


def _names(element: Element, name: str, main: str, lang: str) -> Iterator[Name]:
    if name:
        yield Name(name, lang, _SOURCE, main)
    for concept in element.iterfind("ConceptList/Concept"):
        for term in concept.iterfind("TermList/Term"):
            text = _text(term, "String")
            if text and text != name:
                tty = "PEP" if term.get("ConceptPreferredTermYN") == "Y" else "ET"
                tty = "PM" if term.get("IsPermutedTermYN") == "Y" else tty
                yield Name(text, lang, _SOURCE, tty)


def _codes(element: Element) -> dict[str, tuple[str, ...]]:
    # Releases before 2022 have a single number, without a list around it.
    numbers = (
        element
        for concept in _preferred(element)
        for path in ("RegistryNumber", "*/RegistryNumber")
        for element in concept.iterfind(path)
    )
    return by_vocabulary(
        (registry, match[1])
        for element in numbers
        for registry, shape in _REGISTRIES
        if (match := shape.fullmatch((element.text or "").strip()))
    )


def _preferred(element: Element) -> Iterator[Element]:
    return element.iterfind("ConceptList/Concept[@PreferredConceptYN='Y']")


def _tree_numbers(element: Element) -> list[str]:
    elements = element.iterfind("TreeNumberList/TreeNumber")
    return [tree for each in elements if (tree := (each.text or "").strip())]


def _text(element: Element, path: str) -> str:
    return " ".join((element.findtext(path) or "").split())

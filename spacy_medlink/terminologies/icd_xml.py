"""The ICD and its relatives in XML: ClaML (ICD-10, ICF, ICD-O), and ICD-10-CM's tabular list.

ClaML is ISO 13120, "Classification Markup Language". A modifier has endings that many classes share
("with coma", the fourth character of E10 to E14): a class without classes below it gets one for
each ending of its modifiers, as the tabular list gives its codes a seventh character.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from ..errors import Errors
from ..kb.icd_codes import TABLED, Edition, called, edition_of
from ..kb.readers.fields import FieldError, identifier
from ..kb.readers.lines import report
from ..kb.readers.xml_records import xml_records
from ..kb.vocabularies import canonical, iso_639_1
from ..types import ISA, BadLines, Concept, Name, Relation

_ROOT = re.compile(r"(?><\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[[^\]]*\])?\s*>|\s+)*"
                   r"<(?:[\w.\-]+:)?([\w.\-]+)", re.DOTALL)  # fmt: skip
_CLAML, _TABULAR = "ClaML", "ICD10CM.tabular"
_TTYS = {
    "preferred": "PT", "preferredLong": "PT", "inclusion": "SY", "synonym": "SY",
    "shortTitle": "AB", "short": "AB", "abbreviation": "AB",
}  # fmt: skip
# Elements of a label that stand beside each other, and those that hold a code and no words.
_BLOCKS = frozenset({"Fragment", "Para", "ListItem", "Cell", "Row", "List"})
_EMPTY_BRACKETS = re.compile(r"\s*[(\[][\s,;†*+!–-]*[)\]]")
_HEADING = re.compile(
    r"^(?:Incl(?:usion|usive|\.)?s?|Inkl\.?|Einschl\w*|Comprend|Incluye)\s*:\s*", re.I
)
_MOST = 4  # modifiers of a class, one upon the other
_LEVEL = 6  # characters of a code of ICD-10-CM before the seventh, without the dot
_RANGE = re.compile(r"(.*\S)\s*\(([A-Z]\w{2}(?:-[A-Z]\w{2})?)\)")


# "7th characters D and S do not apply to codes in category S06 with 6th character 7 ..., or 8".
_NOT_TOGETHER = re.compile(
    r"7th characters (\w) and (\w) do not apply .*6th character (\w)\b.*\bor (\w)\b"
)


class _Sevenths(NamedTuple):
    """Seventh characters with their texts. not_together: sixth and seventh of no code."""

    endings: list[tuple[str, str]]
    not_together: frozenset[str]


def root_of(lines: list[str]) -> str:
    """Return the name of the root element of a document, of its first lines; "" for none."""
    root = _ROOT.match("\n".join(lines).removeprefix("\ufeff"))
    return root[1] if root else ""


def read_xml(
    path: Path, root: str, bad_lines: BadLines, lang: str, source: str
) -> Iterator[Concept]:
    """Stream the classes of a classification.

    root (str): what `root_of` says. lang (str): of labels without a language. source (str):
        vocabulary; "" takes it from the title, or else from the codes.
    RAISES (MedlinkError): E160 for another XML; E105 for XML that is not well-formed, and for a
        class without code or label, unless `bad_lines` collects it; E132 as `edition_of`.
    """
    if root == _CLAML:
        yield from _Classification(path, bad_lines, lang).concepts(source)
    elif root == _TABULAR:
        edition = edition_of(path, (), (), source or "ICD10CM")
        yield from _tabular(path, bad_lines, lang or "en", edition)
    else:
        raise Errors.wrong_file(
            path=path, what="a classification", problem=f"it is XML with the root {root!r:.60}",
            expected="ClaML, the tabular list of ICD-10-CM, or the codes as text",
        )  # fmt: skip


class _Ending(NamedTuple):
    """A class of a modifier. after: (modifier, code) of endings that it does not follow."""

    modifier: str
    code: str
    label: str
    lang: str
    after: frozenset[tuple[str, str]]


@dataclass
class _Class:
    """A class of ClaML. modified: modifiers with their valid endings, () for all."""

    code: str
    line: int
    kind: str = ""
    above: list[str] = field(default_factory=list)
    is_leaf: bool = True
    names: list[Name] = field(default_factory=list)
    definition: str = ""
    modified: dict[str, tuple[str, ...]] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()


class _Classification:
    """A file of ClaML, read whole: endings may come before or behind their classes."""

    def __init__(self, path: Path, bad_lines: BadLines, lang: str) -> None:
        self._path, self._bad_lines, self._lang = path, bad_lines, lang
        self._title, self._stated_lang = "", ""
        self._classes: dict[str, _Class] = {}
        self._endings: dict[str, list[_Ending]] = defaultdict(list)
        for record in xml_records(path, ("Title", "Meta", "Class", "ModifierClass")):
            try:
                self._add(record.element, record.line)
            except FieldError as error:
                report(path, record.line, error.problem, error.expected, bad_lines)

    def concepts(self, source: str) -> Iterator[Concept]:
        """Stream the classes, each with those that its modifiers make of it."""
        if not self._classes:
            return
        edition = None if source else called(self._title)
        if edition is None:
            vocabulary = source or canonical(self._title)
            edition = edition_of(self._path, self._classes, TABLED, vocabulary)
        for each in self._classes.values():
            if not each.names:
                problem, expected = f"the class {each.code!a:.60} without a label", "a label"
                report(self._path, each.line, problem, expected, self._bad_lines)
                continue
            yield self._concept(each, edition)
            if each.is_leaf:
                yield from self._modified(each, self._modifiers(each), [], edition)

    def _add(self, element: Element, line: int) -> None:
        if element.tag == "Title":
            text = _words(element)
            self._title = element.get("name") or (text if called(text) else "")
        elif element.tag == "Meta":
            if element.get("name") == "lang":
                self._stated_lang = iso_639_1(element.get("value", ""))
        elif element.tag == "ModifierClass":
            modifier, code = element.get("modifier", ""), element.get("code", "")
            labels = self._labels(element, "preferred")
            after = (each.get("value", "").rpartition(" ")[::2] for each in element.iter("Meta")
                     if each.get("name") == "excludeOnPrecedingModifier")  # fmt: skip
            if code and labels:
                ending = _Ending(modifier, code, *labels[0], frozenset(after))
                self._endings[modifier].append(ending)
        else:
            code = identifier(element.get("code", ""), "code")
            if code in self._classes:
                raise FieldError(f"the class {code!a:.60} again", "each class once")
            self._classes[code] = self._class(element, code, line)

    def _class(self, element: Element, code: str, line: int) -> _Class:
        names = [
            Name(text, lang, "", tty)
            for rubric, tty in _TTYS.items()
            for text, lang in self._labels(element, rubric)
        ]
        definitions = self._labels(element, "definition")
        modified = {
            each.get("code", ""): tuple(
                valid.get("code", "") for valid in each.iter("ValidModifierClass")
            )
            for each in element.iter("ModifiedBy")
        }
        return _Class(
            code, line, element.get("kind", ""),
            [above for each in element.iter("SuperClass") if (above := each.get("code", ""))],
            element.find("SubClass") is None,
            names, definitions[0][0] if definitions else "", modified,
            frozenset(each.get("code", "") for each in element.iter("ExcludeModifier")),
        )  # fmt: skip

    def _labels(self, element: Element, kind: str) -> list[tuple[str, str]]:
        """List the labels of a kind, each with its language."""
        labels = []
        for rubric in element.iterfind("Rubric"):
            for label in rubric.iterfind("Label") if rubric.get("kind") == kind else ():
                language = next((v for k, v in label.items() if k.endswith("lang")), "")
                lang = iso_639_1(language) or self._lang or self._stated_lang or "en"
                if text := _words(label):
                    labels.append((text, lang))
        return labels

    def _modifiers(self, each: _Class) -> dict[str, tuple[str, ...]]:
        """List the modifiers of a class and of those above it; endings with a dot come first."""
        modifiers, waiting, seen = dict[str, tuple[str, ...]](), [each.code], set[str]()
        excluded = set[str]()
        while waiting:
            if (code := waiting.pop(0)) in seen or code not in self._classes:
                continue
            seen.add(code)
            above = self._classes[code]
            excluded |= above.excluded
            modifiers = {**above.modified, **modifiers}
            waiting += above.above
        kept = [modifier for modifier in modifiers if modifier not in excluded]
        kept.sort(key=lambda modifier: not self._has_dot(modifier))
        return {modifier: modifiers[modifier] for modifier in kept[:_MOST]}

    def _has_dot(self, modifier: str) -> bool:
        return any(ending.code.startswith(".") for ending in self._endings.get(modifier, ()))

    def _modified(
        self, each: _Class, modifiers: dict[str, tuple[str, ...]], taken: list[_Ending],
        edition: Edition,
    ) -> Iterator[Concept]:  # fmt: skip
        if not modifiers:
            return
        (modifier, valid), *others = modifiers.items()
        before = {(ending.modifier, ending.code) for ending in taken}
        for ending in self._endings.get(modifier, ()):
            code = each.code + ending.code
            is_valid = not valid or ending.code in valid
            if not is_valid or code in self._classes or not before.isdisjoint(ending.after):
                continue
            name, label = each.names[0], ending.label
            ends = [Name(f"{name.text}: {label}", ending.lang, "", "PT"),
                    Name(f"{name.text} {_lowered(label)}", ending.lang, "", "SY")]  # fmt: skip
            modified = _Class(code, each.line, each.kind, [each.code], names=ends)
            yield self._concept(modified, edition)
            yield from self._modified(modified, dict(others), [*taken, ending], edition)

    def _concept(self, each: _Class, edition: Edition) -> Concept:
        above = [edition.dotted(code) for code in each.above]
        types = (each.kind,) if each.kind else ()
        return _concept(edition, each.code, each.names, types, above, each.definition)


def _concept(
    edition: Edition, code: str, names: list[Name], types: tuple[str, ...], above: list[str],
    definition: str = "",
) -> Concept:  # fmt: skip
    vocabulary, id = edition.vocabulary, edition.dotted(code)
    distinct = dict.fromkeys(name._replace(source=vocabulary) for name in names)
    return Concept(
        id, names[0].text, tuple(distinct), types, definition, {vocabulary: (id,)}, tuple(above),
        tuple(Relation(ISA, parent, vocabulary) for parent in above),
    )  # fmt: skip


def _words(label: Element) -> str:
    """Return the words of a label, without the codes that it refers to."""
    pieces = list(_pieces(label))
    text = _EMPTY_BRACKETS.sub("", " ".join("".join(pieces).split()))
    return _HEADING.sub("", text).strip(" ;,")


def _pieces(element: Element) -> Iterator[str]:
    yield element.text or ""
    for part in element:
        if part.tag != "Reference":
            space = " " if part.tag in _BLOCKS else ""
            yield space
            yield from _pieces(part)
            yield space
        yield part.tail or ""


def _lowered(label: str) -> str:
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def _tabular(path: Path, bad_lines: BadLines, lang: str, edition: Edition) -> Iterator[Concept]:
    """Stream chapters, blocks and codes; the code of a chapter is its range ("A00-B99")."""
    for record in xml_records(path, ("chapter",)):
        chapter = _RANGE.fullmatch(_said(record.element, "desc"))
        above = [chapter[2]] if chapter else []
        if chapter:
            names = [Name(chapter[1], lang, "", "PT")]
            yield _concept(edition, chapter[2], names, ("chapter",), [])
        try:
            for section in record.element.iterfind("section"):
                yield from _section(section, above, lang, edition)
        except FieldError as error:
            report(path, record.line, error.problem, error.expected, bad_lines)


def _section(section: Element, above: list[str], lang: str, edition: Edition) -> Iterator[Concept]:
    block = _RANGE.fullmatch(_said(section, "desc"))
    if block and "-" in block[2]:  # others are a category by itself
        yield _concept(edition, block[2], [Name(block[1], lang, "", "PT")], ("block",), above)
        above = [block[2]]
    for diagnosis in section.iterfind("diag"):
        yield from _diagnosis(diagnosis, above, lang, edition, _Sevenths([], frozenset()))


def _diagnosis(
    element: Element, above: list[str], lang: str, edition: Edition, sevenths: _Sevenths
) -> Iterator[Concept]:
    code = identifier(_said(element, "name"), "code")
    label = _said(element, "desc")
    if not label:
        raise FieldError(f"the code {code!a:.60} without a description", "desc")
    sevenths = _sevenths(element, sevenths)
    below = element.findall("diag")
    names = [Name(label, lang, "", "PT")]
    for note in (*element.iterfind("inclusionTerm/note"), *element.iterfind("includes/note")):
        names += [Name(text, lang, "", "SY")] if (text := _plain(note)) else []
    level = "category" if below or sevenths.endings else "code"
    yield _concept(edition, code, names, (level,), above)
    above = [edition.dotted(code)]
    for each in below:
        yield from _diagnosis(each, above, lang, edition, sevenths)
    plain = code.replace(".", "").ljust(_LEVEL, "X")
    for seventh, text in () if below else sevenths.endings:
        if plain[-1] + seventh not in sevenths.not_together:
            ends = [Name(f"{label}, {text}", lang, "", "PT")]
            yield _concept(edition, plain + seventh, ends, ("code",), above)


def _sevenths(element: Element, inherited: _Sevenths) -> _Sevenths:
    """Read the seventh characters of a code and of those below it, else take those above."""
    endings, not_together = inherited
    if found := element.findall("sevenChrDef/extension"):
        endings = [(each.get("char", ""), _plain(each)) for each in found]
    for note in element.iterfind("*/note"):
        if exception := _NOT_TOGETHER.search(_plain(note)):
            *last, sixth, other = exception.groups()
            not_together |= {f"{six}{seven}" for six in (sixth, other) for seven in last}
    return _Sevenths(endings, not_together)


def _said(element: Element, tag: str) -> str:
    found = element.find(tag)
    return "" if found is None else _plain(found)


def _plain(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())

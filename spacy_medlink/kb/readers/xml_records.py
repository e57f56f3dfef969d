"""Streams the records of a large XML file, without ever holding the whole document.

Expat is used directly, because it can refuse entities. An entity declared in the document can
expand without limit; an undeclared entity would be missing from the text.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ...errors import Errors, MedlinkError
from .lines import DAMAGED, LONGEST, open_source

_BLOCK = 1 << 16
LONGEST_TAG = 1 << 22  # bytes: expat reads what has no end again with every block
_DEEPEST = 64


class XmlRecord(NamedTuple):
    """An element that is a record.

    line (int): where it begins, from 1. root (Mapping[str, str]): attributes of the root element.
    """

    line: int
    element: Element
    root: dict[str, str]


def xml_records(
    path: Path, tags: Collection[str] | None, without: Collection[str] = ()
) -> Iterator[XmlRecord]:
    """Stream the elements of a file, plain or `.gz`, that have one of the tags.

    path (Path): the file. tags (Collection[str]): elements that are records; where none of them has
        a prefix of a namespace, prefixes do not count, and are left out. None takes all elements
        directly in the root.
    without (Collection[str]): elements inside of records that are left out, with their content.
    RAISES (MedlinkError): E105 where the document is not well-formed; this error cannot be skipped;
        E105 when the document declares or needs entities.
    """
    parser = _Parser(path, tags, without)
    with open_source(path) as file:
        while True:
            try:
                data = file.read(_BLOCK)
            except DAMAGED as error:
                parser.fail(f"damaged gzip data ({error})", error=error)
            parser.feed(data)
            yield from parser.taken()
            if not data:
                return


class BoundedXml:
    """Hands a document to expat, and refuses what has no end.

    path (Path): for messages.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fed = 0
        self._expat = expat.ParserCreate()

    def feed(self, data: bytes) -> None:
        """Parse the next bytes; none at the end."""
        try:
            self._expat.Parse(data, not data)
        except MedlinkError:
            raise
        # An unknown or unsupported encoding is a LookupError or a ValueError.
        except (expat.ExpatError, LookupError, ValueError) as error:
            self.fail(f"not well-formed XML ({error})", error=error)
        self._fed += len(data)
        if self._fed - self._expat.CurrentByteIndex > LONGEST_TAG:
            self.fail(f"a tag or comment of over {LONGEST_TAG >> 20} MB")

    def refuse_entities(self) -> None:
        """Refuse (E105) a document that declares or needs entities."""
        self._expat.EntityDeclHandler = self._refuse
        self._expat.SkippedEntityHandler = self._refuse

    def _refuse(self, name: str, *_: object) -> None:
        line = self._expat.CurrentLineNumber
        problem = f"the document declares or uses the entity {name!r}, which can hide any text"
        expected = "the file as its publisher gives it, without one"
        raise Errors.bad_line(path=self._path, line=line, problem=problem, expected=expected)

    def fail(
        self,
        problem: str,
        expected: str = "a well-formed XML document",
        error: Exception | None = None,
    ) -> NoReturn:
        """Raise an error (E105) with the current place."""
        line = self._expat.CurrentLineNumber
        raise Errors.bad_line(
            path=self._path, line=line, problem=problem, expected=expected
        ) from error


class _Parser(BoundedXml):
    """Builds the records from the events of expat."""

    def __init__(self, path: Path, tags: Collection[str] | None, without: Collection[str]) -> None:
        super().__init__(path)
        self._tags = None if tags is None else frozenset(tags)
        self._without = frozenset(without)
        self._has_prefixes = tags is None or any(":" in tag for tag in tags)
        self._depth = self._begin = 0
        self._skipped = 0
        self._record = 0
        self._line = 0
        self._root: dict[str, str] = {}
        self._builder = TreeBuilder()
        self._done: list[XmlRecord] = []
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self.refuse_entities()

    def feed(self, data: bytes) -> None:
        """Parse the next bytes; none at the end."""
        super().feed(data)
        if self._record and self._fed - self._begin > LONGEST:
            self.fail(f"an element of over {LONGEST >> 20} MB")

    def taken(self) -> list[XmlRecord]:
        """Return the complete records, and forget them."""
        done, self._done = self._done, []
        return done

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag if self._has_prefixes else tag.rpartition(":")[2]
        if not self._depth:
            self._root = attributes
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError(f"elements nested more than {_DEEPEST} deep")
        if self._skipped:
            return
        if not self._record:
            is_one = self._depth == 2 if self._tags is None else tag in self._tags
            if not is_one:
                return
            self._record, self._line = self._depth, self._expat.CurrentLineNumber
            self._begin = self._expat.CurrentByteIndex
            self._builder = TreeBuilder()
            self._expat.CharacterDataHandler = self._builder.data
        elif tag in self._without:
            self._skipped = self._depth
            self._expat.CharacterDataHandler = None
            return
        self._builder.start(tag, attributes)

    def _end(self, tag: str) -> None:
        tag = tag if self._has_prefixes else tag.rpartition(":")[2]
        depth, self._depth = self._depth, self._depth - 1
        if self._skipped:
            if depth == self._skipped:
                self._skipped = 0
                self._expat.CharacterDataHandler = self._builder.data
        elif self._record:
            self._builder.end(tag)
            if depth == self._record:
                self._record = 0
                self._expat.CharacterDataHandler = None
                self._done.append(XmlRecord(self._line, self._builder.close(), self._root))

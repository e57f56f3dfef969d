"""Streams the triples of a file, with the line of each; pyoxigraph comes with the extra `rdf`."""

import codecs
import re
from collections.abc import Container, Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from ...errors import Errors
from ...kb.readers.lines import DAMAGED, open_source
from ...kb.readers.xml_records import BoundedXml
from ...util.extras import missing

BASE = "file:///"  # where a relative address starts, so that ids do not depend on directories
_BLOCK = 1 << 16
_NAMES = {"RDF_XML": "RDF/XML", "TURTLE": "Turtle", "N_TRIPLES": "N-Triples"}
_XML = re.compile(rb"\s*<(?:[?!]|[\w:.\-]+\s)")  # an address of Turtle has no white space
# Other syntaxes: the suffix, the name, how such a file begins, and what is read instead.
_ROBOT = "`robot convert --input {name} --output {name}.owl` makes it"
_JSON_LD = "`rdfpipe -i json-ld -o xml {name} > {name}.owl` makes it"
_GRAPH = "an ontology's own file in OBO or OWL says the same"
_OTHERS = (
    (".obo", "OBO", rb"format-version:|\[Term\]", "`--from obo` reads it"),
    (".ofn", "OWL in functional syntax", rb"(?:Prefix|Ontology)\s*\(", _ROBOT),
    (".omn", "OWL in Manchester syntax", rb"(?:Prefix|Namespace|Ontology):\s", _ROBOT),
    (".obojson", "an OBO graph in JSON", rb'\{(?:[^\[]|\[\s*\])*"graphs"\s*:', _GRAPH),
    (".jsonld", "JSON-LD", rb"\{|\[\s*\{", _JSON_LD),
)
_DECLARED = re.compile(rb"\s*<\?xml\s[^>]*?\sencoding\s*=\s*[\"']([\w.\-]+)")
_UTF8 = ("UTF-8", "UTF8")
_COMMENTS = re.compile(rb"(?:\s|#[^\n]*\n)*")
_PLACE = re.compile(r"^Parser error at line .*?: ")
_LONGEST_START = 1 << 20  # bytes before the root element
# Entities that abbreviate the beginning of an address are usual in OWL.
_ENTITY = re.compile(rb'<!ENTITY\s+([\w.\-]+)\s+"([^"]*)"')
_DEEPEST = 1_000  # elements within each other: the time of pyoxigraph grows with their square
_MORE = 4  # times as much text may come of a block through its entities
_DOCTYPE = re.compile(
    rb"(?:\s|<\?(?:(?!\?>).)*\?>|<!--(?:(?!-->).)*-->)*<!DOCTYPE\s+[\w:.\-]+\s*\[\s*"
    rb'(?:<!ENTITY\s+[\w.\-]+\s+"[^"&%<>]{0,200}"\s*>\s*)*\]\s*>',
    re.DOTALL,
)


Triple = tuple[int, str, str, str, str | None]
"""Line, subject, predicate, object, and the language of the object: "" for text without one, None
for a node, "^" with the datatype for text that has one of its own. Blank nodes begin with "_:"."""
_USUAL_DATATYPES = ("http://www.w3.org/2001/XMLSchema#", "http://www.w3.org/1999/02/22-rdf-")


def triples(path: Path, predicates: Container[str]) -> Iterator[Triple]:
    """Stream the triples of a file, plain or `.gz`, that have one of the predicates.

    The suffix `.ttl` or `.nt` tells the syntax, else the first bytes do. Addresses are not checked,
    because many ontologies have some with a blank in them. Nothing is fetched.
    RAISES (MedlinkError): E105 where the file has another syntax or breaks its own; what follows
        cannot be told from what is broken, so this error cannot be skipped. E614 without
        pyoxigraph.
    """
    try:
        import pyoxigraph as oxigraph
    except ImportError as error:
        raise missing(error, "Reading OWL and SKOS") from error
    with open_source(path) as file:
        lines = _Lines(file, path)
        syntax = getattr(oxigraph.RdfFormat, lines.syntax)
        parsed = oxigraph.parse(cast(IO[bytes], lines), format=syntax, base_iri=BASE, lenient=True)
        try:
            for subject, predicate, object, _ in parsed:
                if (property := predicate.value) in predicates:
                    about, _ = _term(oxigraph, subject)
                    yield lines.line, about, property, *_term(oxigraph, object)
        except SyntaxError as error:
            lines.fail(_PLACE.sub("", str(error.msg)), error, error.lineno)
        except MemoryError as error:
            lines.fail(f"text without end ({error})", error)


def _term(oxigraph: Any, term: Any) -> tuple[str, str | None]:
    """Return a node or a text, and the language of the text as a `Triple` has it."""
    if isinstance(term, oxigraph.NamedNode):
        return term.value, None
    if isinstance(term, oxigraph.Literal):
        datatype = term.datatype.value
        is_own = not datatype.startswith(_USUAL_DATATYPES)
        return term.value, f"^{datatype}" if is_own else term.language or ""
    return str(term) if isinstance(term, oxigraph.BlankNode) else "_:", None


class _Lines:
    """A file that is handed over line by line.

    pyoxigraph asks for more only when it has used what it has, so the line of each triple is known.

    syntax (str): name of the syntax in pyoxigraph.
    line (int): number of the last line that was handed over.
    """

    def __init__(self, file: BufferedIOBase, path: Path) -> None:
        self.line = self._next = 1
        self._file, self._path = file, path
        self._at = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._block = self._load().removeprefix(b"\xef\xbb\xbf")
        self.syntax = _syntax(path, self._block)
        self._guard = _Guard(path) if self.syntax == "RDF_XML" else None
        self._check(self._block)
        # The DOCTYPE is checked as a whole before pyoxigraph has any of it.
        while self._guard is not None and self._guard.is_before_root:
            self._check(more := self._load())
            self._block += more

    def read(self, size: int) -> bytes:
        """Return the next line, or its next part; b"" at the end."""
        if self._at == len(self._block):
            self._block, self._at = self._load(), 0
            self._check(self._block)
        start = self._at
        self._at = self._block.find(b"\n", start, start + size) + 1
        self._at = self._at or min(start + size, len(self._block))
        piece = self._block[start : self._at]
        if piece:
            self.line = self._next
            self._next += piece.endswith(b"\n")
        return piece

    def fail(self, problem: str, error: Exception, line: int | None = None) -> NoReturn:
        """Raise an error; without a line, it is the last one that was handed over."""
        raise Errors.bad_line(
            path=self._path, line=line or self.line, problem=problem, expected=_NAMES[self.syntax]
        ) from error

    def _load(self) -> bytes:
        try:
            block = self._file.read(_BLOCK)
            if block.endswith(b"\r"):
                block += self._file.read(1)
        except DAMAGED as error:
            raise Errors.bad_line(
                path=self._path, line=self._next, problem=f"damaged gzip data ({error})",
                expected="a complete gzip file",
            ) from error  # fmt: skip
        block = block.replace(b"\r\n", b"\n")
        self._check_encoding(block)
        return block

    def _check_encoding(self, block: bytes) -> None:
        """Refuse what is not UTF-8, or says that it is not, with the command that converts it."""
        declared = _DECLARED.match(block) if self._next == 1 else None
        encoding, line = declared[1].decode().upper() if declared else "UTF-8", self._next
        try:
            self._decoder.decode(block)
        except UnicodeDecodeError as error:
            is_utf16 = block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            likely = "UTF-16" if is_utf16 else "ISO-8859-1"
            encoding = likely if encoding in _UTF8 else encoding
            line += error.object[: error.start].count(b"\n")
        if encoding not in _UTF8:
            name, is_packed = self._path.name, self._path.suffix == ".gz"
            raise Errors.bad_line(
                path=self._path, line=line, problem=f"text in {encoding}",
                expected=f"UTF-8: `{'zcat' if is_packed else 'cat'} {name} | iconv -f {encoding} "
                f"-t UTF-8 | sed '1s/{encoding}/UTF-8/I' > utf8.{name.removesuffix('.gz')}` "
                "makes it",
            )  # fmt: skip

    def _check(self, data: bytes) -> None:
        if self._guard is not None:
            self._guard.feed(data)


class _Guard(BoundedXml):
    """Refuses the XML that pyoxigraph accepts or dies of.

    It takes a document that is cut off for a whole one, and expands entities until memory ends. It
    also finds entities where XML has none, such as in comments, so a DOCTYPE must be a plain list.

    is_before_root (bool): whether the root element has not come yet.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._ended = False
        self.is_before_root = True
        self._start = b""  # all that comes before the root element
        self._entities: dict[bytes, int] = {}  # the length of the text of each
        self._depth = 0
        self._expat.EndDoctypeDeclHandler = self._doctype
        self._expat.ordered_attributes = True  # which are made faster
        self._expat.StartElementHandler = self._begin
        self._expat.EndElementHandler = self._end

    def feed(self, data: bytes) -> None:
        """Check the next bytes, before pyoxigraph has them; none at the end."""
        if self._ended:
            return
        self._ended = not data
        if self.is_before_root:
            self._start += data
        super().feed(data)
        if data.count(b"&") * max(self._entities.values(), default=0) > _MORE * len(data):
            more = sum(data.count(name) * length for name, length in self._entities.items())
            if more > _MORE * len(data):
                self.fail("entities over and over", "entities that abbreviate addresses")
        if len(self._start) > _LONGEST_START:
            self.fail("no element in a megabyte", "rdf:RDF near the beginning")

    def _doctype(self) -> None:
        if not _DOCTYPE.match(self._start):
            expected = "entities of up to 200 characters, without others in them, and nothing else"
            self.fail("the DOCTYPE", expected)
        self._entities = {b"&%b;" % name: len(text) for name, text in _ENTITY.findall(self._start)}

    def _begin(self, tag: str, _: list[str]) -> None:
        if self.is_before_root:
            self._root(tag)
        self._depth += 1
        if self._depth > _DEEPEST:
            self.fail("elements within elements without end", "an ontology")

    def _end(self, _: str) -> None:
        self._depth -= 1

    def _root(self, tag: str) -> None:
        self.is_before_root, self._start = False, b""
        if tag.rpartition(":")[2] != "RDF":
            expected = f"rdf:RDF, as in RDF/XML; of OWL/XML, {_ROBOT.format(name=self._path.name)}"
            self.fail(f"the root element {tag:.60}", expected)


def _syntax(path: Path, start: bytes) -> str:
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    comments = _COMMENTS.match(start)
    text = start[comments.end() :] if comments else start
    for ending, name, beginning, instead in _OTHERS:
        if suffix == ending or re.match(beginning, text):
            expected = f"RDF/XML, Turtle or N-Triples; {instead.format(name=path.name)}"
            raise Errors.bad_line(path=path, line=1, problem=f"this is {name}", expected=expected)
    if suffix in (".nt", ".ttl"):
        return "N_TRIPLES" if suffix == ".nt" else "TURTLE"
    return "RDF_XML" if _XML.match(start) else "TURTLE"

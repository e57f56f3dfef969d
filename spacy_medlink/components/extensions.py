"""The attributes that the components set on spans, in two tables."""

from collections.abc import Iterable, Mapping
from copy import copy
from itertools import filterfalse
from typing import Any, NamedTuple, cast

from spacy.tokens import Doc, Span

from ..errors import Errors, Warnings
from ..types import Data
from ..util.telling import tell

Links = dict[str, Data]  # of the spans at one place, by label

SPAN_ATTRIBUTES: Mapping[str, Any] = {
    "cui": None,  # id of the link in the scheme `cui_scheme`, None for NIL
    "name": None,  # preferred name of the link, None for NIL
    "kb_ents": [],  # [[id, score], ...], the link first; empty for NIL
    "candidates": [],  # ranked dicts: id, name, matched, score, prob, scores, ranks, types
    "codes": {},  # codes of the link by vocabulary
    "ambiguous": [],  # ids that nothing tells apart but their order, the link's among them
    "reason": "",  # why it is NIL
    "parts": [],  # of a composite mention, each with text, id, cui, name, matched, score
    "ambiguous_codes": [],  # codes that `cui` was chosen from, where no name tells them apart
}

READING = "reading"  # a mention's meaning, where the text differs
READ_AT = "read_at"  # [first, last + 1]: characters that were read, where not all of the span
# What no linker writes as its own, hence without a prefix. Where another package has registered
# the same name in the same way, as medspaCy has `is_negated`, both share it.
PLAIN_ATTRIBUTES: Mapping[str, Any] = {
    READING: "",
    READ_AT: None,
    "is_negated": False,
    "is_historical": False,
    "is_hypothetical": False,
    "is_family": False,
    "is_uncertain": False,
    "section": "",
}

KB_ID = "kb_id"  # in the links of a place: what the linker has made the `kb_id`
_CUI = "cui"
_LINKS = "links"  # behind a prefix, a key of the user data; see LinkAttribute
# The schemes of the linkers that write under each prefix, in the order of their registration.
_PREFIXES: dict[str, set[str | None]] = {}
_WRITTEN: set[str] = set()  # the plain attributes that components of this process write
_TOLD_LOST: set[str] = set()  # the prefixes whose lost codes this process has warned of
_OTHER_PREFIX = "Give the linker a `prefix`, which its attributes then have before their names"
_NO_PREFIX = "Rename the other one, or leave the component out (only a linker has a `prefix`)"


def registered_prefixes() -> list[str]:
    """List the prefixes that linkers of this process write under."""
    return list(_PREFIXES)


def register_free() -> None:
    """Register all attributes without a prefix, but for names that something else has taken.

    Importing the package does so: stored Docs are read where no component is made.
    """
    for name in filterfalse(Span.has_extension, PLAIN_ATTRIBUTES):
        Span.set_extension(name, default=PLAIN_ATTRIBUTES[name])
    for name in filterfalse(Span.has_extension, SPAN_ATTRIBUTES):
        LinkAttribute("", name).register()


def register_extensions(prefix: str = "", cui_scheme: str | None = None) -> None:
    """Register the attributes of a linker under a prefix, unless they are registered already.

    prefix (str): put before each name, so that several linkers do not share attributes.
    cui_scheme (Optional[str]): what the linker's `_.cui` holds; None for the KB's own ids.
    RAISES (MedlinkError): E331 for a name that something else has taken.
    """
    for name in SPAN_ATTRIBUTES:
        if not Span.has_extension(prefix + name):
            LinkAttribute(prefix, name).register()
        elif Span.get_extension(prefix + name)[3] is None:  # a setter is told what is written
            raise Errors.attribute_taken(name=prefix + name, remedy=_OTHER_PREFIX)
    register_scheme(prefix, cui_scheme)


def register_scheme(prefix: str, cui_scheme: str | None) -> None:
    """Register the scheme of a linker's `_.cui`; it may change during the life of the linker."""
    _PREFIXES.setdefault(prefix, set()).add(cui_scheme)


def check_plain(names: Iterable[str]) -> None:
    """Register attributes of PLAIN_ATTRIBUTES; called again before they are written.

    RAISES (MedlinkError): E331 for a name that something else has taken.
    """
    for name in names:
        if not Span.has_extension(name):
            Span.set_extension(name, default=PLAIN_ATTRIBUTES[name])
        if not _is_plain(name) and Span.get_extension(name)[3] is None:
            raise Errors.attribute_taken(name=name, remedy=_NO_PREFIX)
        _WRITTEN.add(name)


def register_reading() -> None:
    """Register `span._.reading` and `span._.read_at`, as `check_plain` does."""
    check_plain((READING, READ_AT))


def store_defaults(span: Span, names: Iterable[str]) -> None:
    """Store what plain attributes have by default: `Doc.to_json` knows only stored values."""
    for name in names:
        _data(span).setdefault(_key(span, name), PLAIN_ATTRIBUTES[name])


def is_written(name: str) -> bool:
    """Tell whether a plain attribute has a writer here: a component of ours, or another's getter.

    What another component keeps where we would keep it is seen on the spans alone.
    """
    return name in _WRITTEN or not _is_plain(name)


def _is_plain(name: str) -> bool:
    """Tell whether spaCy keeps an attribute as PLAIN_ATTRIBUTES say."""
    plain = PLAIN_ATTRIBUTES[name], None, None, None
    return not Span.has_extension(name) or Span.get_extension(name) == plain


def is_stored(span: Span, name: str) -> bool:
    """Tell whether a span has a value of an attribute, False and empty ones too."""
    return _key(span, name) in _data(span)


def read_characters(span: Span) -> tuple[int, int]:
    """Get the first character of what was read of a span, and the one behind it."""
    place = span.start_char, span.end_char
    first, last = cast("list[int]", _data(span).get(("._.", READ_AT, *place)) or place)
    return first, last


def are_stored(names: Iterable[str]) -> bool:
    """Tell whether attributes are kept in `doc.user_data`: no setter of a user replaces one.

    RAISES (MedlinkError): E331 for an attribute of a linker that cannot be written any more.
    """
    is_stored = True
    for name in names:
        if not Span.has_extension(name):
            return False
        _, method, getter, setter = Span.get_extension(name)
        if setter is None and (method or getter):
            raise Errors.attribute_taken(name=name, remedy=_OTHER_PREFIX)
        is_ours = isinstance(getattr(setter, "__self__", None), LinkAttribute)
        is_stored &= setter is None or is_ours
    return is_stored


class LinkAttribute(NamedTuple):
    """An attribute of the spans that a linker has read, kept in `doc.user_data` as spaCy does.

    spaCy's key is the name and the characters, so that spans at one place have one value. Where
    their labels make a difference, `keep_apart` has written the links by label.
    """

    prefix: str
    name: str

    def register(self) -> None:
        """Register the attribute."""
        Span.set_extension(self.prefix + self.name, getter=self.get, setter=self.set)

    def get(self, span: Span) -> Any:
        """Read the value; the default for a span that the linker has not linked."""
        data = _data(span)
        key, default = _key(span, self.prefix + self.name), copy(SPAN_ATTRIBUTES[self.name])
        if links := data.get(_key(span, self.prefix + _LINKS)):
            return _link_among(cast("Links", links), span).get(self.name, default)
        if key in data:
            return data[key]
        return _cui_of_id(span, self.prefix) if self.name == _CUI else default

    def set(self, span: Span, value: object) -> None:
        """Write the value."""
        data = _data(span)
        if links := data.get(_key(span, self.prefix + _LINKS)):
            cast("Links", links).setdefault(span.label_, {})[self.name] = value
        else:
            data[_key(span, self.prefix + self.name)] = value


def keep_apart(span: Span, prefix: str, links: Links | None) -> None:
    """Write the links of the spans at the place of a span, by label; None where all have one.

    links (Optional[Dict[str, Dict]]): the attributes of each, and "kb_id". Other spans have none
        of them: those with another label, unless they have the `kb_id` of one, and those without
        a `kb_id`. A part of the Doc, without label and `kb_id`, has the first.
    """
    key = _key(span, prefix + _LINKS)
    _data(span).pop(key, None)
    if links is not None:
        _data(span)[key] = links


def _link_among(links: Links, span: Span) -> Data:
    label, id = span.label_, span.kb_id_
    if label in links:
        return links[label] if id or not links[label].get(KB_ID) else {}
    same = [link for link in links.values() if id in (link.get(KB_ID), label)]
    return same[0] if same else {}


def _cui_of_id(span: Span, prefix: str) -> str | None:
    """Read the code where it is not kept: as the `kb_id`, if the linker's codes are such ids.

    Docs may be stored without their user data (`DocBin()` does so), but they keep `kb_id_`. Where
    `_.cui` holds the same id, `kb_id_` is returned; else a warning says that the code is lost.
    """
    if span.kb_id_ in ("", "NIL") or _has_any_code(span.doc, prefix):
        return None
    if {prefix: {None}} == _PREFIXES:
        return str(span.kb_id_)
    if prefix not in _TOLD_LOST:
        _TOLD_LOST.add(prefix)
        tell(Warnings.cui_lost.format(text=span.text, id=span.kb_id_))
    return None


def _has_any_code(doc: Doc, prefix: str) -> bool:
    """Tell whether a Doc has the codes of any linker; if so, its user data is still there."""
    names = {other + _CUI for other in (*_PREFIXES, prefix)}
    keys = (key for key in doc.user_data if isinstance(key, tuple))
    return any(not names.isdisjoint(key[1:2]) for key in keys)


def _key(span: Span, name: str) -> tuple[str, str, int, int]:
    return "._.", name, span.start_char, span.end_char


def _data(span: Span) -> dict[object, object]:
    # spaCy's stubs take its keys for strings.
    return cast("dict[object, object]", span.doc.user_data)

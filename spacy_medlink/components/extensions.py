"""The attributes that a linker sets on spans, in one table."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from spacy.tokens import Doc, Span

from ..errors import Warnings
from ..util.telling import tell

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

_CUI = "cui"
# The schemes of the linkers that write under each prefix, in the order of their registration.
_PREFIXES: dict[str, set[str | None]] = {}
_TOLD_LOST: set[str] = set()  # the prefixes whose lost codes this process has warned of


def registered_prefixes() -> list[str]:
    """List the prefixes that linkers of this process write under."""
    return list(_PREFIXES)


def register_extensions(prefix: str = "", cui_scheme: str | None = None) -> None:
    """Register the attributes under a prefix, unless they are registered already.

    prefix (str): put before each name, so that several linkers do not share attributes.
    cui_scheme (Optional[str]): what the linker's `_.cui` holds; None for the KB's own ids.
    """
    register_scheme(prefix, cui_scheme)
    for name, default in SPAN_ATTRIBUTES.items():
        if Span.has_extension(prefix + name):
            continue
        if name == _CUI:
            code = Cui(prefix)
            Span.set_extension(prefix + name, getter=code.get, setter=code.set)
        else:
            Span.set_extension(prefix + name, default=default)


def register_scheme(prefix: str, cui_scheme: str | None) -> None:
    """Register the scheme of a linker's `_.cui`; it may change during the life of the linker."""
    _PREFIXES.setdefault(prefix, set()).add(cui_scheme)


def register_reading() -> None:
    """Register `span._.reading` and `span._.read_at`, which belong to no linker: no prefix."""
    for name, default in ((READING, ""), (READ_AT, None)):
        if not Span.has_extension(name):
            Span.set_extension(name, default=default)


def read_characters(span: Span) -> tuple[int, int]:
    """Get the first character of what was read of a span, and the one behind it."""
    place = span.start_char, span.end_char
    first, last = cast("list[int]", _data(span).get(("._.", READ_AT, *place), place))
    return first, last


def are_stored(names: Iterable[str]) -> bool:
    """Tell whether attributes are kept in `doc.user_data`: no setter of a user replaces one."""
    for name in names:
        if not Span.has_extension(name):
            return False
        setter = Span.get_extension(name)[3]
        if setter is not None and not isinstance(getattr(setter, "__self__", None), Cui):
            return False
    return True


class Cui(NamedTuple):
    """`span._.cui` of the linkers with a prefix, kept in `doc.user_data` as spaCy keeps it.

    Docs may be stored without their user data (`DocBin()` does so), but they keep `kb_id_`. Where
    `_.cui` holds the same id, `kb_id_` is returned; else a warning says that the code is lost.
    """

    prefix: str

    def get(self, span: Span) -> str | None:
        """Read the code; None for NIL, and for spans that no linker has written to."""
        key, data = self._key(span), _data(span)
        if key in data:
            code = data[key]
            return None if code is None else str(code)
        if span.kb_id_ in ("", "NIL") or self._has_any(span.doc):
            return None
        if {self.prefix: {None}} == _PREFIXES:
            return str(span.kb_id_)
        if self.prefix not in _TOLD_LOST:
            _TOLD_LOST.add(self.prefix)
            tell(Warnings.cui_lost.format(text=span.text, id=span.kb_id_))
        return None

    def set(self, span: Span, value: str | None) -> None:
        """Write the code."""
        _data(span)[self._key(span)] = value

    def _key(self, span: Span) -> tuple[str, str, int, int]:
        return "._.", self.prefix + _CUI, span.start_char, span.end_char

    def _has_any(self, doc: Doc) -> bool:
        """Tell whether a Doc has the codes of any linker; if so, its user data is still there."""
        names = {prefix + _CUI for prefix in (*_PREFIXES, self.prefix)}
        keys = (key for key in doc.user_data if isinstance(key, tuple))
        return any(not names.isdisjoint(key[1:2]) for key in keys)


def _data(span: Span) -> dict[object, object]:
    # spaCy's stubs take its keys for strings.
    return cast("dict[object, object]", span.doc.user_data)

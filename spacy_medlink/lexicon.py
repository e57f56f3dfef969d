"""A lexicon of abbreviations that documents use without defining them."""

from collections.abc import Iterable
from pathlib import Path

from .errors import Errors

_EXPECTED = "short form, tab, long form, and optionally tab, entity label"


class Lexicon:
    """Long forms by short form, which must be written as in the text.

    entries (Iterable[Tuple[str, str, str]]): short form, long form, entity label ("" for any).
    """

    def __init__(self, entries: Iterable[tuple[str, str, str]] = ()) -> None:
        self.entries = tuple(dict.fromkeys(entries))
        self._by_short: dict[str, list[tuple[str, str]]] = {}
        for short, long, label in self.entries:
            self._by_short.setdefault(short, []).append((long, label))

    def __len__(self) -> int:
        return len(self.entries)

    @classmethod
    def read(cls, path: str | Path) -> "Lexicon":
        """Read a file, one entry a line; lines that are empty or begin with # are left out.

        RAISES (MedlinkError): E107 without the file, E306 for a line that is no entry.
        """
        path = Path(path)
        if not path.is_file():
            raise Errors.source_missing(path=path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise Errors.bad_lexicon(path=path, line="?", expected="UTF-8") from error
        return cls.parse(text, path)

    @classmethod
    def parse(cls, text: str, path: str | Path = "lexicon") -> "Lexicon":
        """Read the lines of a text.

        RAISES (MedlinkError): E306 for a line that is no entry.
        """
        entries = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            parts = [part.strip() for part in line.split("\t")]
            if not 2 <= len(parts) <= 3 or not all(parts[:2]):
                raise Errors.bad_lexicon(path=path, line=number, expected=_EXPECTED)
            short, long, *label = parts
            entries.append((short, long, "".join(label)))
        return cls(entries)

    def dump(self) -> str:
        """Write the entries as `parse` reads them."""
        return "".join("\t".join(entry).rstrip("\t") + "\n" for entry in self.entries)

    def __contains__(self, text: str) -> bool:
        return text.strip() in self._by_short

    def expansions(self, text: str, label: str = "") -> tuple[str, ...]:
        """List the long forms of a short form, those for the label before those for any."""
        known = self._by_short.get(text.strip(), ())
        own = [long for long, wanted in known if wanted and wanted == label]
        return tuple(dict.fromkeys([*own, *(long for long, wanted in known if not wanted)]))

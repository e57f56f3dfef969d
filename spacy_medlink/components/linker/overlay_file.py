"""OverlayFile: the rules of a curation file, read again whenever it changes."""

from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import MedlinkError, Warnings
from ...util.telling import tell

if TYPE_CHECKING:  # spaCy imports this module with every `spacy.blank`
    from ...assets import Assets
    from ...kb.curation import Curation


class OverlayFile:
    """Rules that hold without a build.

    path (Path): of the file.
    RAISES (MedlinkError): E105, E107, E167 when it cannot be read. Later the rules stay as they
        were, with a warning.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._state = self._stat()
        self.curation = self._read()

    def follow(self) -> bool:
        """Read the file again if it has changed. RETURNS whether the rules are others now."""
        state = self._stat()
        if state == self._state:
            return False
        self._state = state
        try:
            curation = self._read()
        except MedlinkError as error:
            tell(Warnings.overlay_unread.format(path=self.path, reason=error.message))
            return False
        if curation.rules == self.curation.rules:
            return False
        self.curation = curation
        return True

    def over(self, assets: "Assets") -> "Assets":
        """Lay the rules over assets, and say which of them change nothing."""
        from ...assets.overlaid import OverlaidAssets

        if not self.curation.rules:
            return assets
        overlaid = OverlaidAssets(assets, self.curation)
        idle = [rule for rule in overlaid.overlay.rules if rule.no_effect]
        if idle:
            first = f"line {idle[0].line}: {idle[0].no_effect}"
            tell(Warnings.overlay_idle.format(path=self.path, count=len(idle), first=first))
        return overlaid

    def _read(self) -> "Curation":
        from ...kb.curation import read_curation

        return read_curation(self.path)

    def _stat(self) -> tuple[int, int, int] | None:
        """Get what changes with the file; None where it is not there."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

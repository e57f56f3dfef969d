"""The overlay of a linker: rules or corrections in a file, read again when the file changes."""

from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import MedlinkError, Warnings
from ...util.files import OwnedDirectory
from ...util.telling import tell
from .settings import LinkerSettings

if TYPE_CHECKING:  # spaCy imports this module with every `spacy.blank`
    from ...assets import Assets
    from ...fitting.corrections import Corrections
    from ...kb.curation import Curation

OVERLAY = "overlay.jsonl"  # of a saved linker


class OverlayPlace:
    """The place of a linker's overlay: the file that the config names, or the saved file.

    settings (LinkerSettings): of the component. The attribute `saved` is the file that came with
    the component (Optional[Path]). If it came as bytes, `is_copy` is true and no user changes it.
    """

    def __init__(self, settings: LinkerSettings) -> None:
        self.settings = settings
        self.saved: Path | None = None
        self._owner: OwnedDirectory | None = None  # of a file that came as bytes
        self._file: OverlayFile | None = None

    @property
    def is_used(self) -> bool:
        """Whether there is an overlay, or was one."""
        return bool(self._file or self.saved or self.settings.overlay)

    @property
    def is_copy(self) -> bool:
        """Whether the file came as bytes."""
        return self._owner is not None

    @property
    def file(self) -> "OverlayFile | None":
        """The file in force: the file that the config names, if it exists, else the saved one.

        RAISES (MedlinkError): E105, E107 when it cannot be read.
        """
        named = None if self.settings.overlay is None else Path(self.settings.overlay)
        if self.saved is not None and (named is None or not named.is_file()):
            named = self.saved
        if named is None:
            self._file = None
        elif self._file is None or self._file.path != named:
            self._file = OverlayFile(named)
        return self._file

    def has_changed(self) -> bool:
        """Tell whether the file in force or its rules have changed since the last call."""
        before, now = self._file, self.file
        return now is not before or (now is not None and now.follow())

    def over(self, assets: "Assets") -> "Assets":
        """Lay the overlay over assets, if there is one."""
        return assets if self.file is None else self.file.over(assets)

    def load(self, path: Path) -> None:
        """Take the file that was saved in a directory, if there is one."""
        self.saved, self._owner = (path if path.is_file() else None), None

    def dump(self) -> bytes | None:
        """Write the rules in force; None without an overlay."""
        return None if self.file is None else self.file.rules.dump().encode()

    def parse(self, content: bytes | None) -> None:
        """Take the bytes that `dump` wrote, and write them to a file that can be followed."""
        self.saved = self._owner = None
        if content is not None:
            self._owner = OwnedDirectory("spacy-medlink-")
            self.saved = self._owner.path / OVERLAY
            self.saved.write_bytes(content)


class OverlayFile:
    """Rules, or corrections as gold mentions, that take effect without a build.

    path (Path): of the file.
    RAISES (MedlinkError): E105, E107 when it cannot be read. Later the rules stay as they
        were, with a warning.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: MedlinkError | None = None  # of the file as it is now
        self._state = self._stat()
        self.rules = self._read()

    def follow(self) -> bool:
        """Read the file again if it has changed. RETURNS: whether the rules have changed."""
        state = self._stat()
        if state == self._state:
            return False
        self._state, self.problem = state, None
        try:
            rules = self._read()
        except MedlinkError as error:
            self.problem = error
            tell(Warnings.overlay_unread.format(path=self.path, reason=error.message))
            return False
        if rules == self.rules:
            return False
        self.rules = rules
        return True

    def over(self, assets: "Assets") -> "Assets":
        """Lay the rules over assets, and warn of rules that change nothing."""
        from ...assets.overlaid import OverlaidAssets
        from ...kb.curation import Curation

        if isinstance(self.rules, Curation):
            if not self.rules.rules:
                return assets
            overlaid = OverlaidAssets(assets, self.rules)
            rules = (rule for rule in overlaid.overlay.rules if rule.no_effect)
            idle = [f"line {rule.line}: {rule.no_effect}" for rule in rules]
        else:
            curation, remembered, idle = self.rules.over(assets.kb)
            overlaid = OverlaidAssets(assets, curation, remembered)
        if idle:
            tell(Warnings.overlay_idle.format(path=self.path, count=len(idle), first=idle[0]))
        return overlaid

    def _read(self) -> "Curation | Corrections":
        from ...kb.curation import read_curation

        if self.path.is_file():
            from ...fitting.corrections import Corrections, is_gold

            if is_gold(self.path):
                return Corrections.read(self.path)
        return read_curation(self.path)

    def _stat(self) -> tuple[int, int, int] | None:
        """Get values that change with the file; None without the file."""
        try:
            state = self.path.stat()
        except OSError:
            return None
        return state.st_mtime_ns, state.st_size, state.st_ino

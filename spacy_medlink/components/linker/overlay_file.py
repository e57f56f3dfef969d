"""The overlay of a linker: rules or corrections in a file, read again when the file changes."""

from pathlib import Path

from ...assets import Assets
from ...assets.overlaid import OverlaidAssets
from ...errors import Errors, MedlinkError, Warnings
from ...fitting.corrections import read_overlay
from ...kb.rules import Rules
from ...util.files import OwnedDirectory
from ...util.telling import tell
from ..pipe import unpacked
from .settings import LinkerSettings

OVERLAY = "overlay.jsonl"  # of a saved linker


class Overlay:
    """Rules, or corrections as gold mentions, that take effect without a build.

    They are in the file that the config names, if it exists, else in the saved file.

    settings (LinkerSettings): of the component.
    saved (Optional[Path]): the file that came with the component. If it came as bytes, `is_copy` is
        true and no user changes it.
    path, rules: the file in force and its content; None without one.
    problem (Optional[MedlinkError]): of the file as it is now; the rules are those of before.
    """

    def __init__(self, settings: LinkerSettings) -> None:
        self.settings = settings
        self.saved: Path | None = None
        self.path: Path | None = None
        self.rules: Rules | None = None
        self.problem: MedlinkError | None = None
        self._owner: OwnedDirectory | None = None  # of a file that came as bytes
        self._state: tuple[int, int, int] | None = None

    @property
    def is_used(self) -> bool:
        """Whether there is an overlay, or was one."""
        return bool(self.path or self.saved or self.settings.overlay)

    @property
    def is_copy(self) -> bool:
        """Whether the file came as bytes."""
        return self._owner is not None

    def follow(self) -> bool:
        """Read the file in force if it is another one, or has changed.

        RETURNS (bool): whether the rules have changed.
        RAISES (MedlinkError): E105, E107, E160 when another file cannot be read. If the same file
            can no longer be read, the rules stay as they were, with a warning.
        """
        path = None if self.settings.overlay is None else Path(self.settings.overlay)
        if self.saved is not None and (path is None or not path.is_file()):
            path = self.saved
        state, is_other = _state_of(path), path != self.path
        if not is_other and state == self._state:
            return False
        try:
            rules = None if path is None else _read(path)
        except MedlinkError as error:
            if is_other:
                raise
            self._state, self.problem = state, error
            tell(Warnings.overlay_unread.format(path=path, reason=error.message))
            return False
        has_changed = is_other or rules != self.rules
        self.path, self.rules, self._state, self.problem = path, rules, state, None
        return has_changed

    def over(self, assets: Assets) -> Assets:
        """Lay the rules over assets, if there are any, and warn of rules that change nothing."""
        self.follow()
        if not self.rules:
            return assets
        overlaid = OverlaidAssets(assets, self.rules)
        if idle := [rule for rule in overlaid.overlay.rules.rules if rule.no_effect]:
            first = f"line {idle[0].line}: {idle[0].no_effect}"
            tell(Warnings.overlay_idle.format(path=self.path, count=len(idle), first=first))
        return overlaid

    def load(self, path: Path) -> None:
        """Take the file that was saved in a directory, if there is one."""
        self.saved, self._owner = (path if path.is_file() else None), None

    def keep(self, owner: OwnedDirectory) -> None:
        """Keep a temporary directory as long as the saved file within it."""
        if self.saved is not None and self.saved.is_relative_to(owner.path):
            self._owner = owner

    def dump(self) -> str | None:
        """Write the rules in force; None without an overlay."""
        self.follow()
        return None if self.rules is None else self.rules.dump()

    def parse(self, content: str | None) -> None:
        """Take what `dump` wrote, and write it to a file that can be followed."""
        self.saved = self._owner = None
        if content is not None:
            self._owner = unpacked({OVERLAY: content.encode()})
            self.saved = self._owner.path / OVERLAY


def _read(path: Path) -> Rules:
    if path.exists() and not path.is_file():  # a pipe would be waited for
        what, expected = "a file of rules or corrections", "a file"
        raise Errors.wrong_file(path=path, what=what, problem="it is no file", expected=expected)
    return read_overlay(path)


def _state_of(path: Path | None) -> tuple[int, int, int] | None:
    """Get values that change with a file; None without the file."""
    try:
        state = None if path is None else path.stat()
    except OSError:
        return None
    return None if state is None else (state.st_mtime_ns, state.st_size, state.st_ino)

"""Store: saves and loads a linker together with its assets."""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ...assets import Assets
from ...assets.manifest import ASSETS
from ...assets.starter import is_starter
from ...errors import Errors, MedlinkError
from ...fitting.corrections import read_overlay
from ...text.lexicon import Lexicon
from ...types import Data
from ...util.beside import remove
from ...util.files import OwnedDirectory, save_text
from ...util.outputs import FileKind, check_output, marked, read_json
from ..sources import is_installed, open_assets
from .opened import LinkerParts
from .overlay_file import OVERLAY

REFERENCE = "reference.json"


@dataclass(frozen=True)
class Reference:
    """A reference to shared assets, with a checksum to recognise them.

    path (str): the directory, absolute. relative (str): path from the saved component to the
        directory, so that both can move together; "" where there is none. manifest (str): SHA-256
        of the manifest, which has the SHA-256 of every file.
    """

    path: str
    relative: str
    manifest: str

    @classmethod
    def to(cls, assets: Assets, saved: Path) -> "Reference":
        """Refer to assets. saved (Path): directory of the component that refers."""
        path, relative = assets.path.resolve(), ""
        with suppress(ValueError):  # another drive
            relative = Path(os.path.relpath(path, saved.resolve())).as_posix()
        return cls(str(path), relative, assets.build)

    @classmethod
    def is_in(cls, path: Path) -> bool:
        """Tell whether a file holds a reference."""
        content = read_json(path)
        return isinstance(content, dict) and content.keys() == {"path", "relative", "manifest"}

    @classmethod
    def parse(cls, text: str, saved: str | Path) -> "Reference":
        """Read what `dump` wrote.

        RAISES (MedlinkError): E202 for anything else.
        """
        try:
            return cls(**json.loads(text))
        except (TypeError, ValueError) as error:
            raise Errors.assets_incomplete(path=saved, problem=f"{REFERENCE}: {error}") from error

    def dump(self) -> str:
        """Write as JSON."""
        return json.dumps(asdict(self), indent=2) + "\n"

    def open(self, saved: Path, source: str | None) -> Assets:
        """Open the assets at the old place, at the relative path, or at `source`.

        saved (Path): directory of the component that refers.
        source (Optional[str]): what the config calls `assets`.
        RAISES (MedlinkError): E309 when the assets are not found, or are not the same.
        """
        places = [self.path]
        if self.relative:
            places.append(os.path.normpath(saved.resolve() / self.relative))
        places += [source] if source is not None else []
        problems = []
        for source_path in dict.fromkeys(places):
            try:
                assets = open_assets(source_path)
            except MedlinkError as error:
                problems.append(f"{source_path} holds none that can be opened, {error.code}")
                continue
            if assets.build == self.manifest:
                return assets
            problems.append(f"{source_path} holds others, whose manifest.json is another")
        raise Errors.reference_lost(path=saved, problems="; ".join(problems))


_LEXICON = "lexicon.tsv"
_HEAD = "# The lexicon of a saved medical_linker\n"
_LEXICON_FILE = marked("the lexicon of a saved linker", _HEAD)
_REFERENCE_FILE = FileKind("the reference of a saved linker", Reference.is_in)


def _is_overlay(path: Path) -> bool:
    """Tell whether a file is an overlay, as `to_disk` writes it."""
    try:
        return bool(read_overlay(path)) or not path.stat().st_size
    except MedlinkError:
        return False


_OVERLAY_FILE = FileKind("the overlay of a saved linker", _is_overlay)


class Store:
    """The part of a linker that saves and loads its assets and its lexicon of abbreviations.

    opened (LinkerParts): the parts to save; loaded parts are put there.
    """

    def __init__(self, opened: LinkerParts) -> None:
        self.opened = opened

    def to_disk(self, path: Path, exclude: Iterable[str]) -> None:
        """Save into a directory: the assets (hard-linked or copied), or a reference to them.

        RAISES (MedlinkError): E109 when it cannot be written, E120-E124 where something else has
            its names.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Errors.write_failed(path=path, reason=error.strerror or error) from error
        overlay = self.opened.overlay
        rules = overlay.dump()
        if "assets" not in exclude:
            check_output(path / "assets", ASSETS, improves=self.opened.base.path)
            check_output(path / REFERENCE, _REFERENCE_FILE)
            self._save_assets(path)
        lexicon = _HEAD + self.opened.abbreviations.dump() if self._has_own_lexicon else None
        save_text(path / _LEXICON, _LEXICON_FILE, lexicon)
        if overlay.path is None or overlay.path.resolve() != (path / OVERLAY).resolve():
            save_text(path / OVERLAY, _OVERLAY_FILE, rules)

    def from_disk(self, path: Path, exclude: Iterable[str]) -> None:
        """Load from a directory; the assets, in it or referred to, are used where they are.

        RAISES (MedlinkError): E201-E204 when they are not whole, E309 when they are not there.
        """
        self.opened.overlay.load(path / OVERLAY)
        if "assets" not in exclude:
            self.opened.reset()
            self.opened.take(self._saved_assets(path), saved=True)
        if (path / _LEXICON).is_file():
            self.opened.lexicon = Lexicon.read(path / _LEXICON)
            self.opened.lexicon.language = self.opened.lang

    def check_size(self, exclude: Iterable[str], limit: int) -> None:
        """Check that assets that would be saved as bytes have no more than a limit.

        RAISES (MedlinkError): E303 when they have.
        """
        size = 0 if "assets" in exclude or self._is_referring else self.opened.base.size
        if size > limit:
            raise Errors.too_big_for_bytes(size=size >> 20, limit=limit >> 20)

    def keep(self, owner: OwnedDirectory) -> None:
        """Keep a temporary directory as long as the assets and the overlay within it."""
        opened = self.opened
        opened.overlay.keep(owner)
        if opened.opened is not None and opened.base.path.is_relative_to(owner.path):
            opened.base.keep_alive = owner

    def state(self) -> Data:
        """Get the state to send to another process: the assets by their path, if they have one."""
        opened = self.opened
        assets = None if opened.opened is None else opened.base
        overlay = opened.overlay
        state: Data = {
            # The other process follows the file too, unless it came as bytes.
            "overlay": None if overlay.is_copy else overlay.saved,
            "overlay_bytes": overlay.dump(),
            "source": opened.source,
            "lexicon": opened.abbreviations,  # its file may be out of reach of the other process
            "is_saved": opened.is_saved,
        }
        if assets is not None and assets.keep_alive is None:
            state["assets"] = assets
        return state  # without assets: the other process builds the starter again

    def set_state(self, state: Data) -> None:
        """Take the state that `state` returned."""
        opened = self.opened
        opened.source, opened.lexicon = state["source"], state["lexicon"]
        if state["overlay"] is None:
            opened.overlay.parse(state["overlay_bytes"])
        else:
            opened.overlay.load(state["overlay"])
        if "assets" in state:
            opened.put(state["assets"])

    @property
    def is_unpacked(self) -> bool:
        """Whether the assets came as bytes: no path of their own, and not the starter's."""
        opened = self.opened
        if opened.opened is None or opened.base.keep_alive is None:
            return False
        return not (opened.source is None and is_starter(opened.base))

    @property
    def has_own_assets(self) -> bool:
        """Whether assets were loaded that the config cannot name."""
        opened = self.opened
        return opened.is_saved and opened.named is None and not is_starter(opened.assets)

    @property
    def _has_own_lexicon(self) -> bool:
        """Whether the lexicon is saved: not if there is none, or if the package has it."""
        lexicon = self.opened.abbreviations
        return len(lexicon) > 0 and not lexicon.is_shipped

    @property
    def _is_referring(self) -> bool:
        """Whether saving writes a reference, which only assets with a path of their own allow."""
        return not self.opened.settings.copy_assets and self.opened.assets.keep_alive is None

    def _save_assets(self, path: Path) -> None:
        inside, reference, assets = path / "assets", path / REFERENCE, self.opened.base
        if not self._is_referring:
            assets.copy_to(inside)
            remove(reference)
        elif assets.path.resolve() != inside.resolve():
            save_text(reference, _REFERENCE_FILE, Reference.to(assets, path).dump())
            remove(inside)  # of an earlier saving

    def _saved_assets(self, path: Path) -> Assets:
        reference = path / REFERENCE
        if not reference.is_file():
            return Assets(path / "assets", is_installed(path))
        return Reference.parse(reference.read_text("utf-8"), path).open(path, self.opened.named)

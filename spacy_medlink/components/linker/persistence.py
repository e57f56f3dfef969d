"""Saving and loading a linker: its assets go with it, whole."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import srsly
from spacy.util import SimpleFrozenList
from spacy.vocab import Vocab

from ...assets.manifest import ASSETS
from ...errors import Errors
from ...text.lexicon import Lexicon, open_lexicon
from ...util.beside import remove
from ...util.files import replacing_file
from ...util.outputs import FileKind, check_output, marked
from ..extensions import register_extensions
from ..pipe import SAVED_ASSETS, PicklablePipe
from .reference import REFERENCE, Reference

if TYPE_CHECKING:
    from ...assets import Assets

_LEXICON = "lexicon.tsv"
_HEAD = "# The lexicon of a saved medical_linker\n"
_LEXICON_FILE = marked("the lexicon of a saved linker", _HEAD)
_REFERENCE_FILE = FileKind("the reference of a saved linker", Reference.is_in)
Own = TypeVar("Own", bound="PersistentLinker")


class PersistentLinker(PicklablePipe):
    """What of a linker can be saved: the assets, and the lexicon of abbreviations."""

    source: str | None
    prefix: str
    cui_scheme: str | None
    max_bytes_size: int
    lexicon: str | list[str] | None
    vocab: Vocab
    copy_assets: bool
    _assets: "Assets | None"
    _is_saved: bool  # whether the assets came with the component, not from `source`
    _lexicon: Lexicon | None

    @property
    def device(self) -> str:
        """Where the networks compute."""
        raise NotImplementedError

    @property
    def assets(self) -> "Assets":
        """The assets, opened at the first use."""
        raise NotImplementedError

    @property
    def abbreviations(self) -> Lexicon:
        """The lexicon, read at the first use.

        RAISES (MedlinkError): E107, E306, E310 when it cannot be.
        """
        if self._lexicon is None:
            self._lexicon = open_lexicon(self.lexicon, self.vocab.lang or "")
        return self._lexicon

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> None:
        """Save into a directory: the assets (hard-linked or copied), or a reference to them.

        RAISES (MedlinkError): E109 when it cannot be written, E120-E124 where something else has
            its names.
        """
        try:
            Path(path).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Errors.write_failed(path=path, reason=error.strerror or error) from error
        is_saved = self._has_own_lexicon
        if "assets" not in exclude:
            check_output(Path(path) / "assets", ASSETS, improves=self.assets.path)
            check_output(Path(path) / REFERENCE, _REFERENCE_FILE)
            self._save_assets(Path(path))
        if is_saved:
            with replacing_file(Path(path) / _LEXICON, _LEXICON_FILE) as temporary:
                temporary.write_text(_HEAD + self.abbreviations.dump(), encoding="utf-8")

    def from_disk(
        self: Own, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> Own:
        """Load from a directory; the assets, in it or referred to, are used where they are.

        RAISES (MedlinkError): E201-E204 when they are not whole, E309 when they are not there.
        """
        if "assets" not in exclude:
            self._reset()
            self._take_saved(self._saved_assets(Path(path)))
        if (Path(path) / _LEXICON).is_file():
            self._lexicon = Lexicon.read(Path(path) / _LEXICON)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = SimpleFrozenList()) -> bytes:
        """Save the assets' files as bytes, or a reference to them.

        RAISES (MedlinkError): E303 when they are larger than `max_bytes_size`.
        """
        files: dict[str, bytes] = {}
        if "assets" not in exclude and self._is_referring:
            files[REFERENCE] = Reference.to(self.assets).dump().encode()
        elif "assets" not in exclude:
            size, limit = self.assets.size, self.max_bytes_size
            if size > limit:
                raise Errors.too_big_for_bytes(size=size >> 20, limit=limit >> 20)
            for name in self.assets.files:
                files[name] = self.assets.file(name).read()
        if self._has_own_lexicon:
            files[_LEXICON] = self.abbreviations.dump().encode()
        data: bytes = srsly.msgpack_dumps(files)
        return data

    def from_bytes(self: Own, data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()) -> Own:
        """Load from bytes: the files go to a temporary directory that lives as long as they do."""
        files = srsly.msgpack_loads(data)
        lexicon, reference = files.pop(_LEXICON, None), files.pop(REFERENCE, None)
        if "assets" not in exclude and (reference or files):
            self._reset()
            self._take_saved(
                Reference.parse(reference.decode(), "bytes").open(None, self._named)
                if reference
                else _unpacked(files)
            )
        if lexicon is not None:
            self._lexicon = Lexicon.parse(lexicon.decode())
        return self

    def __getstate__(self) -> dict[str, Any]:
        from ...building.starter import is_starter

        _ = self.abbreviations  # it may not be there to be read where this is unpickled
        state = self.__dict__.copy()
        # Where it is unpickled, the networks compute where spaCy does there.
        state.pop("_device", None)
        for name in ("_lock", "_thread", "_engine", "_writer"):
            del state[name]
        opened = state.pop("_assets")
        if opened is None:
            return state
        if opened.keep_alive is None:
            state["_assets"] = opened
        elif self.source is not None or not is_starter(opened):
            state["_bytes"] = self.to_bytes()  # what came as bytes travels as bytes
        # The starter is made anew where it is unpickled.
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        data, opened = state.pop("_bytes", None), state.pop("_assets", None)
        self.__dict__.update(state)
        register_extensions(self.prefix, self.cui_scheme)
        self._reset()
        if data is not None:
            self.from_bytes(data)
        elif opened is not None:
            self._assets = opened.move(self.device)

    @property
    def _has_own_lexicon(self) -> bool:
        """Whether the lexicon is saved: not if there is none, or if the package has it."""
        return len(self.abbreviations) > 0 and not self.abbreviations.is_shipped

    @property
    def _is_referring(self) -> bool:
        """Whether saving refers to the assets: only what has a place of its own can be."""
        return not self.copy_assets and self.assets.keep_alive is None

    def _save_assets(self, path: Path) -> None:
        inside, reference = path / "assets", path / REFERENCE
        if not self._is_referring:
            self.assets.copy_to(inside)
            remove(reference)
        elif self.assets.path.resolve() != inside.resolve():
            with replacing_file(reference, _REFERENCE_FILE) as temporary:
                temporary.write_text(Reference.to(self.assets, path).dump(), encoding="utf-8")
            remove(inside)  # of an earlier saving

    def _saved_assets(self, path: Path) -> "Assets":
        from ...assets import Assets
        from ..sources import is_installed

        reference = path / REFERENCE
        if not reference.is_file():
            return Assets(path / "assets", is_installed(path))
        return Reference.parse(reference.read_text("utf-8"), path).open(path, self._named)

    @property
    def _named(self) -> str | None:
        """The assets that the config names; None where it names none."""
        return None if self.source == SAVED_ASSETS else self.source

    def _take_saved(self, assets: "Assets") -> None:
        from ...building.starter import is_starter

        self._take(assets)
        self._is_saved = True
        if self._named is None and not is_starter(assets):
            self._say_own_assets()

    def _reset(self) -> None:
        raise NotImplementedError

    def _take(self, assets: "Assets") -> None:
        raise NotImplementedError


def _unpacked(files: dict[str, bytes]) -> "Assets":
    from ...assets import Assets
    from ...util.files import OwnedDirectory

    directory = OwnedDirectory("spacy-medlink-")
    for name, content in files.items():
        target = directory.path / name
        if not target.resolve().is_relative_to(directory.path.resolve()):
            raise Errors.assets_incomplete(path="bytes", problem=f"a file named {name!r}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    assets = Assets(directory.path)
    assets.keep_alive = directory
    return assets

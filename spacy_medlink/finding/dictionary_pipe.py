"""A component that has a dictionary: opened when first needed, saved with it, shared by path."""

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from spacy.util import SimpleFrozenList

from ..component import PicklablePipe
from ..dictionary import Choice, make_dictionary
from ..files import link_or_copy, replacing_directory

if TYPE_CHECKING:
    from ..retrieval.exact import ExactIndex

Self = TypeVar("Self", bound="DictionaryPipe")


class DictionaryPipe(PicklablePipe):
    """Holds the part of an exact tier that a choice takes.

    source (Optional[str]): where the assets are, as `sources.open_assets` takes it.
    choice (Choice): what the dictionary holds.
    """

    def __init__(self, source: str | None, choice: Choice) -> None:
        self.source, self.choice = source, choice
        self._exact: ExactIndex | None = None
        self._path: Path | None = None
        self._unpacked = False  # whether the exact tier came as bytes
        self._lock = threading.Lock()

    @property
    def exact(self) -> "ExactIndex":
        """The exact tier, opened at the first use.

        RAISES (MedlinkError): E201-E204, E305 when it cannot be.
        """
        if self._exact is None:
            with self._lock:
                if self._exact is None:
                    self._exact = self._open()
        return self._exact

    def use(self, assets: str | Path) -> None:
        """Take the dictionary of other assets."""
        self.source = str(assets)
        self._exact = self._path = None
        self._unpacked = False

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> None:
        """Save the dictionary (the exact tier's arrays), whole or not at all.

        RAISES (MedlinkError): E109 when it cannot be written.
        """
        if "exact" not in exclude:
            # Beside, not in place: these may be the very files that are mapped.
            with replacing_directory(Path(path) / "exact") as directory:
                self._save(directory)

    def from_disk(
        self: Self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> Self:
        """Load the dictionary from a directory; its arrays are mapped where they are.

        RAISES (MedlinkError): E202 when it is not whole.
        """
        if "exact" not in exclude:
            from ..retrieval.exact import ExactIndex

            self._path, self._unpacked = Path(path) / "exact", False
            self._exact = ExactIndex.load(self._path)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = SimpleFrozenList()) -> bytes:
        """Save the dictionary as bytes."""
        return b"" if "exact" in exclude else self.exact.to_bytes()

    def from_bytes(self: Self, data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()) -> Self:
        """Load the dictionary from bytes."""
        if "exact" not in exclude and data:
            from ..retrieval.exact import ExactIndex

            self._path, self._exact = None, ExactIndex.from_bytes(data)
            self._unpacked = True
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_lock"]
        exact = state.pop("_exact")
        # Otherwise it is opened again by path: children then share the mapped pages.
        if exact is not None and self._unpacked:
            state["_bytes"] = exact.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = state.pop("_bytes", None)
        self.__dict__.update(state)
        self._lock = threading.Lock()
        self._exact = None
        if data is not None:
            self.from_bytes(data)

    def _save(self, directory: Path) -> None:
        exact = self.exact
        if self._path is None:
            exact.save(directory)
            return
        for file in sorted(self._path.iterdir()):  # large ones should not go through memory
            link_or_copy(file, directory / file.name)

    def _open(self) -> "ExactIndex":
        if self._path is not None:
            from ..retrieval.exact import ExactIndex

            return ExactIndex.load(self._path)
        from ..sources import open_assets

        assets = open_assets(self.source)
        if self.source is not None and not any(self.choice):
            self._path = assets.path / "exact"
        return make_dictionary(assets, self.choice)

"""A component that has a dictionary: opened when first needed, saved with it, shared by path."""

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from spacy.util import SimpleFrozenList
from spacy.util import from_bytes as unpack
from spacy.util import to_bytes as pack

from ..component import PicklablePipe
from ..dictionary import Choice, make_dictionary
from ..errors import Errors
from ..files import link_or_copy, replacing_directory

if TYPE_CHECKING:
    from ..retrieval.exact import ExactIndex
    from .name_facts import NameFacts

_EXACT, _FACTS = "exact", "facts"

Self = TypeVar("Self", bound="DictionaryPipe")


class DictionaryPipe(PicklablePipe):
    """Holds the part of an exact tier that a choice takes, and facts of its names if they are used.

    source (Optional[str]): where the assets are, as `sources.open_assets` takes it.
    choice (Choice): what the dictionary holds.
    label_by (Optional[str]): what names are labelled by, as `NameFacts.of` takes it.
    has_facts (bool): whether `facts` are used, and saved with the dictionary.
    """

    def __init__(
        self,
        source: str | None,
        choice: Choice,
        label_by: str | None = None,
        has_facts: bool = False,
    ) -> None:
        self.source, self.choice, self.label_by = source, choice, label_by
        self.has_facts = has_facts
        self._exact: ExactIndex | None = None
        self._facts: NameFacts | None = None
        self._path: Path | None = None
        self._is_saved = False  # whether the path is that of a saved component
        self._unpacked = False  # whether the exact tier came as bytes
        self._lock = threading.RLock()

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

    @property
    def facts(self) -> "NameFacts":
        """Labels and concepts of the names, opened at the first use.

        RAISES (MedlinkError): E201-E204, E305 when they cannot be, E302 when the dictionary was
            saved without them.
        """
        if self._facts is None:
            with self._lock:
                if self._facts is None:
                    self._facts = self._open_facts()
        return self._facts

    def use(self, assets: str | Path) -> None:
        """Take the dictionary of other assets."""
        self.source = str(assets)
        self._exact = self._facts = self._path = None
        self._is_saved = self._unpacked = False

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> None:
        """Save the dictionary (the exact tier's arrays), whole or not at all.

        RAISES (MedlinkError): E109 when it cannot be written.
        """
        if _EXACT not in exclude:
            # Beside, not in place: these may be the very files that are mapped.
            with replacing_directory(Path(path) / _EXACT) as directory:
                self._save(directory)
            if self.has_facts:
                facts = self.facts
                with replacing_directory(Path(path) / _FACTS) as directory:
                    facts.save(directory)

    def from_disk(
        self: Self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> Self:
        """Load the dictionary from a directory; its arrays are mapped where they are.

        RAISES (MedlinkError): E202 when it is not whole.
        """
        if _EXACT not in exclude:
            from ..retrieval.exact import ExactIndex

            self._path, self._unpacked, self._is_saved = Path(path) / _EXACT, False, True
            self._exact, self._facts = ExactIndex.load(self._path), None
        return self

    def to_bytes(self, *, exclude: Iterable[str] = SimpleFrozenList()) -> bytes:
        """Save the dictionary as bytes."""
        parts = {_EXACT: lambda: self.exact.to_bytes()}
        if self.has_facts:
            parts[_FACTS] = lambda: self.facts.to_bytes()
        return pack(parts, exclude) if _EXACT not in exclude else b""

    def from_bytes(self: Self, data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()) -> Self:
        """Load the dictionary from bytes."""
        if _EXACT not in exclude and data:
            from ..retrieval.exact import ExactIndex
            from .name_facts import NameFacts

            self._path, self._facts = None, None
            self._unpacked, self._is_saved = True, True

            def exact(part: bytes) -> None:
                self._exact = ExactIndex.from_bytes(part)

            def facts(part: bytes) -> None:
                self._facts = NameFacts.from_bytes(part)

            unpack(data, {_EXACT: exact, _FACTS: facts}, exclude)
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_lock"], state["_facts"]
        exact = state.pop("_exact")
        # Otherwise it is opened again by path: children then share the mapped pages.
        if exact is not None and self._unpacked:
            state["_bytes"] = self.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = state.pop("_bytes", None)
        self.__dict__.update(state)
        self._lock = threading.RLock()
        self._exact = self._facts = None
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
            self._path = assets.path / _EXACT
        return make_dictionary(assets, self.choice)

    def _open_facts(self) -> "NameFacts":
        from .name_facts import NameFacts

        if self._path is not None and (self._path.parent / _FACTS).is_dir():
            return NameFacts.load(self._path.parent / _FACTS)
        if self._is_saved:
            rule = "was not set when the dictionary was saved: name the assets again"
            name = "label_by" if self.label_by else "max_concepts"
            raise Errors.bad_setting(name=name, value=self.label_by, rule=rule)
        from ..sources import open_assets

        return NameFacts.of(open_assets(self.source), self.label_by)

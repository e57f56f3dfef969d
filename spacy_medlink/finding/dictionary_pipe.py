"""A component that has a dictionary: opened when first needed, saved with it, shared by path."""

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from spacy.util import SimpleFrozenList
from spacy.util import from_bytes as unpack
from spacy.util import to_bytes as pack

from ..component import PicklablePipe
from ..dictionary import Choice, make_dictionary
from ..errors import Errors
from ..files import link_or_copy, replacing_directory
from ..outputs import DirectoryKind, check_output

if TYPE_CHECKING:
    from ..retrieval.exact import ExactIndex
    from .name_facts import NameFacts

_EXACT, _FACTS = "exact", "facts"
_SAVED = DirectoryKind("the dictionary of a saved component")
_SAVED_FACTS = DirectoryKind("the facts of a saved dictionary")

Self = TypeVar("Self", bound="DictionaryPipe")


class DictionaryPipe(PicklablePipe):
    """Holds an exact tier, and facts of its names: which may be found, and how they are labelled.

    source (Optional[str]): where the assets are, as `sources.open_assets` takes it.
    choice (Choice): what may be found. lang (str): of the pipeline.
    label_by (Optional[str]): what names are labelled by, as `NameFacts.of` takes it.
    facts_for (str): name of the setting that cannot do without `facts`; "" where none is set.
    """

    def __init__(
        self,
        source: str | None,
        choice: Choice,
        lang: str,
        label_by: str | None = None,
        facts_for: str = "",
    ) -> None:
        self.source, self.choice, self.lang, self.label_by = source, choice, lang, label_by
        self.facts_for = facts_for
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
        """What is known of the names, opened at the first use.

        RAISES (MedlinkError): E201-E204, E305 when they cannot be, E302 when the dictionary was
            saved without what the settings ask for, or with other labels.
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
        """Save the dictionary (the exact tier's arrays and the facts), whole or not at all.

        RAISES (MedlinkError): E109 when it cannot be written, E120-E123 where something else has
            its names.
        """
        if _EXACT not in exclude:
            facts = self.facts  # which may be mapped from the very files
            check_output(Path(path) / _FACTS, _SAVED_FACTS)
            # Beside, not in place: these may be the very files that are mapped.
            with replacing_directory(Path(path) / _EXACT, _SAVED) as directory:
                self._save(directory)
            with replacing_directory(Path(path) / _FACTS, _SAVED_FACTS) as directory:
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
        parts = {_EXACT: lambda: self.exact.to_bytes(), _FACTS: lambda: self.facts.to_bytes()}
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
                found = NameFacts.from_bytes(part)
                self._facts = found if self.label_by in (None, found.by) else None

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
        if self.source is not None and not self.choice.any_order:
            self._path = assets.path / _EXACT
        return make_dictionary(assets, self.choice)

    def _open_facts(self) -> "NameFacts":
        from .name_facts import NameFacts

        if self._is_saved:
            return self._saved_facts()
        from ..sources import open_assets

        return NameFacts.of(open_assets(self.source), self.label_by, self.choice, self.lang)

    def _saved_facts(self) -> "NameFacts":
        from .name_facts import NameFacts

        directory = None if self._path is None else self._path.parent / _FACTS
        if directory is not None and directory.is_dir():
            facts = NameFacts.load(directory)
            if self.label_by in (None, facts.by):
                return facts
        elif not self.facts_for:  # saved by a version that kept what was chosen, and no facts
            return NameFacts(np.zeros(0, dtype=np.int32))
        value = getattr(self, self.facts_for)
        rule = "is not what it was when the dictionary was saved: name the assets again"
        raise Errors.bad_setting(name=self.facts_for, value=value, rule=rule)

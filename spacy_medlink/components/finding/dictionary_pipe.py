"""DictionaryPipe: a component with a dictionary, which is opened when first needed."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from spacy.util import SimpleFrozenList
from spacy.util import from_bytes as unpack
from spacy.util import to_bytes as pack

from ...assets.dictionary import Choice
from ...errors import Errors
from ...util.files import replacing_directory
from ...util.held import HeldFiles, files_in
from ...util.locks import ForkSafeLock
from ...util.outputs import DirectoryKind, check_output
from ..pipe import SAVED_ASSETS, DocPipe

if TYPE_CHECKING:
    from ...assets import Assets
    from ...retrieval.exact import ExactIndex
    from .name_facts import NameFacts

_EXACT, _FACTS = "exact", "facts"
_SAVED = DirectoryKind("the dictionary of a saved component")
_SAVED_FACTS = DirectoryKind("the facts of a saved dictionary")

Self = TypeVar("Self", bound="DictionaryPipe")


class DictionaryPipe(DocPipe):
    """A component with an exact tier and facts of its names: which may be found, with which label.

    source (Optional[str]): where the assets are, as `sources.open_assets` takes it.
    choice (Choice): what may be found. lang (str): of the pipeline.
    label_by (Optional[str]): the source of labels, as `NameFacts.of` takes it.
    """

    def __init__(
        self, source: str | None, choice: Choice, lang: str, label_by: str | None = None
    ) -> None:
        self.source, self.choice, self.lang, self.label_by = source, choice, lang, label_by
        self._exact: ExactIndex | None = None
        self._facts: NameFacts | None = None
        self._assets: Assets | None = None  # to make names and facts of, unless saved
        self._saved: HeldFiles | None = None  # the files that the exact tier was loaded from
        self._fingerprint = ""  # of the saved exact tier that was pickled
        self._path: Path | None = None
        self._is_saved = False  # whether the path is that of a saved component
        self._unpacked = False  # whether the exact tier came as bytes
        self._lock = ForkSafeLock()

    @property
    def exact(self) -> "ExactIndex":
        """The exact tier, opened at the first use.

        RAISES (MedlinkError): E201-E204 when it cannot be.
        """
        if self._exact is None:
            with self._lock:
                if self._exact is None:
                    self._exact = self._open()
        return self._exact

    @property
    def facts(self) -> "NameFacts":
        """The facts of the names, opened at the first use.

        RAISES (MedlinkError): E201-E204 when they cannot be, E302 when the dictionary was
            saved with other labels.
        """
        if self._facts is None:
            with self._lock:
                if self._facts is None:
                    self._facts = self._open_facts()
        return self._facts

    def use(self, assets: str | Path) -> None:
        """Take the dictionary of other assets."""
        if str(assets) != self.source:
            self._say_own_assets()
        self.source = str(assets)
        self._exact = self._facts = self._path = self._assets = None
        self._is_saved = self._unpacked = False

    def reload(self) -> None:
        """Open the assets, or the saved dictionary, again from the same place.

        RAISES (MedlinkError): E201-E204 when it cannot be opened; nothing changes then.
        """
        from .name_facts import NameFacts

        if self._unpacked:
            return
        with self._lock:
            if self._path is not None:
                self.from_disk(self._path.parent)
            elif self._assets is not None:
                assets = self._assets.reload()
                facts = NameFacts.of(assets, self.label_by, self.choice, self.lang)
                self._assets, self._exact, self._facts = assets, assets.exact, facts

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> None:
        """Save the dictionary (the exact tier's arrays and the facts), whole or not at all.

        RAISES (MedlinkError): E109 when it cannot be written, E120-E123 where something else has
            its names.
        """
        if _EXACT not in exclude:
            facts = self.facts  # read first: they may be mapped from the files to be replaced
            check_output(Path(path) / _FACTS, _SAVED_FACTS)
            # Not in place, since the old files may still be mapped.
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
            # Both at once: another dictionary may be saved at the place before they are used.
            exact, facts = self._load(Path(path))
            self._path, self._unpacked, self._is_saved = Path(path) / _EXACT, False, True
            self._exact, self._facts, self._assets = exact, facts, None
            self._say_if_own()
        return self

    def to_bytes(self, *, exclude: Iterable[str] = SimpleFrozenList()) -> bytes:
        """Save the dictionary as bytes."""
        parts = {_EXACT: lambda: self.exact.to_bytes(), _FACTS: lambda: self.facts.to_bytes()}
        return pack(parts, exclude) if _EXACT not in exclude else b""

    def from_bytes(self: Self, data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()) -> Self:
        """Load the dictionary from bytes."""
        if _EXACT not in exclude and data:
            from ...retrieval.exact import ExactIndex
            from .name_facts import NameFacts

            self._path, self._facts, self._assets = None, None, None
            self._unpacked, self._is_saved = True, True

            def exact(part: bytes) -> None:
                self._exact = ExactIndex.from_bytes(part)

            def facts(part: bytes) -> None:
                unpacked = NameFacts.from_bytes(part)
                self._facts = unpacked if self.label_by in (None, unpacked.by) else None

            unpack(data, {_EXACT: exact, _FACTS: facts}, exclude)
            self._say_if_own()
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_lock"], state["_facts"], state["_saved"]
        exact = state.pop("_exact")
        # Otherwise it is opened again by path: children then share the mapped pages.
        if exact is not None and self._unpacked:
            state["_bytes"] = self.to_bytes()
        elif exact is not None and self._path is not None:
            state["_fingerprint"] = exact.fingerprint()
        if self._assets is not None and self._assets.keep_alive is not None:
            state["_assets"] = None  # the starter is built again when it is unpickled
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = state.pop("_bytes", None)
        self.__dict__.update(state)
        self._lock = ForkSafeLock()
        self._exact = self._facts = self._saved = None
        if data is not None:
            self.from_bytes(data)

    def _say_if_own(self) -> None:
        """Mark the config where it does not name the dictionary, which is not the starter's."""
        from ...assets.starter import has_starter_names

        if self.source in (None, SAVED_ASSETS) and not has_starter_names(self.exact):
            self._say_own_assets()

    def _save(self, directory: Path) -> None:
        from ...retrieval.arrays import has_array
        from ...retrieval.name_texts import FIRST_ARRAY

        exact, files = self.exact, self._own_files()
        if files is None:
            exact.save(directory)
            exact.save_names(directory)
            return
        for name in files:  # as hard links if possible, so that large files are not copied
            files[name].put(directory / name)
        if not has_array(files, FIRST_ARRAY):
            exact.save_names(directory)

    def _own_files(self) -> "HeldFiles | None":
        """Get the files that hold the current dictionary; None where it is in no files."""
        if self._is_saved and self._saved is not None:
            return self._saved
        if self._assets is not None and self.source is not None:
            return self._assets.files_of(_EXACT)
        return None

    def _open(self) -> "ExactIndex":
        if self._path is not None:
            exact, self._facts = self._load(self._path.parent)
            if self._fingerprint and exact.fingerprint() != self._fingerprint:
                problem = "another dictionary was saved in place of the one that was pickled"
                raise Errors.assets_mismatch(path=self._path.parent, problem=problem)
            return exact
        return self._opened().exact

    def _opened(self) -> "Assets":
        if self._assets is None:
            from ..sources import open_assets

            self._assets = open_assets(self.source)
        return self._assets

    def _load(self, path: Path) -> "tuple[ExactIndex, NameFacts | None]":
        """Open the dictionary that was saved in a directory."""
        from ...retrieval.exact import ExactIndex
        from .name_facts import NameFacts

        try:
            self._saved = files_in(path / _EXACT, ".npy")
        except OSError as error:
            raise Errors.assets_incomplete(path=path, problem=f"{_EXACT}: {error}") from error
        exact = ExactIndex.load(self._saved)
        facts = NameFacts.load(path / _FACTS)
        return exact, facts if self.label_by in (None, facts.by) else None

    def _open_facts(self) -> "NameFacts":
        from .name_facts import NameFacts

        if self._is_saved:
            _ = self.exact  # opens both the exact tier and the facts
            if self._facts is not None:
                return self._facts
            rule = "is not what it was when the dictionary was saved: name the assets again"
            raise Errors.bad_setting(name="label", value=self.label_by, rule=rule)
        return NameFacts.of(self._opened(), self.label_by, self.choice, self.lang)

"""DictionaryPipe: a component with a dictionary, which is opened when first needed."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from spacy.util import SimpleFrozenList

from ...assets.dictionary import Choice
from ...errors import Errors
from ...retrieval.arrays import has_array
from ...retrieval.name_texts import FIRST_ARRAY
from ...types import Data
from ...util.files import OwnedDirectory, replacing_directory
from ...util.held import Held
from ...util.locks import ForkSafeLock
from ...util.outputs import DirectoryKind
from ..pipe import SAVED_ASSETS, DocPipe

if TYPE_CHECKING:
    from ...assets import Assets
    from ...retrieval.exact import ExactIndex
    from .name_facts import NameFacts

_EXACT = "exact"
_SAVED = DirectoryKind("the dictionary of a saved component")


class Dictionary(NamedTuple):
    """The names that are found: an exact tier, facts of its names, and its directory if it has one.

    owner (Optional[OwnedDirectory]): of the files, where they came as bytes.
    """

    exact: "ExactIndex"
    facts: "NameFacts"
    files: Held | None
    owner: OwnedDirectory | None = None

    @classmethod
    def load(cls, path: Path) -> "Dictionary":
        """Map the arrays of a saved component where they are.

        RAISES (MedlinkError): E202 when one is missing or damaged.
        """
        from ...retrieval.exact import ExactIndex
        from .name_facts import NameFacts

        try:
            files = Held(path / _EXACT)
        except OSError as error:
            raise Errors.assets_incomplete(path=path, problem=f"{_EXACT}: {error}") from error
        with files.reading() as directory:
            return cls(ExactIndex.load(directory), NameFacts.load(directory), files)

    def save(self, path: Path) -> None:
        """Save into the directory of a component, whole or not at all.

        RAISES (MedlinkError): E109 when it cannot be written, E120-E123 where something else has
            its name.
        """
        # Not in place, since the old files may still be mapped.
        with replacing_directory(path / _EXACT, _SAVED) as directory:
            if self.files is None:
                self.exact.save(directory)
            else:
                for file in self.files.source.glob("*.npy"):  # as hard links: they may be large
                    self.files.put(directory / file.name, file.name)
            if not has_array(directory, FIRST_ARRAY):
                self.exact.save_names(directory)
                self.facts.save(directory)


class DictionaryPipe(DocPipe):
    """A component with a dictionary: names, which of them may be found, and with which label.

    source (Optional[str]): where the assets are, as `sources.open_assets` takes it.
    choice (Choice): what may be found. lang (str): of the pipeline.
    label_by (Optional[str]): the source of labels, as `NameFacts.of` takes it.
    """

    def __init__(
        self, source: str | None, choice: Choice, lang: str, label_by: str | None = None
    ) -> None:
        self.source, self.choice, self.lang, self.label_by = source, choice, lang, label_by
        self._dictionary: Dictionary | None = None
        self._assets: Assets | None = None  # that the dictionary was made of, unless it was saved
        self._path: Path | None = None  # of the component that it was saved with
        self._fingerprint = ""  # of the saved exact tier, when the component was pickled
        self._lock = ForkSafeLock()

    @property
    def exact(self) -> "ExactIndex":
        """The exact tier, opened at the first use.

        RAISES (MedlinkError): E201-E204 when it cannot be.
        """
        return self._opened().exact

    @property
    def facts(self) -> "NameFacts":
        """The facts of the names, opened at the first use.

        RAISES (MedlinkError): E201-E204 when they cannot be, E302 when the dictionary was
            saved with other labels.
        """
        return self._opened().facts

    def use(self, assets: str | Path) -> None:
        """Take the dictionary of other assets."""
        if str(assets) != self.source:
            self._say_own_assets()
        self.source = str(assets)
        self._dictionary = self._assets = self._path = None

    def reload(self) -> None:
        """Open the assets, or the saved dictionary, again from the same place.

        RAISES (MedlinkError): E201-E204 when it cannot be opened; nothing changes then.
        """
        with self._lock:
            if self._path is not None:
                self.from_disk(self._path)
            elif self._assets is not None:
                assets = self._assets.reload()
                self._dictionary, self._assets = self._of(assets), assets

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> None:
        """Save the dictionary (arrays of the exact tier and of facts), whole or not at all.

        RAISES (MedlinkError): E109 when it cannot be written, E120-E123 where something else has
            its name.
        """
        if _EXACT not in exclude:
            self._opened().save(Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> Self:
        """Load the dictionary from a directory; its arrays are mapped where they are.

        RAISES (MedlinkError): E202 when it is not whole.
        """
        if _EXACT not in exclude:
            # At once: another dictionary may be saved at the place before it is used.
            self._take(Dictionary.load(Path(path)), Path(path))
        return self

    def _keep(self, owner: OwnedDirectory) -> None:
        if self._dictionary is not None and self._path == owner.path:
            self._dictionary, self._path = self._dictionary._replace(owner=owner), None

    def __getstate__(self) -> Data:
        state = self.__dict__.copy()
        del state["_lock"]
        dictionary = state.pop("_dictionary")
        # Otherwise it is opened again by path: children then share the mapped pages.
        if dictionary is not None and dictionary.owner is not None:
            state["_bytes"] = self.to_bytes()
        elif dictionary is not None and self._path is not None:
            state["_fingerprint"] = dictionary.exact.fingerprint()
        if self._assets is not None and self._assets.keep_alive is not None:
            state["_assets"] = None  # the starter is built again when it is unpickled
        return state

    def __setstate__(self, state: Data) -> None:
        data = state.pop("_bytes", b"")
        self.__dict__.update(state)
        self._lock, self._dictionary = ForkSafeLock(), None
        self.from_bytes(data)

    def _take(self, dictionary: Dictionary, path: Path) -> None:
        """Take a dictionary that was saved in a directory."""
        from ...assets.starter import has_starter_names

        self._dictionary, self._path, self._assets = dictionary, path, None
        # Mark the config where it does not name the dictionary, which is not the starter's.
        if self.source in (None, SAVED_ASSETS) and not has_starter_names(dictionary.exact):
            self._say_own_assets()

    def _opened(self) -> Dictionary:
        dictionary = self._dictionary
        if dictionary is None:
            with self._lock:
                if self._dictionary is None:
                    self._dictionary = self._open()
                dictionary = self._dictionary
        if self.label_by not in (None, dictionary.facts.by):
            rule = "is not what it was when the dictionary was saved: name the assets again"
            raise Errors.bad_setting(name="label", value=self.label_by, rule=rule)
        return dictionary

    def _open(self) -> Dictionary:
        if self._path is None:
            if self._assets is None:
                from ..sources import open_assets

                self._assets = open_assets(self.source)
            return self._of(self._assets)
        dictionary = Dictionary.load(self._path)
        if self._fingerprint and dictionary.exact.fingerprint() != self._fingerprint:
            problem = "another dictionary was saved in place of the one that was pickled"
            raise Errors.assets_mismatch(path=self._path / _EXACT, problem=problem)
        return dictionary

    def _of(self, assets: "Assets") -> Dictionary:
        from .name_facts import NameFacts

        name_facts = NameFacts.of(assets, self.label_by, self.choice, self.lang)
        files = None if self.source is None else assets.held.part(_EXACT)
        return Dictionary(assets.exact, name_facts, files)

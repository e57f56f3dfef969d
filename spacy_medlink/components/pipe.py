"""PicklablePipe, the base class of the components: state, bytes; batches of Docs."""

import re
import sys
import time
import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Self

import srsly
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span
from spacy.util import SimpleFrozenList

from ..errors import Errors, Warnings
from ..types import Data
from ..util.files import OwnedDirectory
from ..util.telling import tell
from .names import LINKER, MENTIONS

MUCH = 2048  # mentions: larger batches are not faster, and the reader waits longer
PATIENCE = 1.0  # seconds for which Docs are collected from a slow stream

# The config's value for assets that were loaded with a pipeline and have no path of their own.
SAVED_ASSETS = "saved with the pipeline"
_SPACY = Language.__module__
_SCRATCH = "spacy-medlink-"  # beginning of the names of temporary directories


class PicklablePipe(Pipe):
    """A Pipe that pickles through `__getstate__` and `__setstate__`.

    spaCy's Pipe is a Cython class. Its generated `__reduce__` copies the `__dict__` and ignores
    `__getstate__`, so it would also pickle locks and open files.
    """

    name: str
    _home: "weakref.ref[Language] | None" = None
    _order: tuple[object, object] | None = None  # names and `spans_key` that were checked last

    def set_home(self, nlp: Language) -> None:
        """Remember the pipeline, whose config `_say_own_assets` changes."""
        self._home = weakref.ref(nlp)

    def home(self) -> Language | None:
        """Get the pipeline that runs this component, else the last that is known, or None.

        A component that was sourced is the same object in two pipelines, and spaCy tells it of
        neither: what calls it is the only one that knows.
        """
        frame = sys._getframe(1)
        while frame.f_back is not None:
            frame = frame.f_back
            nlp = frame.f_locals.get("self") if frame.f_globals.get("__name__") == _SPACY else None
            if isinstance(nlp, Language):
                for _, pipe in nlp.components:
                    if pipe is self:
                        return nlp
        return self._home() if self._home is not None else None

    def _shown(self) -> Mapping[str, object]:
        """Say what it works with, for `repr` and for a notebook."""
        return {}

    def __repr__(self) -> str:
        shown = "".join(f", {name}={value}" for name, value in self._shown().items())
        return f"{type(self).__name__}({self.name!r}{shown})"

    def _repr_html_(self) -> str:
        cells = {"name": self.name, **self._shown()}.items()
        rows = (f"<tr><th>{name}</th><td>{escape(str(value))}</td></tr>" for name, value in cells)
        return f"<table><caption>{type(self).__name__}</caption>{''.join(rows)}</table>"

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not re.match("_[^_]", name)]

    def _check_order(self, spans_key: str | Sequence[str] | None, is_empty: bool) -> None:
        """Warn of mentions that this component does not see: written elsewhere, or found too late.

        spans_key (Optional[Sequence[str]]): the span groups that it reads; None for `doc.ents`.
        is_empty (bool): whether nothing that it reads has been found yet. If not, a component that
            is not ours may change what was found, and only `medical_mentions` counts.
        """
        nlp = self.home()
        if nlp is None or (nlp.pipe_names, spans_key) == self._order:
            return
        self._order = [*nlp.pipe_names], spans_key
        pipes = [(nlp.get_pipe_meta(name), name, pipe) for name, pipe in nlp.pipeline]
        place = next((row for row, (*_, pipe) in enumerate(pipes) if pipe is self), None)
        if place is None:
            return
        own, name, _ = pipes[place]
        same = [row for row, (meta, *_) in enumerate(pipes) if meta.factory == own.factory]
        read = set[str | None]().union(*(_groups_of(pipes[row][2]) for row in same))
        for meta, other, pipe in pipes[:place]:
            if meta.factory == MENTIONS and read.isdisjoint(_groups_of(pipe)):
                tell(Warnings.other_spans_key.format(other=other, name=name))
        if same[-1] > place:
            return  # a second one reads what is found in between
        assigned = "doc.ents" if spans_key is None else "doc.spans"
        for meta, other, pipe in pipes[place + 1 :]:
            if meta.factory == MENTIONS:
                is_late = not _groups_of(self).isdisjoint(_groups_of(pipe))
            else:
                is_late = is_empty and assigned in meta.assigns and meta.factory != LINKER
            if is_late:
                tell(Warnings.found_too_late.format(later=other, name=name, factory=meta.factory))

    def _say_own_assets(self) -> None:
        """Write into the pipeline's config that this component has assets of its own.

        Else a pipeline made from the config alone would use the built-in starter instead.
        """
        self._say("assets", SAVED_ASSETS)

    def _say(self, setting: str, value: str) -> None:
        """Write a setting into the pipeline's config."""
        nlp = self.home()
        if nlp is None:
            return
        for name, component in nlp.components:
            if component is self:
                nlp.get_pipe_config(name)[setting] = value

    @abstractmethod
    def to_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> None:
        """Save into a directory."""

    @abstractmethod
    def from_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> Self:
        """Load from a directory."""

    def _keep(self, owner: OwnedDirectory) -> None:
        """Keep a temporary directory as long as what was loaded from it."""

    def to_bytes(self, *, exclude: Iterable[str] = SimpleFrozenList()) -> bytes:
        """Save as bytes: the files that `to_disk` writes; b"" for none."""
        owner = OwnedDirectory(_SCRATCH)
        self.to_disk(owner.path, exclude=exclude)
        paths = sorted(path for path in owner.path.rglob("*") if path.is_file())
        files = {path.relative_to(owner.path).as_posix(): path.read_bytes() for path in paths}
        data: bytes = srsly.msgpack_dumps(files) if files else b""
        return data

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()) -> Self:
        """Load from bytes: the files go to a temporary directory that lives as long as they do.

        RAISES (MedlinkError): E164 when it cannot be made, and as `from_disk`.
        """
        if data:
            owner = unpacked(srsly.msgpack_loads(data))
            self.from_disk(owner.path, exclude=exclude)
            self._keep(owner)
        return self

    def __reduce__(self) -> tuple[Callable[..., "PicklablePipe"], tuple[Any, ...]]:
        state = self.__getstate__()
        state.pop("_home", None)  # a pipeline is no part of its components
        return _rebuild, (type(self), self.name, state)

    def __getstate__(self) -> Data:
        return self.__dict__.copy()

    def __setstate__(self, state: Data) -> None:
        self.__dict__.update(state)


class DocPipe(PicklablePipe):
    """A component that annotates one Doc after the other."""

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one Doc, in place."""
        for _ in self.pipe([doc]):
            pass
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate a stream of Docs; those that fail go to the error handler alone."""
        for doc in stream:
            try:
                self._annotate(doc)
            except Exception as error:
                self.get_error_handler()(self.name, self, [doc], error)
            else:
                yield doc

    @abstractmethod
    def _annotate(self, doc: Doc) -> None: ...


def batches(stream: Iterable[Doc], size: int, weigh: Callable[[Doc], int]) -> Iterator[list[Doc]]:
    """Cut a stream of Docs into batches; those read before the stream raises an error come, too.

    size (int): Docs of a batch, at most. weigh (Callable): returns the amount of work of a Doc; a
        batch ends when the sum reaches MUCH.
    """
    batch, weight, late = list[Doc](), 0, time.monotonic() + PATIENCE
    try:
        for doc in stream:
            batch.append(doc)
            weight += weigh(doc)
            if len(batch) >= size or weight >= MUCH or time.monotonic() >= late:
                yield batch
                batch, weight, late = [], 0, time.monotonic() + PATIENCE
    except Exception:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _groups_of(pipe: object) -> set[str | None]:
    """List the span groups that a component of ours reads or writes; None for `doc.ents`."""
    spans_key = getattr(pipe, "spans_key", None)
    ents = {None} if getattr(pipe, "annotate_ents", False) else set()
    return ents | ({*spans_key} if isinstance(spans_key, list) else {spans_key})


def add_to_group(doc: Doc, key: str, spans: Sequence[Span]) -> None:
    """Add spans to a span group beside those that are there; what is there already stays alone."""
    if key not in doc.spans:
        doc.spans[key] = spans
        return
    group = doc.spans[key]
    present = {(span.start, span.end, span.label) for span in group}
    group.extend([span for span in spans if (span.start, span.end, span.label) not in present])


def unpacked(files: Mapping[str, bytes]) -> OwnedDirectory:
    """Write files that came as bytes into a temporary directory.

    RAISES (MedlinkError): E202 for a name that leads out of it.
    """
    owner = OwnedDirectory(_SCRATCH)
    for name, content in files.items():
        target = owner.path / name
        if not target.resolve().is_relative_to(owner.path.resolve()):
            raise Errors.assets_incomplete(path="bytes", problem=f"a file named {name!r}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return owner


def _rebuild(cls: type[PicklablePipe], name: str, state: Data) -> PicklablePipe:
    component = cls.__new__(cls)
    component.name = name
    component.__setstate__(state)
    return component

"""What the components have in common: they pickle by what their state says, and work in batches."""

import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from spacy.pipeline import Pipe
from spacy.tokens import Doc

if TYPE_CHECKING:
    from spacy.language import Language

Finish = Callable[[Doc], None]

MUCH = 2048  # mentions: more of them together are not faster, and whoever reads waits longer
PATIENCE = 1.0  # seconds for which Docs are collected from a slow stream

# What a config says of assets that were loaded with a pipeline: it can name them by no path.
SAVED_ASSETS = "saved with the pipeline"


class PicklablePipe(Pipe):
    """A Pipe that pickles through `__getstate__` and `__setstate__`.

    spaCy's Pipe is a Cython class, whose generated `__reduce__` copies the `__dict__` as it is and
    never asks `__getstate__`: locks and open files would be pickled with it.
    """

    name: str
    _home: "weakref.ref[Language] | None" = None

    def set_home(self, nlp: "Language") -> None:
        """Remember the pipeline, whose config `_say_own_assets` changes."""
        self._home = weakref.ref(nlp)

    def home(self) -> "Language | None":
        """Get the pipeline; None where it is not known, or is gone."""
        return self._home() if self._home is not None else None

    def _say_own_assets(self) -> None:
        """Let the pipeline's config say that this component has assets of its own.

        A pipeline made of the config alone would else take the built-in starter in their place.
        """
        nlp = self.home()
        if nlp is None:
            return
        for name, component in nlp.components:
            if component is self:
                nlp.get_pipe_config(name)["assets"] = SAVED_ASSETS

    def __reduce__(self) -> tuple[Callable[..., "PicklablePipe"], tuple[Any, ...]]:
        state = self.__getstate__()
        state.pop("_home", None)  # a pipeline is no part of its components
        return _rebuild, (type(self), self.name, state)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _in_batches(
        self,
        stream: Iterable[Doc],
        size: int,
        work: Callable[[list[Doc]], Finish | None],
        weigh: Callable[[Doc], int] = lambda doc: 0,
    ) -> Iterator[Doc]:
        """Work on the Docs of a stream, so many at a time; those that fail are not passed on.

        size (int): Docs at a time, at most. weigh (Callable): says how much work a Doc is; there
            are fewer at a time where that is MUCH.
        work (Callable): on a batch. What it returns, if anything, is called with each Doc in turn
            when it is passed on, so that no more is written than what somebody wants to read.
        """
        docs, waiting = iter(stream), list[list[Doc]]()
        while waiting or (batch := _batch(docs, size, weigh)):
            own = waiting.pop() if waiting else batch
            try:
                finish = work(own)
                while own:
                    if finish is not None:
                        finish(own[0])
                    # Let go at once: a batch that held on to what was passed on would make the
                    # garbage collector go through all of it, time and again.
                    yield own.pop(0)
            except Exception as error:
                if len(own) == 1:
                    self.get_error_handler()(self.name, self, own, error)
                else:  # one by one, so that only the bad ones are lost
                    waiting = [[doc] for doc in reversed(own)]


def _batch(docs: Iterator[Doc], size: int, weigh: Callable[[Doc], int]) -> list[Doc]:
    """Take the next Docs: enough to work on together, or those that a slow stream has brought."""
    batch, weight = list[Doc](), 0
    late = time.monotonic() + PATIENCE
    for doc in docs:
        batch.append(doc)
        weight += weigh(doc)
        if len(batch) >= size or weight >= MUCH or time.monotonic() >= late:
            break
    return batch


def _rebuild(cls: type[PicklablePipe], name: str, state: dict[str, Any]) -> PicklablePipe:
    component = cls.__new__(cls)
    component.name = name
    component.__setstate__(state)
    return component

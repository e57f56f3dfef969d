"""What the components have in common: they pickle by what their state says, and work in batches."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from spacy.pipeline import Pipe
from spacy.tokens import Doc

Finish = Callable[[Doc], None]


class PicklablePipe(Pipe):
    """A Pipe that pickles through `__getstate__` and `__setstate__`.

    spaCy's Pipe is a Cython class, whose generated `__reduce__` copies the `__dict__` as it is and
    never asks `__getstate__`: locks and open files would be pickled with it.
    """

    name: str

    def __reduce__(self) -> tuple[Callable[..., "PicklablePipe"], tuple[Any, ...]]:
        return _rebuild, (type(self), self.name, self.__getstate__())

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _in_batches(
        self, stream: Iterable[Doc], size: int, work: Callable[[list[Doc]], Finish | None]
    ) -> Iterator[Doc]:
        """Work on the Docs of a stream, so many at a time; those that fail are not passed on.

        work (Callable): on a batch. What it returns, if anything, is called with each Doc in turn
            when it is passed on, so that no more is written than what somebody wants to read.
        """
        docs = iter(stream)
        while batch := list(islice(docs, size)):
            yield from self._together(batch, work)

    def _together(
        self, docs: list[Doc], work: Callable[[list[Doc]], Finish | None]
    ) -> Iterator[Doc]:
        """Work on Docs together; if that fails, one by one, so that only the bad ones are lost."""
        try:
            finish = work(docs)
            while docs:
                if finish is not None:
                    finish(docs[0])
                # Let go at once: a batch that held on to what was passed on would make the garbage
                # collector go through all of it, time and again.
                yield docs.pop(0)
        except Exception as error:
            if len(docs) == 1:
                self.get_error_handler()(self.name, self, docs, error)
                return
        for doc in docs:
            yield from self._together([doc], work)


def _rebuild(cls: type[PicklablePipe], name: str, state: dict[str, Any]) -> PicklablePipe:
    component = cls.__new__(cls)
    component.name = name
    component.__setstate__(state)
    return component

"""What the components have in common: they pickle by what their state says."""

from collections.abc import Callable
from typing import Any

from spacy.pipeline import Pipe


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


def _rebuild(cls: type[PicklablePipe], name: str, state: dict[str, Any]) -> PicklablePipe:
    component = cls.__new__(cls)
    component.name = name
    component.__setstate__(state)
    return component

"""Imports that take seconds and may never be needed: done late, or waited for."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def names_from(package: str, **module_of: str) -> Callable[[str], Any]:
    """Make the `__getattr__` of a package whose names are imported when they are asked for.

    module_of: the module of each name, relative to the package. It may not have the same name.
    """

    def imported(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{module_of[name]}", package), name)

    return imported


def call_after_import(name: str, call: Callable[[], None]) -> None:
    """Call a function at once if a module is imported already, else right after its import."""
    if name in sys.modules:
        call()
    else:
        sys.meta_path.insert(0, _Finder(name, call))


class _Finder:
    """Leaves finding the module to the others, and looks in on its execution."""

    def __init__(self, name: str, call: Callable[[], None]) -> None:
        self._name, self._call = name, call

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._name or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self._call()

        # Of this one loader, not of its class: no other import is changed.
        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

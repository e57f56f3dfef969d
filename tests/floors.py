"""Prints the lowest versions that setup.cfg allows, as constraints, for extras such as torch,serve.

The tools of the tests have their pins, and so has torch, whose lowest version comes for machines
with a GPU only.
"""

import sys

from tests import declared

_PINNED = (
    *("httpx", "hypothesis", "jsonschema", "packaging", "pytest", "pytest-timeout"),
    *("pytest-xdist", "setuptools", "torch", "wheel"),
)


def floors(*extras: str) -> list[str]:
    """The requirements of the package and of extras, each at its lowest version."""
    lowest = {
        one.name: next(part.version for part in one.specifier if part.operator == ">=")
        for one in declared.requirements(*extras)
        if one.name not in _PINNED
    }
    pins = [one for one in declared.pins() if one.name in _PINNED]
    return [*(f"{name}=={version}" for name, version in lowest.items()), *map(str, pins)]


if __name__ == "__main__":
    print("\n".join(floors(*sys.argv[1].split(","))))

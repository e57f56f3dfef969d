"""Sides: what registers itself by an entry point, so that the core need not import it.

`medlink_readers` are terminology formats, `medlink_layouts` tables of known publishers,
`medlink_foreign` what recognises files, `medlink_checks` what finds their problems,
`medlink_maps` mapping sets, `medlink_formats` and `medlink_gold` formats of other tools, out and
in, `medlink_verbs` verbs of the command line. A package of a user's own may register more.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ..errors import Errors


def names(group: str) -> list[str]:
    """List what is registered in a group, sorted."""
    return sorted(_registered(group))


def load(group: str, name: str, what: str) -> Any:
    """Import what is registered under a name. what (str): what it is, for the message.

    RAISES (MedlinkError): E108 where there is no such name, or its package is not installed.
    """
    loaded = load_if_there(group, name)
    if loaded is None:
        raise Errors.unknown_choice(what=what, value=name, known=", ".join(names(group)))
    return loaded


def load_if_there(group: str, name: str) -> Any | None:
    """Import what is registered under a name; None where that name or its module is missing."""
    entry = _registered(group).get(name)
    if entry is None:
        return None
    try:
        return entry.load()
    except ModuleNotFoundError as error:
        if error.name is not None and f"{entry.module}.".startswith(f"{error.name}."):
            return None  # the side was left out of this installation
        raise


@cache
def _registered(group: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=group)}

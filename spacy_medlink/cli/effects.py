"""Reports of lines without effect, for the command line."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..types import Facts

if TYPE_CHECKING:
    from ..kb.curation import NoEffect


def effect_report(what: str, no_effect: "NoEffect") -> Iterator[str]:
    """Report which lines had no effect and why, a line for each reason.

    what (str): the name of the file, or of the kind of lines.
    """
    for reason, lines_of in no_effect.items():
        count, lines = lines_of["count"], lines_of["lines"]
        numbers = ", ".join(map(str, lines)) + (", ..." if count > len(lines) else "")
        yield f"{what}: {count:,} without effect, {reason} (line {numbers})"


def memory_report(memory: Facts) -> Iterator[str]:
    """Report the size of the memory, and mentions that had no effect.

    memory (Mapping): "memory" of a manifest.
    """
    nil = memory.get("nil", 0)
    none = f"{nil:,} of them no concept; " if nil else ""
    yield (
        f"memory: {memory['mentions']:,} mentions, {none}{memory['conflicts']:,} of them disputed; "
        f"{memory['not_in_kb']:,} have no concept here"
    )
    for source in memory["sources"]:
        yield from effect_report(source["name"], source.get("no_effect", {}))


def curation_report(name: str, curation: Facts) -> Iterable[str]:
    """Report the rules that changed nothing.

    name (str): of the file. curation (Mapping): "curation" of the manifest of a knowledge base.
    """
    rules = curation["rules"]
    used = sum(rule["applied"] > 0 for rule in rules)
    yield f"{name}: {len(rules):,} rules, {used:,} of them changed something"
    yield from effect_report(name, curation["no_effect"])
    for id in curation["emptied"]:
        yield f"{name}: {id} has lost its last name and is left out"

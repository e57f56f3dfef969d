"""`medlink kb info`: what a knowledge base holds and where it comes from."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .kb_summary import counted
from .opening import open_kb
from .output import echo_json, table

_FACTS = ("source", "format", "version", "id_scheme", "concepts", "names", "retired")


def command(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base, or assets.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole manifest.")] = False,
    check: Annotated[
        bool, typer.Option("--verify", help="Read everything and check that it is whole.")
    ] = False,
) -> None:
    """Describe a knowledge base."""
    facts = describe_knowledge_base(kb=kb, check=check)
    if as_json:
        echo_json(facts)
        return
    rows = [(name, _text(facts[name])) for name in _FACTS if facts.get(name) not in (None, "")]
    rows.append(("size", f"{facts['bytes'] / 1e6:,.1f} MB"))
    rows += [
        (title, counted(facts[name]))
        for title, name in (
            ("languages", "by_lang"), ("vocabularies", "by_source"), ("codes", "by_vocabulary"),
            ("relations", "by_relation"),
        )
        if facts.get(name)
    ]  # fmt: skip
    rows += [(f"filter {name}", _text(value)) for name, value in facts.get("filters", {}).items()]
    if check:
        rows.append(("verified", "yes: the file is whole"))
    typer.echo(table(rows))


def describe_knowledge_base(*, kb: Path, check: bool = False) -> dict[str, Any]:
    """Read what a knowledge base says of itself.

    check (bool): read everything and check that it is whole.
    RETURNS (Dict[str, Any]): the manifest, with "path", "bytes" and "by_vocabulary", the number of
        concepts that have codes of each.
    RAISES (MedlinkError): E101-E103 when it cannot be opened, E102 when it is damaged.
    """
    from ..kb.verify import verify

    base = open_kb(kb)
    if check:
        verify(base)
    size = base.path.stat().st_size
    return {
        "path": str(kb), "bytes": size, **base.manifest, "by_vocabulary": base.count_codes(),
    }  # fmt: skip


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, list):
        return f"{len(value):,} entries" if len(value) > 10 else ", ".join(map(str, value))
    return str(value)

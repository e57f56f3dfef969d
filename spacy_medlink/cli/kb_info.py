"""`medlink kb info`: describes the content and the sources of a knowledge base."""

from pathlib import Path
from typing import Annotated

import typer

from ..types import Data
from .opening import open_kb
from .output import echo_json, table
from .reports import counted

_DIMENSIONS = (384, 768)  # of MiniLM, and of BERT and its descendants
_FACTS = ("source", "format", "version", "id_scheme", "concepts", "names", "retired")


def command(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base, or assets.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole manifest.")] = False,
    check: Annotated[
        bool, typer.Option("--verify", help="Read the whole file and check that it is intact.")
    ] = False,
) -> None:
    """Describe a knowledge base."""
    description = _describe(kb, check)
    if as_json:
        echo_json(description)
        return
    rows = [
        (name, _text(description[name]))
        for name in _FACTS
        if description.get(name) not in (None, "")
    ]
    rows.append(("size", f"{description['bytes'] / 1e6:,.1f} MB"))
    rows += [
        (title, counted(description[name]))
        for title, name in (
            ("languages", "by_lang"), ("vocabularies", "by_source"), ("codes", "by_vocabulary"),
            ("relations", "by_relation"),
        )
        if description.get(name)
    ]  # fmt: skip
    rows += [
        (f"filter {name}", _text(value)) for name, value in description.get("filters", {}).items()
    ]
    rows.append(("its vectors", _vectors(description["names"])))
    if check:
        rows.append(("verified", "yes: all is whole"))
    typer.echo(table(rows))


def _describe(kb: Path, check: bool) -> Data:
    """Read the manifest, size, and the number of concepts with codes of each vocabulary."""
    from ..components.sources import assets_in
    from ..kb.browse import verify

    base = open_kb(kb)
    if check:
        verify(base)
        for assets in assets_in(kb):
            assets.verify()
    size = base.path.stat().st_size
    return {
        "path": str(kb), "bytes": size, **base.manifest, "by_vocabulary": base.count_codes(),
    }  # fmt: skip


def _vectors(names: int) -> str:
    """Report the size of an index over the names for the most common encoders."""
    from ..retrieval.index_size import default_size

    sizes = [(dim, default_size(names, dim)) for dim in _DIMENSIONS]
    return "; ".join(
        f"{dim} dimensions {size.spec}: {size.memory / 1e6:,.0f} MB in memory, "
        f"{size.disk / 1e6:,.0f} MB on disk"
        for dim, size in sizes
    )


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, list):
        return f"{len(value):,} entries" if len(value) > 10 else ", ".join(map(str, value))
    return str(value)

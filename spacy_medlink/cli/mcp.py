"""`medlink mcp`: gives an assistant the terminology as tools."""

from typing import Annotated

import typer

from .opening import AUTO, Device, Source


def command(
    source: Source,
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="Answer by HTTP at this port of this machine, not on stdin."
        ),
    ] = None,
    lang: Annotated[str, typer.Option(help="Language of the texts, for assets: en, es.")] = "en",
    device: Device = AUTO,
) -> None:
    """Give an assistant tools that link text and check codes (MCP).

    Nothing is written, and no text leaves this machine by us; what the assistant does with an
    answer is its own affair.
    """
    from ..serve.mcp import serve
    from ..serve.terminology import Opening

    serve(Opening(source, lang, device), port)

"""`medlink serve` and `mcp`: the HTTP service with its page, and the tools of an assistant."""

from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import spacy_medlink

from ...cli.opening import AUTO, Device, Source
from ...errors import Errors, MedlinkError

if TYPE_CHECKING:
    from fastapi import FastAPI

_SHORTEST = 16  # characters of a token


def command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="ASSETS_OR_PIPELINE",
            help="Assets, saved pipelines, packages or starter; NAME=SOURCE gives one a name.",
        ),
    ],
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on. Any address but this machine's own needs a token."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8080,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another host name for this machine that requests may use."),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="File with the token that requests must send.")
    ] = None,
    corrections: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FILE",
            help="Gold file that stores corrections made on the page. They take effect at once, "
            "for the first terminology or for NAME=FILE.",
        ),
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option(
            metavar="GOLD",
            help="Gold file with texts to review. The page shows first what teaches most, and "
            "writes corrections of the first terminology into the file.",
        ),
    ] = None,
    lang: Annotated[str, typer.Option(help="Language of the texts, for assets: en, es.")] = "en",
    device: Device = AUTO,
) -> None:
    """Run a web service: a page to read linked notes, and an HTTP API for programs.

    No text is logged or kept, except the sentences of corrected mentions (--corrections).
    """
    token = _read_token(token_file) if token_file is not None else ""
    if not (token or _is_loopback(host)):
        raise Errors.open_to_others(host=host)
    from ..serve import CorrectionFile, Desk, Limits, make_app, server  # before a process starts

    _ = server
    desks, named = [], _named(sources)
    files, notes, first = _files(corrections or [], list(named)), list[str](), next(iter(named))
    if review is not None:
        if first in files:
            raise typer.BadParameter(f"{first} has --corrections already", param_hint="--review")
        files[first], notes = review, texts_of(review)
    for name, source in named.items():
        file = CorrectionFile(files[name]) if name in files else None
        of_desk = notes if name == first else ()
        desks.append(Desk(name, source, lang, device, corrections=file, notes=of_desk))
    hosts = ["localhost", "127.0.0.1", "[::1]", host, *(allow_host or [])]
    length = max([Limits().length, *map(len, notes)])
    app = make_app(desks, Limits(length=length), token, hosts)
    listen(app, host, port)


def mcp_command(
    source: Source,
    port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            help="Serve HTTP on this port of this machine instead of standard input.",
        ),
    ] = None,
    lang: Annotated[str, typer.Option(help="Language of the texts, for assets: en, es.")] = "en",
    device: Device = AUTO,
) -> None:
    """Give an assistant tools that link text and check codes (MCP)."""
    from ..serve.mcp import make_server
    from ..serve.terminology import Opening

    server = make_server(Opening(source, lang, device))
    if port is None:
        server.run()
    else:
        server.run("streamable-http", host="127.0.0.1", port=port, json_response=True)


def texts_of(gold: Path) -> list[str]:
    """Read the texts to review; sentences of corrections only where there are no others.

    RAISES (MedlinkError): E107, E401 as `read_gold`, E160 for another file, the error of no text.
    """
    from ..serve import CorrectionFile

    if not gold.is_file():
        raise Errors.source_missing(path=gold)
    done = {document["doc_id"] for document in CorrectionFile(gold).corrections()}
    texts: dict[str, bool] = {}
    try:
        for document in spacy_medlink.read_gold(gold):
            if document.text:
                is_done = texts.get(document.text, True) and document.doc_id in done
                texts[document.text] = is_done
    except MedlinkError as error:
        if error.code != Errors.no_gold(path=gold).code:  # there are texts, at least
            raise
    notes = [text for text, is_done in texts.items() if not is_done] or [*texts]
    if not notes:
        raise Errors.nothing_there(
            path=gold,
            what="text to review",
            remedy='Give a gold file with documents; their "mentions" may be empty.',
        )
    return notes


def listen(app: "FastAPI", host: str, port: int) -> None:
    """Answer at an address until stopped."""
    from ..serve.server import make_server

    server = make_server(app, host, port)
    socket = server.config.bind_socket()
    socket.listen()  # a browser that comes before the server has to wait, and is not refused
    name, bound_port = f"[{host}]" if ":" in host else host, socket.getsockname()[1]
    typer.echo(f"http://{name}:{bound_port} has the page.", err=True)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[socket])


def _named(sources: list[str]) -> dict[str, str]:
    """Name each source, by the text before "=" or by its file."""
    named: dict[str, str] = {}
    for given in sources:
        name, equals, source = given.partition("=")
        if not equals or Path(given).exists():
            name, source = Path(given).name.removesuffix(".assets") or given, given
        while name in named:
            name += "'"
        named[name] = source
    return named


def _files(given: list[str], names: list[str]) -> dict[str, Path]:
    """Map terminologies to files of corrections: `NAME=FILE`, or FILE for the first terminology."""
    files: dict[str, Path] = {}
    for value in given:
        name, equals, file = value.partition("=")
        if not equals or name not in names:
            name, file = names[0], value
        if not file or name in files:
            raise typer.BadParameter("one file for each terminology", param_hint="--corrections")
        files[name] = Path(file)
    return files


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read_token(path: Path) -> str:
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Errors.bad_token_file(path=path) from error
    if len(token) < _SHORTEST or not token.isascii():
        raise Errors.bad_token_file(path=path)
    return token

"""The command `medlink`. Each verb has a file with a typer function that calls a working function.

Exit codes: 0 done, 1 the input or the assets are bad (the message says what and how to repair it),
2 usage, 130 interrupted. Modules of this package import large packages inside functions, so that
`--help` is quick.
"""

from typing import Annotated

import typer

from .annotate import command as annotate_command
from .build import command as build_command
from .evaluate import command as evaluate_command
from .failures import ReportingGroup
from .import_scispacy import command as import_scispacy_command
from .kb_add_mentions import command as kb_add_mentions_command
from .kb_build import command as kb_build_command
from .kb_diff import command as kb_diff_command
from .kb_info import command as kb_info_command
from .kb_search import command as kb_search_command
from .kb_show import command as kb_show_command
from .learn import command as learn_command
from .link import command as link_command
from .map import command as map_command
from .mcp import command as mcp_command
from .report import command as report_command
from .serve import command as serve_command
from .verb import Verb

app = typer.Typer(
    name="medlink",
    cls=ReportingGroup,
    help="Link medical mentions in text to concepts of a terminology.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
kb_app = typer.Typer(
    name="kb",
    help="Build and look into knowledge bases.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
import_app = typer.Typer(
    name="import",
    help="Bring what another tool uses.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(kb_app)
app.add_typer(import_app)
import_app.command("scispacy-kb", cls=Verb)(import_scispacy_command)
kb_app.command("build", cls=Verb)(kb_build_command)
kb_app.command("add-mentions", cls=Verb)(kb_add_mentions_command)
kb_app.command("info", cls=Verb)(kb_info_command)
kb_app.command("show", cls=Verb)(kb_show_command)
kb_app.command("search", cls=Verb)(kb_search_command)
kb_app.command("diff", cls=Verb)(kb_diff_command)
app.command("build", cls=Verb)(build_command)
app.command("learn", cls=Verb)(learn_command)
app.command("link", cls=Verb)(link_command)
app.command("map", cls=Verb)(map_command)
app.command("annotate", cls=Verb)(annotate_command)
app.command("evaluate", cls=Verb)(evaluate_command)
app.command("report", cls=Verb)(report_command)
app.command("serve", cls=Verb)(serve_command)
app.command("mcp", cls=Verb)(mcp_command)


def _say_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"medlink {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; the entry point `medlink`."""
    app()

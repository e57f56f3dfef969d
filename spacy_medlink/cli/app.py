"""The command `medlink`. Each verb has a typer function that calls a working function.

Exit codes: 0 done, 1 the input or the assets are bad (the message says what and how to repair it),
2 usage, 130 interrupted. Modules of this package import large packages inside functions, so that
`--help` is quick.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from .. import __version__
from ..util import sides
from .annotate import command as annotate_command
from .build import command as build_command
from .evaluate import command as evaluate_command
from .evaluate import report_command
from .kb_build import add_mentions_command
from .kb_build import command as kb_build_command
from .kb_info import command as kb_info_command
from .kb_show import command as kb_show_command
from .kb_show import search_command
from .learn import command as learn_command
from .link import command as link_command
from .runner import ReportingGroup, Verb

_HELP = (
    "Link medical mentions in text to concepts of a terminology.\n\n"
    'First, with the built-in terminology: medlink link starter "No fever, known asthma."\n\n'
    "Then, with your own: medlink kb build FILES --output my.kb; medlink build my.kb --output "
    "my_assets. Use my_assets instead of starter."
)
_Row = tuple[typer.Typer, str | None, str, Callable[..., None]]
_LINK, _MAKE, _MEASURE = "Link", "Make a terminology ready", "Measure"


def _group(name: str, help: str, **options: Any) -> typer.Typer:
    return typer.Typer(
        name=name, help=help, cls=ReportingGroup, no_args_is_help=True, rich_markup_mode="rich",
        **options,
    )  # fmt: skip


def _registered_verbs(group: str, parent: typer.Typer, section: str | None) -> Iterator[_Row]:
    """List the verbs that sides bring, and packages of users; `kb.diff` is one of the group kb."""
    for name in sides.names("medlink_verbs"):
        own_group, _, verb = name.rpartition(".")
        if own_group == group and (function := sides.load_if_there("medlink_verbs", name)):
            yield parent, section, verb, function


app = _group("medlink", _HELP, add_completion=False, pretty_exceptions_enable=False)
kb_app = _group("kb", "Build knowledge bases, and look into them.")
import_app = _group("import", "Bring what another tool uses.")
_VERBS: tuple[_Row, ...] = (
    (app, _LINK, "link", link_command),
    (app, _LINK, "annotate", annotate_command),
    *_registered_verbs("", app, _LINK),
    (app, _MAKE, "build", build_command),
    (app, _MAKE, "learn", learn_command),
    (app, _MEASURE, "evaluate", evaluate_command),
    (app, _MEASURE, "report", report_command),
    (kb_app, None, "build", kb_build_command),
    (kb_app, None, "add-mentions", add_mentions_command),
    (kb_app, None, "info", kb_info_command),
    (kb_app, None, "show", kb_show_command),
    (kb_app, None, "search", search_command),
    *_registered_verbs("kb", kb_app, None),
    *_registered_verbs("import", import_app, None),
)
for parent, section, name, function in _VERBS:
    parent.command(name, cls=Verb, rich_help_panel=section)(function)
app.add_typer(kb_app, rich_help_panel=_MAKE)
if import_app.registered_commands:
    app.add_typer(import_app, rich_help_panel=_MAKE)


def _say_version(wanted: bool) -> None:
    if wanted:
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

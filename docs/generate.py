"""Writes docs/reference and the tables of docs/papers.md: `python -m docs.generate`."""

import json
import re
from collections.abc import Iterator, Sequence
from inspect import formatannotation
from pathlib import Path
from typing import Any, NamedTuple

import typer

from spacy_medlink.cli.app import app
from spacy_medlink.components.context import ContextSettings, MedicalContext
from spacy_medlink.components.finding.settings import MentionSettings
from spacy_medlink.components.linker import MedicalLinker
from spacy_medlink.components.linker.settings import LinkerSettings
from spacy_medlink.components.mentions import MedicalMentions
from spacy_medlink.errors import Errors, Message, Warnings
from spacy_medlink.util.setting_types import Settings, types_of

REFERENCE = Path(__file__).parent / "reference"
_HYPERPARAMETERS = REFERENCE.parents[1] / "training" / "papers" / "hyperparameters.tsv"
COMPONENTS: dict[str, tuple[type, type[Settings]]] = {
    "medical_linker": (MedicalLinker, LinkerSettings),
    "medical_mentions": (MedicalMentions, MentionSettings),
    "medical_context": (MedicalContext, ContextSettings),
}
_NOTE = "<!-- Written by `python -m docs.generate`; edit the code instead. -->\n"
_BEGIN = "<!-- From here on written by `python -m docs.generate` from hyperparameters.tsv. -->\n"
_TITLES = {
    "losses": "`objective.loss`: the losses of SapBERT's table 6",
    "relations": "`task: relations`: CODER's classification",
}
_GROUPS = {
    "1": "Knowledge bases and their readers",
    "2": "Assets, encoders, retrieval",
    "3": "Components of spaCy",
    "4": "Evaluation",
    "5": "Training",
    "6": "The command line",
    "7": "Corpora",
}


def settings_page() -> str:
    """Make the page of the components' settings."""
    lines = ["# Settings", _NOTE]
    for name, (component, settings) in COMPONENTS.items():
        lines += [f"## `{name}`\n", (component.__doc__ or "").partition("\n")[0] + "\n"]
        lines += ["| setting | type | default | meaning |", "|---|---|---|---|"]
        for setting, type_ in types_of(settings).items():
            default, meaning = _default_and_meaning(settings, setting)
            shown = _cell(formatannotation(type_))
            lines.append(f"| `{setting}` | {shown} | {default} | {meaning}. |")
        lines.append("")
    return "\n".join(lines)


def _default_and_meaning(settings: type[Settings], setting: str) -> tuple[str, str]:
    field = settings.model_fields[setting]
    return f"`{json.dumps(field.default)}`", _cell(field.description or "")


def commands_page() -> str:
    """Make the page of the commands."""
    lines = ["# Commands", _NOTE]
    for path, command in _commands(typer.main.get_command(app), "medlink"):
        shown = [one for one in command.params if not one.hidden]
        places = [one for one in shown if not one.opts[0].startswith("-")]
        options = [one for one in shown if one.opts[0].startswith("-")]
        usage = " ".join([path, *map(_name, places)])
        lines += [f"## `{path}`\n", f"{(command.help or '').strip()}\n", f"`{usage} [OPTIONS]`\n"]
        lines += ["| | meaning |", "|---|---|"]
        for one in (*places, *options):
            lines.append(f"| `{_cell(_name(one))}` | {_cell(_help(one))} |")
        lines.append("")
    return "\n".join(lines)


def _commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if not inner:
        yield path, command
    for name, one in (inner or {}).items():
        yield from _commands(one, f"{path} {name}")


def _name(parameter: Any) -> str:
    if parameter.opts[0].startswith("-"):
        return ", ".join([*parameter.opts, *parameter.secondary_opts])
    dots = "" if parameter.nargs == 1 else "..."
    return f"{parameter.metavar or parameter.name.upper()}{dots}"


def _help(parameter: Any) -> str:
    default = parameter.default
    if isinstance(parameter.show_default, str):  # told in words, where it is not None
        default = parameter.show_default
    shown = default not in (None, "", False, True, ()) and not callable(default)
    return (parameter.help or "") + (f" Default: `{default}`." if shown and default != ... else "")


def errors_page() -> str:
    """Make the page of errors and warnings."""
    messages = sorted(
        (value for value in vars(Errors).values() if isinstance(value, Message)),
        key=lambda message: message.code,
    )
    lines = ["# Errors and warnings", _NOTE]
    lines.append("What stands in braces is filled in. A code keeps its meaning in all versions.\n")
    for digit, title in _GROUPS.items():
        lines += [f"## {title}\n"]
        lines += [f"- **{one.code}** {_text(one.text)}" for one in messages if one.code[1] == digit]
        lines.append("")
    lines.append("## Warnings\n")
    for text in sorted(value for name, value in vars(Warnings).items() if name[0] != "_"):
        code, _, rest = text.partition("] ")
        lines.append(f"- **{code[1:]}** {_text(rest)}")
    return "\n".join([*lines, ""])


def _text(text: str) -> str:
    shown = re.sub(r"(?<!\{)\{(\w+)[^{}]*\}(?!\})", r"{\1}", text)
    return shown.replace("{{", "{").replace("}}", "}")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


class Hyperparameter(NamedTuple):
    """A setting of a recipe, or of several.

    recipe (str): its name; with a *, of all whose names fit but for those with an own row.
    key (str): "section.key" of the recipe, or words for what no key holds.
    paper, place (str): what the authors say, and where: in the paper, or in their code. A value is
        JSON, as in a recipe. Where neither says it, "ours" and no place.
    ours, why (str): what the recipe does, and why it differs, or what the value means.
    """

    recipe: str
    key: str
    paper: str
    place: str
    ours: str
    why: str

    @property
    def told_by(self) -> str:
        """Who says it: "paper", "code" or "ours"."""
        if not self.place:
            return "ours"
        return "code" if self.place.startswith("code, ") else "paper"

    @property
    def differs(self) -> bool:
        """Tell whether the recipe differs from the authors."""
        return _value(self.paper) != _value(self.ours)


def read_hyperparameters() -> list[Hyperparameter]:
    """Read the file, in its order."""
    lines = _HYPERPARAMETERS.read_text(encoding="utf-8").splitlines()[1:]
    return [Hyperparameter(*line.split("\t")) for line in lines]


def _value(cell: str) -> object:
    try:
        return json.loads(cell)
    except ValueError:
        return cell


def papers_page() -> str:
    """Make the page of the papers: its text as it is, and a table of what differs."""
    text = (REFERENCE.parent / "papers.md").read_text(encoding="utf-8")
    lines = [text.partition(_BEGIN)[0] + _BEGIN]
    lines += ["| recipe | setting | told by | says | where | the recipe has | why |"]
    lines += ["|---" * 7 + "|"]
    groups: dict[tuple[str, str, str], list[Hyperparameter]] = {}
    for row in read_hyperparameters():
        if row.differs:
            groups.setdefault((row.key, row.paper, row.ours), []).append(row)
    lines += [f"| {' | '.join(map(_cell, _shown(rows)))} |" for rows in groups.values()]
    return "\n".join([*lines, ""])


def _shown(rows: Sequence[Hyperparameter]) -> Iterator[str]:
    """Write the cells of a setting that recipes have in common, keys and values as code."""
    row, is_key = rows[0], "." in rows[0].key
    yield ", ".join(_TITLES.get(one.recipe, f"`{one.recipe}`") for one in rows)
    yield f"`{row.key}`" if is_key else row.key
    yield row.told_by
    yield row.paper if row.place else ""
    yield "; ".join(dict.fromkeys(one.place for one in rows if one.place))
    yield f"`{row.ours}`" if is_key else row.ours
    yield "; or ".join(dict.fromkeys(one.why for one in rows if one.why))


PAGES = {
    "settings.md": settings_page,
    "commands.md": commands_page,
    "errors.md": errors_page,
    "../papers.md": papers_page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        REFERENCE.mkdir(exist_ok=True)
        (REFERENCE / name).write_text(page(), encoding="utf-8")

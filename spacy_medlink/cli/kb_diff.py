"""`medlink kb diff`: compares two knowledge bases."""

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from ..util.outputs import FileKind
from .opening import open_kb
from .output import Overwrite, table
from .parsing import one_of

if TYPE_CHECKING:
    from ..kb import KnowledgeBase
    from ..kb.diff import KbDiff

_FORMAT = "spacy-medlink kb diff"
# The beginnings of the verb's own files.
_JSON_MARK = f'"format": "{_FORMAT}"'
_TEXT_MARK = f"{_FORMAT}: "
_BEGINNING = 4096  # bytes
# Changes of each kind that a format lists by default.
_LIMITS = {"text": 10, "json": 1000, "jsonl": 0}
_ENDINGS = {".txt": "text", ".json": "json", ".jsonl": "jsonl"}
_WIDEST = 60  # characters of a cell
_MOST_LABELS = 8  # of a kind of changes
# The fields of a change, and their headings.
_COLUMNS = {
    "id": "id", "other": "now", "text": "name", "lang": "language", "label": "vocabulary",
    "before": "before", "after": "after",
}  # fmt: skip


def command(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The knowledge base before.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The knowledge base after.")],
    gold: Annotated[
        Path | None, typer.Option(help="Gold mentions: say what becomes of their links.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Changes of each kind to list: by default 10 in text, 1000 in JSON.",
        ),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            help="text, json, or jsonl (every change, one a line); by default what the name "
            "of --output ends with says, else text."
        ),
    ] = "",
    output: Annotated[
        Path | None, typer.Option(help="Write to this file; counts are printed all the same.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:  # fmt: skip
    """Compare two knowledge bases: concepts, names, codes, types, parents, definitions, sources."""
    from ..kb.diff import diff
    from ..util.files import replacing_file, save_text

    chosen = _format(format, output)
    bases, inputs = (open_kb(old), open_kb(new)), [old, new, gold]
    shown = "text" if output is not None else chosen
    if chosen == "jsonl":
        if output is None:
            _write_lines(bases, gold, None)
        else:
            with (
                replacing_file(output, _DIFF, inputs, overwrite=overwrite) as path,
                path.open("w", encoding="utf-8") as file,
            ):
                _write_lines(bases, gold, file)
        return
    most = max(_LIMITS[one] if limit is None else limit for one in (chosen, shown))
    found = diff(*bases, gold, most)
    title = f"{old.name} and {new.name} compared"
    if output is not None and chosen != "jsonl":
        text = _rendered(found, chosen, limit) + "\n"
        text = _TEXT_MARK + title + "\n\n" + text if chosen == "text" else text
        save_text(output, _DIFF, text, inputs, overwrite=overwrite)
    typer.echo(_rendered(found, shown, limit))


def _format(given: str, output: Path | None) -> str:
    if given:
        return one_of(given, _LIMITS, "--format")
    if output is None:
        return "text"
    if output.suffix.lower() not in _ENDINGS:
        message = f"{output} ends with none of {', '.join(_ENDINGS)}; give --format."
        raise typer.BadParameter(message, param_hint="--output")
    return _ENDINGS[output.suffix.lower()]


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(_BEGINNING)
    return head.startswith(_TEXT_MARK.encode()) or _JSON_MARK.encode() in head


_DIFF = FileKind("a comparison of knowledge bases", _is_ours)


def _write_lines(
    bases: tuple["KnowledgeBase", "KnowledgeBase"], gold: Path | None, file: IO[str] | None
) -> None:
    """Write every change on a line, without keeping changes in memory."""
    from ..kb.diff import changes, gold_changes

    names = {"old": bases[0].path.name, "new": bases[1].path.name}
    typer.echo(json.dumps({"format": _FORMAT, **names}, ensure_ascii=False), file=file)
    for change in chain(changes(*bases), gold_changes(*bases, gold) if gold else ()):
        said = {name: value for name, value in change._asdict().items() if value}
        typer.echo(json.dumps(said, ensure_ascii=False), file=file)


def _rendered(found: "KbDiff", format: str, limit: int | None) -> str:
    facts = _as_dict(found, _LIMITS[format] if limit is None else limit)
    if format == "json":
        return json.dumps({"format": _FORMAT, **facts}, indent=2, ensure_ascii=False)
    return "\n".join(_lines(found, facts)) if found.counts else "Nothing changed."


def _lines(found: "KbDiff", facts: dict[str, Any]) -> Iterator[str]:
    totals = [
        (f"{one.what} {one.label}".strip(), one.before, one.after)
        for one in found.totals if one.before != one.after
    ]  # fmt: skip
    if totals:
        yield table(totals, ("", "before", "after")) + "\n"
    rows = [
        (kind, count, _counted(found.labels.get(kind, {})))
        for kind, count in sorted(found.counts.items())
    ]
    yield table(rows, ("change", "count", ""))
    for kind, changes in facts["examples"].items():
        if not changes:
            continue
        more = found.counts[kind] - len(changes)
        used = {
            column: title
            for column, title in _COLUMNS.items()
            if any(change[column] for change in changes)
        }
        cells = [[_short(one[column]) for column in used] for one in changes]
        yield f"\n{kind}\n{table(cells, list(used.values()))}"
        if more:
            yield f"... and {more:,} more"


def _counted(counts: Mapping[str, int]) -> str:
    """Write the first eight counts in a line, highest first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{name} {count:,}" for name, count in ordered[:_MOST_LABELS]]
    more = len(ordered) - len(shown)
    return ", ".join([*shown, f"{more:,} more"] if more > 0 else shown)


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


def _as_dict(found: "KbDiff", limit: int) -> dict[str, Any]:
    return {
        "totals": [vars(total) for total in found.totals],
        "counts": dict(sorted(found.counts.items())),
        "labels": {kind: dict(sorted(own.items())) for kind, own in sorted(found.labels.items())},
        "gold_links": found.gold_links,
        "examples": {
            kind: [change._asdict() for change in changes[:limit]]
            for kind, changes in sorted(found.examples.items())
        },
    }

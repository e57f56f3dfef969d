"""The file of metrics: readable JSON with one mention a line."""

import json
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...errors import Errors, MedlinkError
from ...kb.readers.lines import open_source
from ...util.json_text import read_json
from ...util.outputs import marked
from ..outcome import Metrics, Outcome, unpack

FORMAT, SCHEMA = "spacy-medlink metrics", 1
METRICS_FILE = marked("a file of metrics", f'"format": "{FORMAT}"')
_CONCEPTS, _MENTIONS = "concepts", "mentions"
_NEEDED = ("n", "mrr", "ks", "protocol", "tiers_used", "kb", "manifest", _CONCEPTS, _MENTIONS)


def dump_metrics(metrics: Metrics) -> str:
    """Write metrics as JSON: indented, but each concept and mention on one line."""
    parts = {name: _indented(value) for name, value in metrics.items()}
    if _CONCEPTS in metrics:
        concepts = (
            f"{_line(id)}: {_line(described)}" for id, described in metrics[_CONCEPTS].items()
        )
        parts[_CONCEPTS] = _one_a_line("{", concepts, "}", 2)
    if _MENTIONS in metrics:
        table = metrics[_MENTIONS]
        rows = _one_a_line("[", map(_line, table["rows"]), "]", 4)
        columns = _line(table["columns"])
        parts[_MENTIONS] = f'{{\n    "columns": {columns},\n    "rows": {rows}\n  }}'
    return _one_a_line("{", (f"{_line(name)}: {text}" for name, text in parts.items()), "}") + "\n"


def read_metrics(path: Path) -> Metrics:
    """Read a file of `medlink evaluate --output`, plain or .gz.

    RAISES (MedlinkError): E107 without the file, E160 for another kind of file.
    """
    if not path.is_file():
        raise Errors.source_missing(path=path)
    try:
        with open_source(path) as file:
            metrics = read_json(file.read().decode())
    except MedlinkError:
        raise
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise _not_metrics(path, f"not JSON: {error}") from error
    if not isinstance(metrics, dict) or metrics.get("format") != FORMAT:
        raise _not_metrics(path, "another kind of file")
    if metrics.get("schema") != SCHEMA:
        reason = f"schema {metrics.get('schema')}, not {SCHEMA}"
        raise _not_metrics(path, reason)
    if absent := [name for name in _NEEDED if name not in metrics]:
        raise _not_metrics(path, f"it lacks {', '.join(absent)}")
    read_records(metrics, path)
    return metrics


def read_records(metrics: Metrics, path: Path | str = "metrics") -> list[Outcome]:
    """Read the mentions of metrics.

    RAISES (MedlinkError): E160 when they are damaged.
    """
    try:
        return unpack(metrics[_MENTIONS])
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise _not_metrics(path, f"damaged mentions: {error}") from error


def _indented(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n  ")


def _one_a_line(begin: str, items: Iterable[str], end: str, indent: int = 0) -> str:
    lines = f",\n{' ' * (indent + 2)}".join(items)
    return f"{begin}\n{' ' * (indent + 2)}{lines}\n{' ' * indent}{end}"


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Run:
    """The metrics of one file.

    name (str): for the report. metrics (Metrics): of `read_metrics`.
    """

    def __init__(self, name: str, metrics: Metrics) -> None:
        self.name, self.metrics = name, metrics
        self.records = read_records(metrics, name)


def open_runs(paths: Sequence[Path]) -> list[Run]:
    """Read files of metrics, and give each a unique name.

    RAISES (MedlinkError): E107, E160 for the files.
    """
    runs: list[Run] = []
    for path in paths:
        name = path.name.removesuffix(".gz").removesuffix(".json")
        taken = {run.name for run in runs}
        if name in taken:
            name = next(f"{name} {n}" for n in range(2, 10**6) if f"{name} {n}" not in taken)
        runs.append(Run(name, read_metrics(path)))
    return runs


def _not_metrics(path: Path | str, problem: str) -> Exception:
    what = "a file of metrics of this version"
    expected = "what `medlink evaluate ... --output FILE` writes"
    return Errors.wrong_file(path=path, what=what, problem=problem, expected=expected)

"""The file of metrics: readable JSON with one mention a line."""

import json
import zlib
from collections.abc import Sequence
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
    head = {name: value for name, value in metrics.items() if name not in (_CONCEPTS, _MENTIONS)}
    parts = [json.dumps(head, indent=2, ensure_ascii=False).removesuffix("\n}")]
    if _CONCEPTS in metrics:
        items = ((_line(id), _line(described)) for id, described in metrics[_CONCEPTS].items())
        lines = ",\n".join(f"    {id}: {described}" for id, described in items)
        parts.append(f'  "{_CONCEPTS}": {{\n{lines}\n  }}')
    if _MENTIONS in metrics:
        columns, rows = _line(metrics[_MENTIONS]["columns"]), metrics[_MENTIONS]["rows"]
        lines = ",\n".join(f"      {_line(row)}" for row in rows)
        table = f'    "columns": {columns},\n    "rows": [\n{lines}\n    ]'
        parts.append(f'  "{_MENTIONS}": {{\n{table}\n  }}')
    return ",\n".join(parts) + "\n}\n"


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

"""write_report: the page, the Markdown and the CSV files of a report, in a directory."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from ...util.files import replacing_file
from ...util.outputs import check_output, companion, marked
from .metrics_file import Run
from .page import GENERATOR, render_report
from .plain import harmless, to_csv, to_markdown
from .tables import make_tables

PAGE, MARKDOWN, MENTIONS = "report.html", "report.md", "mentions.csv"
_COLUMNS = (
    "run", "document", "start", "end", "mention", "type", "gold", "right concepts", "rank",
    "retrieved", "outcome", "answer", "answer name", "score", "probability",
)  # fmt: skip


_REPORT = marked("the page of a report", GENERATOR)


def write_report(
    directory: Path,
    runs: Sequence[Run],
    title: str = "",
    inputs: Sequence[Path] = (),
    overwrite: bool = False,
) -> list[Path]:
    """Write a report; files of other names in the directory are not changed.

    inputs (Sequence[Path]): the files of metrics. overwrite (bool): replace files of these names
        that belong to no report.
    RETURNS (List[Path]): the files, the page first.
    RAISES (MedlinkError): E109 when one cannot be written, E120-E124 for what is there.
    """
    title = title or f"Linking measured: {', '.join(run.name for run in runs)}"
    tables = make_tables(runs)
    texts = {
        PAGE: render_report(title, runs, tables),
        MARKDOWN: to_markdown(title, runs, tables),
        **{f"{table.name}.csv": to_csv(table) for table in tables},
        MENTIONS: _mentions(runs),
    }
    beside = companion("part of a report", _REPORT, directory / PAGE)
    kinds = {name: _REPORT if name == PAGE else beside for name in texts}
    for name, kind in kinds.items():  # check all before the first is written
        check_output(directory / name, kind, inputs, overwrite=overwrite)
    for name, text in texts.items():
        with replacing_file(
            directory / name, kinds[name], inputs, overwrite=overwrite
        ) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return [directory / name for name in texts]


def _mentions(runs: Sequence[Run]) -> str:
    """List every mention with its first answer."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for run in runs:
        concepts = run.metrics["concepts"]
        for record in run.records:
            first = record.candidates[0] if record.candidates else None
            answer = [first.id, concepts[first.id][0], first.score, first.prob] if first else []
            row = [
                run.name, record.doc, record.start, record.end, record.text, record.type,
                "|".join(record.gold), "|".join(record.right), record.rank, record.retrieved,
                record.verdict, *answer,
            ]  # fmt: skip
            writer.writerow([harmless(cell) for cell in row])
    return text.getvalue()

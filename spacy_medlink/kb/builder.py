"""KnowledgeBaseBuilder: streams records into a new knowledge base and swaps it in when whole."""

import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from ..errors import Errors
from ..types import Record, Retired
from ..util.files import replacing_file
from ..util.outputs import PathLike
from . import schema
from .writer import BuildReport, TableWriter

# A string that is no Unicode text (half a surrogate pair) is refused on its way into SQLite.
_UNWRITABLE = (sqlite3.Error, UnicodeEncodeError)


_NOT_STANDARD = (
    " Of OMOP only standard concepts are read: `--all` reads those of classifications (ATC, "
    "MedDRA) and others, too."
)


class KnowledgeBaseBuilder:
    """Builds a knowledge base in bounded memory; use it as a context manager.

    Records may come in any order; several concepts with one id are merged (their names united,
    the first one's preferred name stays). The file appears, whole, when the block ends well; an
    error, a kill or a full disk leaves what was there before.

    path (Path): the file to write.
    manifest (Mapping): facts to keep with it, JSON-able (sources, checksums, filters).
    inputs (Iterable[Path]): the files that the records are read from. improves (Optional[Path]):
        the previous knowledge base, which the new one may replace.
    overwrite (bool): replace a file that is no knowledge base.
    """

    def __init__(
        self,
        path: str | Path,
        manifest: Mapping[str, object] | None = None,
        inputs: Iterable[PathLike | None] = (),
        *,
        improves: PathLike | None = None,
        overwrite: bool = False,
    ) -> None:
        self.path = Path(path)
        self._replacing = replacing_file(
            self.path, schema.KB, inputs, improves=improves, overwrite=overwrite
        )
        self.manifest = dict(manifest or {})

    @property
    def report(self) -> BuildReport:
        """The counts so far; complete after the block."""
        return self._writer.report

    def __enter__(self) -> "KnowledgeBaseBuilder":
        with ExitStack() as stack:
            self._temporary = stack.enter_context(self._replacing)
            try:
                self._writer = TableWriter(self._temporary)
            except sqlite3.Error as error:
                raise Errors.write_failed(path=self.path, reason=error) from error
            stack.callback(lambda: self._writer.close())
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._stack:
            if error is not None:
                raise error
            try:
                self._finish()
            except _UNWRITABLE as failure:
                raise Errors.write_failed(path=self.path, reason=failure) from failure

    def add(self, record: Record) -> None:
        """Add a concept, or the history of a retired id.

        RAISES (MedlinkError): E109 when it cannot be written.
        """
        try:
            if isinstance(record, Retired):
                self._writer.add_retired(record)
            else:
                self._writer.add_concept(record)
        except _UNWRITABLE as error:
            raise Errors.write_failed(path=self.path, reason=error) from error

    def _finish(self) -> None:
        if self._writer.report.concepts == 0:
            format = str(self.manifest.get("format", "given"))
            raise Errors.kb_empty(
                source=self.manifest.get("source", "the source"), format=format,
                more=_NOT_STANDARD if "omop" in format else "",
            )  # fmt: skip
        if not self._writer.index_ids():
            self._merge()
        self._writer.finish(self.manifest)

    def _merge(self) -> None:
        """Write everything once more, with the pieces of each id merged."""
        pieces = self._writer
        whole = self._temporary.with_name(self._temporary.name + ".whole")
        self._stack.callback(whole.unlink, missing_ok=True)
        self._stack.callback(pieces.close)
        self._writer = TableWriter(whole)
        for concept in pieces.merged():
            self._writer.add_concept(concept)
        for retired in pieces.retired():
            self._writer.add_retired(retired)
        pieces.close()
        self._writer.report.merged = pieces.report.concepts - self._writer.report.concepts
        self._writer.report.without_names = pieces.report.without_names
        self._writer.report.bad_lines = pieces.report.bad_lines
        self._writer.index_ids()
        os.replace(whole, self._temporary)


def build_kb(
    path: str | Path,
    records: Iterable[Record],
    manifest: Mapping[str, object] | None = None,
    *,
    overwrite: bool = False,
) -> BuildReport:
    """Build a knowledge base from records.

    RETURNS (BuildReport): counts of what was written.
    overwrite (bool): replace a file that is no knowledge base.
    RAISES (MedlinkError): E104 without any concept, E109 when it cannot be written, E120-E124 when
        an existing file must not be replaced.
    """
    with KnowledgeBaseBuilder(path, manifest, overwrite=overwrite) as builder:
        for record in records:
            builder.add(record)
    return builder.report

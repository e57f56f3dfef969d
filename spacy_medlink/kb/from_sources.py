"""From terminology files to a knowledge base: read, filter, re-key, curate, remember, write."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import Errors
from ..outputs import check_output
from ..progress import no_progress
from ..types import BadLine, Progress, Record
from .builder import KnowledgeBaseBuilder
from .curation import Curation, read_curation
from .filters import Filters
from .history import History
from .knowledge_base import KnowledgeBase
from .provenance import facts_of
from .readers import get_reader
from .rekey import rekey
from .schema import KB
from .writer import BuildReport


class Built(NamedTuple):
    """A new knowledge base, the report of its build, and what the filters removed, by reason."""

    kb: KnowledgeBase
    report: BuildReport
    removed: Counter[str]


def build_knowledge_base(
    *,
    out: Path,
    sources: Sequence[tuple[str, Path]],
    filters: Filters | None = None,
    id_scheme: str = "",
    curation: Path | None = None,
    options: Mapping[str, Any] | None = None,
    update: Path | None = None,
    skip_bad_lines: bool = False,
    progress: Progress | None = None,
    overwrite: bool = False,
    inputs: Sequence[Path | None] = (),
) -> Built:
    """Build a knowledge base from one or more sources.

    out (Path): file to write; it appears whole or not at all.
    sources (Sequence[Tuple[str, Path]]): format and path of each; concepts with one id are united.
    filters (Optional[Filters]): what to keep; by default all but obsolete names.
    id_scheme (str): vocabulary whose codes become the ids; "" keeps the ids.
    curation (Optional[Path]): file of rules, applied last.
    options (Optional[Mapping[str, Any]]): passed to the readers, such as `lang`.
    update (Optional[Path]): the knowledge base before this one, whose ids stay known.
    skip_bad_lines (bool): collect bad lines in the report; otherwise the first one is an error.
    overwrite (bool): replace a file that is no knowledge base. inputs (Sequence[Path]): what else
        the caller has read, which must not be replaced.
    RETURNS (Built): the knowledge base, opened.
    RAISES (MedlinkError): E1xx, for what is wrong with a source, the disk, or what is at `out`.
    """
    read = [*(path for _, path in sources), curation, *inputs]
    check_output(out, KB, read, improves=update, overwrite=overwrite)
    history = History(KnowledgeBase(update)) if update else None
    filters = filters or Filters()
    removed: Counter[str] = Counter()
    bad_lines: list[BadLine] = []
    collected = bad_lines if skip_bad_lines else None
    rules = read_curation(curation, collected) if curation else Curation()
    records = filters.apply(_records(sources, options or {}, collected, progress), removed)
    if id_scheme:
        records = rekey(records, id_scheme, dropped=removed)
    facts = facts_of(sources, filters, id_scheme)
    with KnowledgeBaseBuilder(out, facts, read, improves=update, overwrite=overwrite) as builder:
        records = rules.apply(records) if curation else records
        for record in history.apply(records) if history else records:
            builder.add(record)
        builder.report.bad_lines = bad_lines
        if history:
            builder.manifest["updated_from"] = history.as_manifest()
        builder.manifest["removed"] = dict(sorted(removed.items()))
        if curation:
            builder.manifest["curation"] = rules.as_manifest()
    return Built(KnowledgeBase(out), builder.report, removed)


def _records(
    sources: Sequence[tuple[str, Path]],
    options: Mapping[str, Any],
    bad_lines: list[BadLine] | None,
    progress: Progress | None,
) -> Iterator[Record]:
    for format, path in sources:
        reader = get_reader(format)
        if not path.exists():
            raise Errors.source_missing(path=path)
        records = reader(path, bad_lines, **options)
        yield from (progress or no_progress)(records, None, f"reading {path.name}")

"""`medlink kb build`: from terminology files to a knowledge base."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ..errors import Errors
from .kb_summary import bad_line_report, summary
from .parsing import comma_list, lines_of, pairs
from .provenance import facts_of

if TYPE_CHECKING:
    from ..kb import BuildReport, KnowledgeBase
    from ..kb.filters import Filters
    from ..types import BadLine, Progress, Record


def command(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The knowledge base to write.")],
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE...", help="Terminology: a file or directory, or several to unite."
        ),
    ],
    formats: Annotated[
        list[str],
        typer.Option(
            "--from",
            help="Format of the source, such as obo, jsonl, umls, snomed, mesh, icd, tsv, csv, "
            "obographs, biosyn or gazetteer; with several sources, once for all or once each.",
        ),
    ],
    languages: Annotated[str, typer.Option(help="Keep names of these languages: en,es.")] = "",
    vocabularies: Annotated[
        str, typer.Option("--sources", help="Keep names of these vocabularies: SNOMEDCT_US.")
    ] = "",
    types: Annotated[str, typer.Option(help="Keep concepts of these types: T047.")] = "",
    groups: Annotated[
        str, typer.Option(help="Keep concepts of these groups of UMLS types: DISO.")
    ] = "",
    term_types: Annotated[str, typer.Option(help="Keep names of these term types: PT,SY.")] = "",
    include_obsolete: Annotated[
        bool, typer.Option("--include-obsolete", help="Keep obsolete and suppressed names.")
    ] = False,
    min_length: Annotated[int, typer.Option(min=0, help="Shortest name to keep.")] = 0,
    max_length: Annotated[int, typer.Option(min=0, help="Longest name to keep; 0: any.")] = 0,
    allow_ids: Annotated[Path | None, typer.Option(help="File of the only ids to keep.")] = None,
    deny_ids: Annotated[Path | None, typer.Option(help="File of ids to leave out.")] = None,
    allow_names: Annotated[
        Path | None, typer.Option(help="File of the only names to keep.")
    ] = None,
    deny_names: Annotated[Path | None, typer.Option(help="File of names to leave out.")] = None,
    curation: Annotated[
        Path | None, typer.Option(help="File of names to deny, force or add, one rule a line.")
    ] = None,
    id_scheme: Annotated[
        str, typer.Option(help="Give concepts their codes in this vocabulary as ids: UMLS.")
    ] = "",
    columns: Annotated[
        str, typer.Option(help="Columns of a table: id=CODE,name=TERM, or their numbers.")
    ] = "",
    lang: Annotated[
        str, typer.Option(help="Language of names where the source does not say.")
    ] = "",
    update: Annotated[
        Path | None,
        typer.Option(help="Knowledge base before this one: ids that it knows are not forgotten."),
    ] = None,
    skip_bad_lines: Annotated[
        bool, typer.Option("--skip-bad-lines", help="Count and report bad lines; do not stop.")
    ] = False,
) -> None:
    """Build a knowledge base; what is at OUT is replaced when all is done."""
    from ..kb.filters import Filters
    from ..progress import show_progress

    filters = Filters(
        languages=comma_list(languages),
        sources=comma_list(vocabularies),
        types=comma_list(types),
        groups=comma_list(groups),
        term_types=comma_list(term_types),
        include_obsolete=include_obsolete,
        min_length=min_length,
        max_length=max_length,
        allow_ids=lines_of(allow_ids),
        deny_ids=lines_of(deny_ids),
        allow_names=lines_of(allow_names),
        deny_names=lines_of(deny_names),
    )
    options: dict[str, Any] = {"columns": pairs(columns, "--columns"), "lang": lang}
    built = build_knowledge_base(
        out=out,
        sources=_with_formats(sources, formats, options),
        filters=filters,
        id_scheme=id_scheme,
        curation=curation,
        options={name: value for name, value in options.items() if value},
        update=update,
        skip_bad_lines=skip_bad_lines,
        progress=show_progress,
    )
    typer.echo(summary(built))
    for line in bad_line_report(built.report.bad_lines):
        typer.echo(line, err=True)


class Built(NamedTuple):
    """A new knowledge base, the report of its build, and what the filters removed, by reason."""

    kb: "KnowledgeBase"
    report: "BuildReport"
    removed: Counter[str]


def build_knowledge_base(
    *,
    out: Path,
    sources: Sequence[tuple[str, Path]],
    filters: "Filters | None" = None,
    id_scheme: str = "",
    curation: Path | None = None,
    options: Mapping[str, Any] | None = None,
    update: Path | None = None,
    skip_bad_lines: bool = False,
    progress: "Progress | None" = None,
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
    RETURNS (Built): the knowledge base, opened.
    RAISES (MedlinkError): E1xx, for what is wrong with a source or the disk.
    """
    from ..kb import KnowledgeBase, KnowledgeBaseBuilder
    from ..kb.curation import Curation, read_curation
    from ..kb.filters import Filters, rekey
    from ..kb.history import History

    history = History(KnowledgeBase(update)) if update else None
    filters = filters or Filters()
    removed: Counter[str] = Counter()
    bad_lines: list[BadLine] = []
    collected = bad_lines if skip_bad_lines else None
    rules = read_curation(curation, collected) if curation else Curation()
    records = filters.apply(_records(sources, options or {}, collected, progress), removed)
    if id_scheme:
        records = rekey(records, id_scheme, dropped=removed)
    with KnowledgeBaseBuilder(out, facts_of(sources, filters, id_scheme)) as builder:
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
    bad_lines: "list[BadLine] | None",
    progress: "Progress | None",
) -> "Iterator[Record]":
    from ..kb.readers import get_reader
    from ..progress import no_progress

    for format, path in sources:
        reader = get_reader(format)
        if not path.exists():
            raise Errors.source_missing(path=path)
        records = reader(path, bad_lines, **options)
        yield from (progress or no_progress)(records, None, f"reading {path.name}")


def _with_formats(
    sources: Sequence[Path], formats: Sequence[str], options: Mapping[str, Any]
) -> list[tuple[str, Path]]:
    """Pair sources with formats; what does not fit is a usage error."""
    import inspect

    from ..kb.readers import FORMATS, get_reader

    for format in formats:
        if format not in FORMATS:
            message = f"{format!r} is not one of {', '.join(sorted(FORMATS))}."
            raise typer.BadParameter(message, param_hint="--from")
        taken = inspect.signature(get_reader(format)).parameters
        for name in (name for name, value in options.items() if value and name not in taken):
            message = f"the format {format} has no such setting."
            raise typer.BadParameter(message, param_hint=f"--{name}")
    if len(formats) not in (1, len(sources)):
        message = f"{len(formats)} formats for {len(sources)} sources."
        raise typer.BadParameter(message, param_hint="--from")
    each = formats if len(formats) == len(sources) else [formats[0]] * len(sources)
    return list(zip(each, sources, strict=True))

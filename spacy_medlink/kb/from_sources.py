"""From terminology files to a knowledge base: read, filter, re-key, curate, remember, write."""

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, TypedDict

from ..errors import Errors
from ..types import BadLine, Progress, Record
from ..util.files import sha256_of
from ..util.outputs import check_output
from ..util.progress import no_progress
from ..util.setting_types import Listed, Options, option
from ..util.sides import load
from .builder import KnowledgeBaseBuilder
from .filters import Filters
from .history import History
from .knowledge_base import KnowledgeBase
from .readers import checked, existing, get_reader, module_of
from .rekey import rekey
from .rules import read_rules
from .schema import KB
from .vocabularies import iso_639_1
from .writer import BuildReport

_WANTED = ("sources", "term_types")  # filters by which a reader orders names
_SHOWN = 20  # bad lines in the message of an error
_ENOUGH = 10_000  # bad lines after which a build stops: this must be the wrong file


class _Source(TypedDict):
    """A source as manifests list it; sha256: by the names of its files."""

    name: str
    format: str
    version: str
    sha256: dict[str, str]


class Built(NamedTuple):
    """A new knowledge base, the report of its build, and what the filters removed, by reason."""

    kb: KnowledgeBase
    report: BuildReport
    removed: Counter[str]


class KbSettings(Options):
    """What is done with the records of the sources."""

    curation: Path | None = option(
        None, "File of rules: names to deny, force or add, ids to retire."
    )
    maps: Annotated[list[Path], Listed] = option(
        [],
        "Mapping set (SSSOM, .sssom.tsv, or FHIR's ConceptMap) that adds codes to concepts; may be "
        "given several times.",
        metavar="FILE",
    )
    id_scheme: str = option("", "Use the codes of this vocabulary as ids of the concepts: UMLS.")
    update: Path | None = option(
        None, "The previous knowledge base. Ids that only it has are kept as retired."
    )
    skip_bad_lines: bool = option(False, "Count and report bad lines instead of stopping.")


def build_knowledge_base(
    *,
    out: Path,
    sources: Sequence[tuple[str, Path]],
    filters: Filters | None = None,
    options: Mapping[str, object] | None = None,
    progress: Progress | None = None,
    overwrite: bool = False,
    inputs: Sequence[Path | None] = (),
    **given: object,
) -> Built:
    """Build a knowledge base from one or more sources.

    out (Path): file to write; it appears whole or not at all.
    sources (Sequence[Tuple[str, Path]]): format and path of each; concepts with one id are united.
    filters (Optional[Filters]): what to keep; by default all but obsolete names.
    options (Optional[Mapping[str, object]]): passed to the readers, such as `lang`.
    overwrite (bool): replace a file that is no knowledge base. inputs (Sequence[Path]): other files
        that the caller has read, which must not be replaced.
    given: the fields of `KbSettings`. Rules are applied last; `id_scheme` may be a vocabulary of
        the mapping sets. Without `skip_bad_lines`, bad lines are an error that lists the first of
        them and their number.
    RETURNS (Built): the knowledge base, opened.
    RAISES (MedlinkError): E105 and E130 for bad lines, E1xx for other errors of a source, of the
        disk, or of the file at `out`, E302 for a setting.
    """
    settings = KbSettings.of(given)
    curation, maps, update = settings.curation, settings.maps, settings.update
    id_scheme = settings.id_scheme
    read = [*(path for _, path in sources), curation, *maps, *inputs]
    check_output(out, KB, read, improves=update, overwrite=overwrite)
    history = History(KnowledgeBase(update)) if update else None
    filters = filters or Filters()
    removed: Counter[str] = Counter()
    bad_lines: list[BadLine] = []
    rules = read_rules(curation, bad_lines) if curation else None
    mapping_sets = None
    if maps:
        mapping_sets = load("medlink_maps", "sssom", "mapping set")([*map(existing, maps)])
    records = _records(sources, filters, options or {}, bad_lines, progress)
    records = filters.apply(
        records if settings.skip_bad_lines else _all_sound(records, bad_lines), removed
    )
    records = mapping_sets.apply(records, bad_lines) if mapping_sets else records
    records = rekey(records, id_scheme, dropped=removed) if id_scheme else records
    manifest = facts_of(sources, filters, id_scheme)
    with KnowledgeBaseBuilder(out, manifest, read, improves=update, overwrite=overwrite) as builder:
        records = rules.apply(records) if rules else records
        for record in history.apply(records) if history else records:
            builder.add(record)
        builder.report.bad_lines = bad_lines
        builder.manifest["removed"] = dict(sorted(removed.items()))
        steps = {"updated_from": history, "maps": mapping_sets, "curation": rules}
        builder.manifest |= {name: step.as_manifest() for name, step in steps.items() if step}
    return Built(KnowledgeBase(out), builder.report, removed)


def _records(
    sources: Sequence[tuple[str, Path]],
    filters: Filters,
    options: Mapping[str, object],
    bad_lines: list[BadLine],
    progress: Progress | None,
) -> Iterator[Record]:
    if lang := options.get("lang"):
        options = {**options, "lang": iso_639_1(str(lang))}
    for format, path in sources:
        reader = get_reader(format)
        taken = inspect.signature(reader).parameters
        wanted = {name: getattr(filters, name) for name in _WANTED if name in taken}
        records = reader(checked(format, path), bad_lines, **options, **wanted)
        yield from (progress or no_progress)(records, None, f"reading {path.name}")


def _all_sound(records: Iterator[Record], bad_lines: list[BadLine]) -> Iterator[Record]:
    """Stream records up to the first bad line; then count the other bad lines, and raise.

    RAISES (MedlinkError): E105 for a single bad line, E130 for several.
    """
    for record in records:
        if not bad_lines:
            yield record
        elif len(bad_lines) >= _ENOUGH:
            break
    if len(bad_lines) > 1:
        shown = [f"  {bad.path}, line {bad.line}: {bad.problem}" for bad in bad_lines[:_SHOWN]]
        more = len(bad_lines) - len(shown)
        lines = "\n".join([*shown, f"  ... and {more:,} more"] if more else shown)
        count = f"{len(bad_lines):,}" + (" or more" if len(bad_lines) >= _ENOUGH else "")
        raise Errors.bad_lines(count=count, lines=lines)
    for bad in bad_lines:
        raise Errors.bad_line(**bad._asdict())


def facts_of(
    sources: Sequence[tuple[str, Path]], filters: Filters, id_scheme: str
) -> dict[str, object]:
    """List the sources of the knowledge base, without directories, which differ by machine."""
    described = [_describe(format, path) for format, path in sources]
    manifest: dict[str, object] = {
        "source": ", ".join(source["name"] for source in described),
        "format": ", ".join(dict.fromkeys(format for format, _ in sources)),
        "version": ", ".join(source["version"] for source in described if source["version"]),
        "sources": described,
        "filters": filters.as_manifest(),
    }
    if id_scheme:
        manifest["id_scheme"] = id_scheme
    return manifest


def _describe(format: str, path: Path) -> _Source:
    module = module_of(format)
    existing(path)
    if hasattr(module, "files_of"):
        files = module.files_of(path)
    else:
        files = [path] if path.is_file() else sorted(filter(Path.is_file, path.rglob("*")))
    return {
        "name": path.resolve().name,
        "format": format,
        "version": module.release_of(path) if hasattr(module, "release_of") else "",
        "sha256": {
            file.name if file == path else file.relative_to(path).as_posix(): sha256_of(file)
            for file in files
        },
    }

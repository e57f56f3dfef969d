"""A run of mapping: from a table of terms, or a knowledge base, to a file of mappings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from spacy.util import minibatch

from ...errors import Warnings
from ...kb import KnowledgeBase
from ...linking import Linker
from ...types import Progress
from ...util.files import replacing_file
from ...util.outputs import PathLike, check_output, resolved
from ...util.progress import no_progress
from ...util.telling import tell
from .mapper import Mapper, Mapping
from .outputs import MapInfo, format_of
from .reviewed import Reviewed
from .settings import MapSettings
from .tables import Problems
from .terms import Columns, Term, Terms, terms_of
from .words import EXACT

APPROVED = "APPROVED"
CANDIDATES = 5  # of a term
_TOGETHER = 512  # terms that are mapped at once


@dataclass
class Mapped:
    """The counts of a run.

    exact, probable, without (int): terms mapped to an exact concept, to another, to none.
    """

    problems: Problems
    reviewed: Reviewed
    exact: int = 0
    probable: int = 0
    without: int = 0

    def count(self, mapping: Mapping) -> None:
        """Count a mapping."""
        is_exact = bool(mapping.targets) and mapping.targets[0].match == EXACT
        self.exact += is_exact
        self.probable += bool(mapping.targets) and not is_exact
        self.without += not mapping.targets


def map_terms(
    terms: Path | KnowledgeBase,
    linker: Linker,
    output: Path,
    *,
    columns: Columns | None = None,
    candidates: int = CANDIDATES,
    inputs: Sequence[PathLike] = (),
    overwrite: bool = False,
    progress: Progress = no_progress,
    **given: object,
) -> Mapped:
    """Map terms to the concepts of a linker, and write the mappings.

    terms (Union[Path, KnowledgeBase]): a table, or the concepts of another knowledge base.
    columns (Optional[Columns]): of the table; by default found by their headers.
    inputs, overwrite: files that may not, or may, be replaced; see `outputs.check_output`.
    given: the fields of `MapSettings`. By default the terms are English, all names of a knowledge
        base are mapped, the suffix of the output says the format, and decisions in an output that
        exists are kept.
    RAISES (MedlinkError): E160, E407, E611, E615 for the files; as `read_table`; E302.
    """
    settings = MapSettings.of(given)
    vocabulary, reviewed, approved = settings.vocabulary, settings.reviewed, settings.approved
    mapper, problems = Mapper(linker, candidates, settings.lang or "en"), Problems()
    written = format_of(output, mapper.kb, settings.form or "")
    read: list[PathLike] = [*inputs, terms.path if isinstance(terms, KnowledgeBase) else terms]
    # A file of approved mappings alone must not replace the one that has all decisions.
    if reviewed is not None and (approved or resolved(reviewed) != resolved(output)):
        read.append(reviewed)
    check_output(output, written.kind, read, overwrite=overwrite)
    is_ours = written.kind.is_ours if written.has_status and output.is_file() else None
    if reviewed is None and is_ours is not None and is_ours(output):
        reviewed = output
    decided = Reviewed(reviewed, mapper.kb)
    context: list[str] = []
    if isinstance(terms, KnowledgeBase):
        stream, total = terms_of(terms, settings.lang), len(terms)
        name = vocabulary or terms.path.stem
    else:
        columns = columns or Columns()
        table = Terms(terms, columns, vocabulary, problems)
        if table.unread and not (columns.name and columns.code):  # who names both knows the rest
            headers, example = ", ".join(table.unread), "name=TERM,code=ID,context=WARD"
            tell(Warnings.unread_columns.format(path=terms, columns=headers, example=example))
        stream, total, context = iter(table), None, table.context
        name = vocabulary or terms.name.partition(".")[0]
    info = MapInfo(mapper.kb, name, context, decided.extra, candidates)
    mapped = Mapped(problems, decided)
    with (
        replacing_file(output, written.kind, read, overwrite=overwrite) as new,
        new.open("w", encoding="utf-8", newline="") as file,
    ):
        shown = iter(progress(stream, total, "mapping terms"))
        written.write(file, _mappings(shown, mapper, mapped, approved, context), info)
    return mapped


def _mappings(
    terms: Iterator[Term], mapper: Mapper, mapped: Mapped, approved: bool, context: list[str]
) -> Iterator[Mapping]:
    """Stream mappings in the order of the terms, then decided terms that the table has no more."""
    for mapping in chain(_in_order(terms, mapper, mapped), mapped.reviewed.rest(context)):
        if not approved or mapping.status == APPROVED:
            yield mapping


def _in_order(terms: Iterator[Term], mapper: Mapper, mapped: Mapped) -> Iterator[Mapping]:
    for batch in minibatch(terms, _TOGETHER):  # type: ignore[no-untyped-call]  # spaCy gives it no types
        for new in mapper.map(batch):
            mapping = mapped.reviewed.updated(new)
            mapped.count(mapping)
            yield mapping

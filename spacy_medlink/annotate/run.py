"""A run of bulk annotation: open, resume, link part by part, join the parts."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from operator import add
from pathlib import Path
from typing import NamedTuple

from .. import __version__
from ..components.pipelines import STARTER, is_pipeline, pipeline_directory
from ..errors import Errors, Warnings
from ..types import Progress
from ..util.progress import no_progress
from ..util.telling import tell
from .documents import Done, Repeated, parts_of
from .inputs import hash_of, open_input
from .journal import Journal, only_process
from .local import run_local
from .output import Output
from .ray_engine import run_ray
from .settings import AnnotateSettings
from .text_inputs import Columns
from .worker import Job

_DESCRIBES = ("manifest.json", "config.cfg", "meta.json")  # of assets, of pipelines


class Annotation(NamedTuple):
    """The result of a run.

    linked, set_aside (int): documents, of this run and of the runs that it resumed.
    resumed (int): parts of earlier runs. aside (Optional[Path]): file of documents set aside.
    mentions, links (int): of the documents; mentions without a link are NIL.
    repeated (Repeated): ids that several documents have.
    """

    linked: int
    set_aside: int
    resumed: int
    aside: Path | None
    mentions: int = 0
    links: int = 0
    repeated: Repeated = Repeated()

    @property
    def nil(self) -> int:
        """Number of mentions without a link."""
        return self.mentions - self.links


def annotate_file(
    source: str,
    path: Path,
    output: Path,
    *,
    device: str | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
    **settings: object,
) -> Annotation:
    """Find and link the mentions of many documents.

    A run that was killed continues where it stopped; the output appears when all is done. W342
    lists ids that several documents have.

    source (str): assets, a saved pipeline, an installed package, or "starter".
    path (Path): JSON Lines, CSV, TSV (each plain or .gz), Parquet, a workbook (.xlsx), or a
        directory of text files.
    output (Path): `.jsonl`, `.jsonl.gz` or `.parquet`, or with a suffix of the format; documents
        that cannot be linked go to `<output>.bad.jsonl`.
    device (Optional[str]): device of the networks, "auto" for a GPU where there is one; None for
        spaCy's device. overwrite (bool): replace an output, and the parts of an earlier run that
        had other options. settings: the fields of `AnnotateSettings`.
    RAISES (MedlinkError): E107-E109, E122, E155, E165, E302, E611-E616; E407 where no document
        could be read; as `open_pipeline`.
    """
    given = AnnotateSettings.of(settings)
    lang, part_size, candidates = given.lang, given.part_size, given.candidates
    with_text = given.keep_text or bool(given.format)
    whole = Output(output, given.format, with_text, overwrite)
    whole.check([path, source])
    columns = Columns(**dict(value.split("=", 1) for value in given.columns))
    opened = open_input(path, columns)
    linker = given.of_linker()
    described = {
        "input": {"columns": columns, **opened.state},
        "pipeline": [_state_of(source), lang],
        "settings": [linker, candidates, with_text, part_size],
        "version": __version__,
    }
    journal = Journal(output, described)
    with only_process(output):
        if output.exists() and not overwrite and not journal.directory.exists():
            raise Errors.output_exists(path=output)
        done = journal.begin(overwrite)
        settings_of_job = (lang, linker, candidates, with_text, device)
        job = Job(_absolute(source), journal.directory.resolve(), *settings_of_job)
        parts = (part for part in parts_of(opened.read(), part_size) if part.number not in done)
        first = next(parts, None)
        run = run_ray if given.engine == "ray" else run_local
        # When all parts are there, only the output is missing, and nothing is opened.
        left = chain([first] if first else [], parts)
        new = run(job, left, given.n_process) if first or not done else ()
        before = [journal.count(part) for part in sorted(done)]
        total = None if progress is no_progress else opened.total()
        counts = _shown(before, new, total, progress)
        repeated = journal.finish(counts, path, whole)
    if repeated.documents:
        examples = ", ".join(map(repr, repeated.examples))
        tell(Warnings.repeated_ids.format(count=repeated.documents, examples=examples, path=path))
    aside = journal.aside if counts.set_aside else None
    return Annotation(
        counts.linked, counts.set_aside, len(done), aside, counts.mentions, counts.links, repeated
    )


def _shown(
    before: Sequence[Done], new: Iterable[Done | int], total: int | None, progress: Progress
) -> Done:
    """Sum up the counts of finished parts; progress counts documents, also of unfinished parts.

    before (Sequence[Done]): parts of earlier runs. new (Iterable): parts when they are finished,
        and in between the number of documents that this run has linked.
    RETURNS (Done): its `number` is the number of parts.
    """
    counts = Done(0, 0, 0)
    resumed = sum(part.documents for part in before)

    def documents() -> Iterator[None]:
        nonlocal counts
        shown = 0
        for step in chain(before, new):
            if isinstance(step, Done):
                counts = Done(counts.number + 1, *map(add, counts[1:], step[1:]))
            reached = counts.documents if isinstance(step, Done) else resumed + step
            yield from repeat(None, reached - shown)  # none where it is less
            shown = max(shown, reached)

    for _ in progress(documents(), total, "annotating documents"):
        pass
    return counts


def _absolute(source: str) -> str:
    """Make a path absolute; names of packages stay."""
    return str(Path(source).resolve()) if Path(source).exists() else source


def _state_of(source: str) -> str:
    """Hash the manifests and configs of a pipeline, which change when other files change."""
    if source == STARTER and not Path(source).exists():
        return STARTER
    directory = Path(source)
    if is_pipeline(source):
        from spacy.util import get_package_path

        inside = pipeline_directory(source)
        directory = Path(inside) if directory.is_dir() else get_package_path(source)
    files = sorted(file for name in _DESCRIBES for file in directory.rglob(name))
    return hash_of([file.read_text(encoding="utf-8") for file in files])

"""Journal: the parts of a run that are done, in a directory beside its output.

A part is a file that appears whole (written beside, renamed); a document is in exactly one part.
So a run that was killed continues with the missing parts, and no document is lost or doubled. When
all parts are there, they become the output in one more rename.
"""

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

import numpy as np

from ..errors import Errors
from ..text.normalisation import hash_key
from ..types import Data
from ..util.beside import try_lock
from ..util.files import replacing_file, save_text
from ..util.outputs import PRIVATE, FileKind, check_output
from .documents import Done, Repeated
from .output import Output

LINKED, ASIDE, COUNTS = "+", "-", "="  # first character of each line of a part
_END = 200  # last bytes of a part, which hold its last line, the counts
_PART = re.compile(r"part-(\d+)\.jsonl")
_JOB = "job.json"
_BEFORE = '{"doc_id": '  # the beginning of every record
_EXAMPLES = 3  # of repeated ids
_decoder = json.JSONDecoder()


def _is_aside(path: Path) -> bool:
    with path.open("rb") as file:
        first = json.loads(file.readline())
    return isinstance(first, dict) and {"doc_id", "place", "problem"} <= first.keys()


ASIDE_FILE = FileKind("a file of documents that were set aside", _is_aside)


def part_file(directory: Path, nth: int) -> Path:
    """Name the file of a part."""
    return directory / f"part-{nth:08}.jsonl"


@contextmanager
def only_process(output: Path) -> Iterator[None]:
    """Keep other processes from writing an output; the lock ends with the process, even if killed.

    RAISES (MedlinkError): E616 while another process has the lock, E109 where it cannot be written.
    """
    path = output.with_name(f".{output.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        opened = path.open("wb")
    except OSError as error:
        raise Errors.write_failed(path=output, reason=error.strerror or error) from error
    with opened as file:
        is_mine = try_lock(file)
        if is_mine:  # the process that had the lock may have removed the file after we opened it
            is_mine = path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())
        if is_mine is False:
            raise Errors.annotated_elsewhere(path=output)
        try:
            yield
        finally:
            if is_mine:
                path.unlink(missing_ok=True)


class Journal:
    """The directory of a run's parts.

    output (Path): the output of the run. job (Dict): input, pipeline and settings, as JSON, which
        must be the same when the run is resumed.
    """

    def __init__(self, output: Path, job: Data) -> None:
        self.output = output
        self.directory = output.with_name(f".{output.name}.parts")
        self.aside = output.with_name(f"{output.name}.bad.jsonl")
        self._job = json.loads(json.dumps(job))

    def begin(self, overwrite: bool = False) -> set[int]:
        """Make the directory, or find the directory of an earlier run.

        overwrite (bool): delete the parts of an earlier run that had another job.
        RETURNS (Set[int]): the parts that are done.
        RAISES (MedlinkError): E613 when an earlier run had another job, E109 when the directory
            cannot be written, E120 or E124 when another file is in the place of the file of
            documents set aside.
        """
        check_output(self.aside, ASIDE_FILE)
        done = self.done()
        job = self.directory / _JOB
        before = _read_job(job) if done else self._job
        changed = [name for name in self._job if before.get(name) != self._job[name]]
        if changed and not overwrite:
            raise Errors.other_job(path=self.directory, what="different " + " and ".join(changed))
        if changed:
            self._remove()
            done = set()
        if not done:
            save_text(job, PRIVATE, json.dumps(self._job))
        return done

    def count(self, part: int) -> Done:
        """Count the documents of a part that is done."""
        path = part_file(self.directory, part)
        with path.open("rb") as file:
            kinds = Counter(line[:1] for line in file)
        counts = _counts(path) or {}
        return Done(part, kinds[LINKED.encode()], kinds[ASIDE.encode()], **counts)

    def finish(self, counts: Done, source: Path, output: Output) -> Repeated:
        """Join the parts to the output and the file of documents set aside.

        counts (Done): of all parts; its `number` is how many. source (Path): for messages.
        RETURNS (Repeated): the ids that several documents have.
        RAISES (MedlinkError): E109 when the output cannot be written, E124 when another file has
            taken its place; the parts stay. E407 when all documents were set aside: there is no
            output then.
        """
        parts = counts.number
        if counts.set_aside:
            with replacing_file(self.aside, ASIDE_FILE) as temporary, temporary.open("wb") as file:
                file.writelines(self._lines(parts, ASIDE))
        else:
            check_output(self.aside, ASIDE_FILE)
            self.aside.unlink(missing_ok=True)
        if counts.set_aside and not counts.linked:
            first = json.loads(next(self._lines(parts, ASIDE)))
            remedy = (
                f"Set aside: {counts.set_aside:,} ({self.aside}). The first, {first['place']}: "
                f"{first['problem']}. Correct them, or name the columns with "
                "`--columns text=COLUMN,id=COLUMN`."
            )
            self._remove()
            raise Errors.nothing_there(path=source, what="readable document", remedy=remedy)
        output.write(self._lines(parts, LINKED))
        repeated = self._repeated(parts)
        self._remove()
        return repeated

    def _repeated(self, parts: int) -> Repeated:
        """Find ids that several documents have, by their hashes: eight bytes for each."""
        hashes = np.fromiter(map(hash_key, self._ids(parts)), np.uint64)
        values, counts = np.unique(hashes, return_counts=True)
        shown = frozenset(values[counts > 1][:_EXAMPLES].tolist())
        ids = (id for id in self._ids(parts) if hash_key(id) in shown) if shown else ()
        return Repeated(len(hashes) - len(values), tuple(dict.fromkeys(ids)))

    def _ids(self, parts: int) -> Iterator[str]:
        """Stream the ids of documents, each from the beginning of its record; some have none."""
        for line in chain(self._lines(parts, LINKED), self._lines(parts, ASIDE)):
            id, _ = _decoder.raw_decode(line.decode("utf-8", "replace"), len(_BEFORE))
            if id:
                yield id

    def done(self) -> set[int]:
        """List the parts that are done."""
        if not self.directory.is_dir():
            return set()
        names = (_PART.fullmatch(file.name) for file in self.directory.iterdir())
        parts = {int(match[1]) for match in names if match}
        # A damaged part is linked again.
        return {part for part in parts if _counts(part_file(self.directory, part)) is not None}

    def _lines(self, parts: int, mark: str) -> Iterator[bytes]:
        for nth in range(parts):
            with part_file(self.directory, nth).open("rb") as file:
                yield from (line[1:] for line in file if line.startswith(mark.encode()))

    def _remove(self) -> None:
        # Renamed first: if killed now, the rest does not look like a run to resume.
        gone = self.directory.with_name(self.directory.name + ".gone")
        shutil.rmtree(gone, ignore_errors=True)
        with suppress(FileNotFoundError):
            self.directory.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def _read_job(path: Path) -> Data:
    """Read the job of a run; {}, which differs from any job, where the file is damaged."""
    try:
        job = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return job if isinstance(job, dict) else {}


def _counts(path: Path) -> dict[str, int] | None:
    """Read the counts in the last line of a part; None where the line is not whole."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _END))
            last = file.read().splitlines(keepends=True)[-1:] or [b""]
        if not (last[0].startswith(COUNTS.encode()) and last[0].endswith(b"\n")):
            return None
        counts = json.loads(last[0][1:])
        return {name: int(counts[name]) for name in ("mentions", "links")}
    except (OSError, ValueError, KeyError, TypeError):
        return None

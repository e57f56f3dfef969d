"""A second Python process beside a build: for the keys of names, and for a reader."""

import gc
import marshal
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

from ..errors import Errors, MedlinkError
from ..types import BadLine, BadLines, CodeMap, Concept, Name, Record, Relation, Retired

# The second process gets the list of paths, so that it finds the same package.
_CODE = (
    "import sys; sys.path[:] = {paths!r}; "
    "from {module} import {function}; {function}(*{arguments!r})"
)


def start(
    module: str, function: str, *arguments: object, stdin: int | None = None,
    stdout: int | None = None,
) -> "subprocess.Popen[bytes] | None":  # fmt: skip
    """Call a function in a new Python process, whose standard error is a pipe.

    multiprocessing is not used, because its fork is unsafe beside threads, and its spawn runs the
    user's script again.

    module, function (str): what to call; it may not need `__main__`.
    arguments (object): literals.
    stdin, stdout (Optional[int]): as in subprocess.Popen.
    RETURNS (Optional[Popen]): None where Python cannot be started again or has only one core.
    """
    if not sys.executable or getattr(sys, "frozen", False) or (os.cpu_count() or 1) < 2:
        return None
    code = _CODE.format(paths=sys.path, module=module, function=function, arguments=arguments)
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE
    )


def last_words(problem: bytes) -> str:
    """Extract the reason of a failure from a process's standard error."""
    lines = problem.decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it was killed")


_Columns = list[list[object]]
_Packed = tuple[Any, ...]
_Batch = tuple[list[_Packed], _Columns, _Columns, list[tuple[str, int, str, str]], tuple[str, ...]]
"""Records without names and relations, names by column, relations by column, bad lines, and how it
ends: () if more batches follow, ("",) for success, (code, message) for an error."""

_SIZE = struct.Struct("<Q")
_NAMES = 10_000
_MOST = 1 << 40  # bytes of a batch: a larger size is text that something printed
# Version 2 writes every string where it stands; later ones spend time on looking for repetitions.
_MARSHAL = 2
_new_name = partial(tuple.__new__, Name)
_new_relation = partial(tuple.__new__, Relation)


def read_apart(reader: str, path: Path, bad_lines: BadLines, **options: object) -> Iterator[Record]:
    """Stream the records of a reader, from a second process if one can be started.

    reader (str): module and function, such as "spacy_medlink.kb.readers.obo:read".
    path, bad_lines, options: the reader's arguments; the options must be literals.
    RAISES (MedlinkError): what the reader raises, and E155 when its process dies.
    """
    arguments = (reader, str(path), bad_lines is not None, options)
    process = start(__name__, "serve", *arguments, stdout=subprocess.PIPE)
    if process is None:
        yield from _function(reader)(path, bad_lines, **options)
        return
    assert process.stdout is not None
    try:
        while True:
            header = process.stdout.read(_SIZE.size)
            size = _SIZE.unpack(header)[0] if len(header) == _SIZE.size else _MOST
            data = process.stdout.read(size) if size < _MOST else b""
            if len(data) < size:
                _, problem = process.communicate()
                raise Errors.process_died(work=f"read {path} ({last_words(problem)})")
            batch: _Batch = marshal.loads(data)
            records, names, relations, bad, end = batch
            yield from _records(records, names, relations)
            if bad_lines is not None:
                bad_lines += [BadLine(*line) for line in bad]
            if end:
                break
        if end[0]:
            raise MedlinkError(*end)
    finally:
        process.kill()
        process.communicate()


def serve(reader: str, path: str, collect: bool, options: dict[str, object]) -> None:
    """Run the second process: write batches of records to standard output."""
    gc.disable()  # readers make no reference cycles, and the search for them takes long
    bad_lines: BadLines = [] if collect else None
    batches = _Batches(sys.stdout.buffer, bad_lines)
    try:
        for record in _function(reader)(Path(path), bad_lines, **options):
            batches.add(record)
    except MedlinkError as error:
        batches.send((error.code, error.message))
    else:
        batches.send(("",))


class _Batches:
    """Collects records and writes them in batches."""

    def __init__(self, file: IO[bytes], bad_lines: BadLines) -> None:
        self._file = file
        self._bad_lines = bad_lines
        self._records: list[_Packed] = []
        self._names: list[Name] = []
        self._relations: list[Relation] = []

    def add(self, record: Record) -> None:
        """Add a record, and write the batch when it is full."""
        if isinstance(record, Retired):
            self._records.append(tuple(record))
        else:
            self._names += record.names
            self._relations += record.relations
            self._records.append(
                (len(record.names), len(record.relations), record.id, record.name, record.types,
                 record.definition, dict(record.codes), record.parents,
                 list(map(tuple, record.maps)))
            )  # fmt: skip
        if len(self._names) + len(self._relations) + len(self._records) >= _NAMES:
            self.send(())

    def send(self, end: tuple[str, ...]) -> None:
        """Write the batch, with its end."""
        names, relations = _columns(self._names, Name), _columns(self._relations, Relation)
        bad = [tuple(line) for line in self._bad_lines or ()]
        data = marshal.dumps((self._records, names, relations, bad, end), _MARSHAL)
        self._file.write(_SIZE.pack(len(data)))
        self._file.write(data)
        self._file.flush()
        self._records.clear()
        self._names.clear()
        self._relations.clear()
        if self._bad_lines is not None:
            self._bad_lines.clear()


def _columns(rows: Sequence[_Packed], record_type: type[Name] | type[Relation]) -> _Columns:
    return [list(map(itemgetter(column), rows)) for column in range(len(record_type._fields))]


def _records(records: list[_Packed], named: _Columns, related: _Columns) -> Iterator[Record]:
    names = iter(map(_new_name, zip(*named, strict=True)))
    relations = iter(map(_new_relation, zip(*related, strict=True)))
    for record in records:
        if len(record) == len(Retired._fields):
            yield Retired(*record)
        else:
            n_names, n_relations, id, name, types, definition, codes, parents, maps = record
            yield Concept(
                id, name, tuple(islice(names, n_names)), types, definition, codes, parents,
                tuple(islice(relations, n_relations)), tuple(CodeMap(*fields) for fields in maps),
            )  # fmt: skip


def _function(reader: str) -> Callable[..., Iterator[Record]]:
    module, _, name = reader.partition(":")
    function: Callable[..., Iterator[Record]] = getattr(import_module(module), name)
    return function

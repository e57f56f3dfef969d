"""CorrectionFile: the file of corrections, a gold file that is written line by line."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..errors import Errors, MedlinkError
from ..fitting.corrections import is_gold
from ..kb.gold import read_gold
from ..types import Data, Facts
from ..util.beside import only_one
from ..util.files import replacing_file
from ..util.json_text import read_json, write_json
from ..util.outputs import PRIVATE

MARK = "correction"  # key of the fields beyond gold: author, time, link before


class CorrectionFile:
    """A gold file that several people, and several services, write into at the same time.

    path (Path): made if it does not exist.
    RAISES (MedlinkError): E109 where it cannot be written, E160 where it is another kind of file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.make()

    def make(self) -> None:
        """Make the file if it is not there, or no longer. RAISES (MedlinkError): E109, E160."""
        with self._alone():
            with self.path.open("a"):
                pass
            if self.path.stat().st_size and not is_gold(self.path):
                raise Errors.wrong_file(
                    path=self.path,
                    what="a file of gold mentions",
                    problem="no corrections are put there",
                    expected="a file with gold as JSON Lines, or for `--corrections` a new one",
                )

    def add(self, line: Facts) -> None:
        """Append a line to the file on disk, whole or not at all.

        RAISES (MedlinkError): E109 when the disk is full.
        """
        with self._alone(), self.path.open("r+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            content = write_json(line).encode() + b"\n"
            if size and _last_byte(file, size) != b"\n":
                content = b"\n" + content
            try:
                file.seek(size)
                if file.write(content) != len(content):
                    raise OSError("the disk is full")
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise

    def remove(self, id: str) -> None:
        """Remove a correction from the file; the other lines do not change.

        RAISES (MedlinkError): E651 for an unknown id, E109 when the disk is full.
        """
        with self._alone():
            lines = self.path.read_bytes().splitlines(keepends=True)
            kept = [line for line in lines if _mark_of(line, id) is None]
            if len(kept) == len(lines):
                raise Errors.no_such_correction(id=id)
            state = self.path.stat()
            with replacing_file(self.path, PRIVATE, improves=self.path) as new:
                new.touch()
                new.chmod(state.st_mode & 0o7777)  # while it is still empty
                new.write_bytes(b"".join(kept))

    def corrections(self) -> list[Data]:
        """List the corrections, the last first; other gold lines are left out."""
        with self._alone():
            lines = self.path.read_bytes().splitlines()
        return [
            correction for line in reversed(lines) if (correction := _mark_of(line)) is not None
        ]

    def notes(self) -> list[str]:
        """List the texts of the file; sentences of corrections only where there are no others.

        RAISES (MedlinkError): E401 as `read_gold`.
        """
        done = {document["doc_id"] for document in self.corrections()}
        texts: dict[str, bool] = {}
        try:
            for document in read_gold(self.path):
                texts[document.text or ""] = (
                    texts.get(document.text or "", True) and document.doc_id in done
                )
        except MedlinkError as error:
            if error.code != Errors.no_gold(path=self.path).code:  # there are texts, at least
                raise
        return [document for document in texts if document and not texts[document]] or list(
            filter(None, texts)
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with only_one(self.path.parent):
                yield
        except OSError as error:
            raise Errors.write_failed(path=self.path, reason=error.strerror or error) from error


def _mark_of(line: bytes, id: str | None = None) -> Data | None:
    """Read a line that is a correction, with this id if given; None for other lines."""
    try:
        data = read_json(line.decode())
        is_ours = isinstance(data, dict) and isinstance(data[MARK], dict) and data["mentions"][0]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    return data if is_ours and id in (None, data.get("doc_id")) else None


def _last_byte(file: IO[bytes], size: int) -> bytes:
    file.seek(size - 1)
    return file.read(1)

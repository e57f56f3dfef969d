"""CorrectionFile: the file of corrections, a gold file that is written line by line."""

import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import Errors
from ...fitting.corrections import is_gold
from ...text.context.sections import sentence_starts
from ...text.layout import laid_out
from ...types import Data, Facts
from ...util.beside import only_one
from ...util.file_thread import UNWANTED, settle
from ...util.files import replacing_file
from ...util.json_text import read_json, write_json
from ...util.outputs import PRIVATE, resolved

_WRONG = {
    "what": "a file of gold mentions", "problem": "no corrections are put there",
    "expected": "a file with gold as JSON Lines, or for `--corrections` a new one",
}  # fmt: skip
_AROUND = 300  # characters of a sentence that are kept before and behind a mention
MARK = "correction"  # key of the fields beyond gold: author, time, link before


class CorrectionFile:
    """A gold file that several people, and several services, write into at the same time.

    path (Path): made if it does not exist.
    asked (Optional[Future]): the answer that somebody waits for; see `settle`.
    RAISES (MedlinkError): E109 where it cannot be written, E160 where it is another kind of file.
    """

    def __init__(self, path: Path) -> None:
        self.path = resolved(path)
        self.make()

    def make(self) -> None:
        """Make the file if it is not there, or no longer. RAISES (MedlinkError): E109, E160."""
        with self._alone(), self.path.open("a"):
            pass

    def add(self, line: Facts, asked: "Future[Any] | None" = None) -> Facts:
        """Append a line to the file on disk, whole or not at all; once, however often it is sent.

        RETURNS (Dict[str, Any]): the line of the file that has its id.
        RAISES (MedlinkError): E109 when the disk is full, E623 where another line has its id.
        """
        with self._alone(asked), self.path.open("a+b", buffering=0) as file:
            file.seek(0)
            before = file.read()
            for kept in before.splitlines() if line["doc_id"].encode() in before else ():
                if (correction := _mark_of(kept, line["doc_id"])) is not None:
                    if _said(correction) != _said(line):
                        raise Errors.bad_request(wrong="id: another correction has it")
                    return correction
            content = write_json(line).encode() + b"\n"
            if before and not before.endswith(b"\n"):
                content = b"\n" + content
            try:
                if file.write(content) != len(content):
                    raise OSError("the disk is full")
                os.fsync(file.fileno())
                settle(asked)
            except OSError:
                file.truncate(len(before))
                raise
        return line

    def remove(self, id: str, asked: "Future[Any] | None" = None) -> None:
        """Remove a correction from the file; the other lines do not change.

        RAISES (MedlinkError): E651 for an unknown id, E109 when the disk is full.
        """
        with self._alone(asked):
            lines = self.path.read_bytes().splitlines(keepends=True)
            kept = [line for line in lines if _mark_of(line, id) is None]
            if len(kept) == len(lines):
                raise Errors.no_such_correction(id=id)
            state = self.path.stat()
            with replacing_file(self.path, PRIVATE, improves=self.path) as new:
                new.touch()
                new.chmod(state.st_mode & 0o7777)  # while it is still empty
                new.write_bytes(b"".join(kept))
                settle(asked)

    def corrections(self) -> list[Data]:
        """List the corrections, the last first; other gold lines are left out."""
        with self._alone():
            lines = self.path.read_bytes().splitlines()
        return [mark for mark in map(_mark_of, reversed(lines)) if mark is not None]

    @contextmanager
    def _alone(self, asked: "Future[Any] | None" = None) -> Iterator[None]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with only_one(self.path.parent):
                if not _is_ours(self.path):
                    raise Errors.wrong_file(path=self.path, **_WRONG)
                if asked is not None and asked.cancelled():
                    raise OSError(UNWANTED)
                yield
        except OSError as error:
            raise Errors.write_failed(path=self.path, reason=error.strerror or error) from error


def _is_ours(path: Path) -> bool:
    """Tell whether corrections may be put at a path; a pipe, which would be waited for, is none."""
    return not path.exists() or (path.is_file() and (not path.stat().st_size or is_gold(path)))


def _said(line: Facts) -> tuple[object, ...]:
    """Get what a correction says: not when, nor instead of what."""
    mention = line["mentions"][0]
    return line["text"], mention.get("start"), mention.get("end"), mention["ids"]


def _mark_of(line: bytes, id: str | None = None) -> Data | None:
    """Read a line that is a correction, with this id if given; None for other lines."""
    try:
        data = read_json(line.decode())
        is_ours = isinstance(data, dict) and isinstance(data[MARK], dict) and data["mentions"][0]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    return data if is_ours and id in (None, data.get("doc_id")) else None


def excerpt(text: str, start: int, end: int, long_form: str) -> tuple[str, int]:
    """Cut the sentence of a mention out of its document, to keep no more text than fitting needs.

    Rerankers read 64 characters around a mention, and an abbreviation needs its definition.
    RETURNS (Tuple[str, int]): the text, and the number to subtract from offsets in the document.
    """
    starts = [0, *sentence_starts(laid_out(text)), len(text)]
    begin = max(starts[bisect_right(starts, start) - 1], start - _AROUND)
    stop = min(starts[min(bisect_left(starts, end), len(starts) - 1)], end + _AROUND)
    sentence = text[begin:stop]
    begin += len(sentence[: start - begin]) - len(sentence[: start - begin].lstrip())
    sentence = text[begin:stop].rstrip() if stop > end else text[begin:end]
    if long_form and long_form not in sentence:
        definition = f"{long_form} ({text[start:end]}).\n"
        return definition + sentence, begin - len(definition)
    return sentence, begin

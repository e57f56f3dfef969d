"""Get one file over HTTP: retries with longer waits, resumes a download, checks the file.

Not pooch 1.9, which starts again after an interruption, keeps a log-in page where no checksum is
known, and asks three times for a missing file (docs/decisions.md, 58).
"""

import json
import time
from collections.abc import Callable, Iterator
from email.message import Message
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from spacy_medlink import __version__
from spacy_medlink.errors import Errors
from spacy_medlink.types import Progress
from spacy_medlink.util.files import sha256_of
from spacy_medlink.util.progress import no_progress

TRIES = 5
FIRST_WAIT, LONGEST_WAIT = 2.0, 60.0  # seconds; doubled each time
TIMEOUT = 60.0  # seconds without a byte
_BLOCK = 1 << 18  # bytes
# The server is busy: the same request may succeed later.
_LATER = {408, 425, 429, 500, 502, 503, 504}
_PAGE = (b"<!doctype html", b"<html")
_PACKED = (b"PK", b"\x1f\x8b")  # zip and gzip, whatever type the server states
Sleep = Callable[[float], None]


class Wanted(NamedTuple):
    """A file to get: its address, its page for people, its expected content ("" for unknown).

    query (Dict[str, str]): added to the address of the request, such as a key; never written to
        messages or files.
    """

    url: str
    homepage: str
    sha256: str = ""
    query: dict[str, str] = {}


class _AgainError(Exception):
    """A failure that the next try may not have."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


def fetch(
    wanted: Wanted,
    target: Path,
    progress: Progress = no_progress,
    sleep: Sleep = time.sleep,
    tries: int = TRIES,
) -> str:
    """Get a file; until it is complete, the received part is kept beside the target.

    target (Path): written only when the file is complete and correct.
    sleep (Callable[[float], None]): waits for seconds between tries. tries (int): at most.
    RETURNS (str): the sha256 of the file.
    RAISES (MedlinkError): E711 for a failed download, E712 for a web page instead, E717 for a
        wrong checksum.
    """
    part = target.with_name(f"{target.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    wait = FIRST_WAIT
    for tried in range(1, tries + 1):
        try:
            _get(wanted, part, progress)
            break
        except _AgainError as error:
            if tried == tries:
                raise _failed(wanted, error, tried) from error
            sleep(max(wait, min(error.wait, LONGEST_WAIT)))
            wait = min(2 * wait, LONGEST_WAIT)
    found = sha256_of(part)
    _state(part).unlink(missing_ok=True)
    if wanted.sha256 and found != wanted.sha256.lower():
        part.unlink()
        raise Errors.download_checksum(url=wanted.url, found=found, expected=wanted.sha256)
    part.replace(target)
    return found


def is_offline(error: BaseException | None) -> bool:
    """Tell whether a download failed for lack of a connection, not by the server's answer."""
    while error is not None:
        if isinstance(error, URLError):
            return not isinstance(error, HTTPError)
        error = error.__cause__
    return False


def _get(wanted: Wanted, part: Path, progress: Progress) -> None:
    """Get the missing part of a file, or all of it."""
    have, state = _begun(wanted, part)
    try:
        with urlopen(_request(wanted, have, state), timeout=TIMEOUT) as response:
            _write(wanted, part, have, response, progress)
    except HTTPError as error:
        with error:  # closes the connection
            _refused(wanted, part, error)
    except (
        OSError,
        HTTPException,
    ) as error:  # URLError, timeouts and broken connections are OSErrors
        reason = error.reason if isinstance(error, URLError) else error
        raise _AgainError(str(reason) or type(error).__name__) from error


def _begun(wanted: Wanted, part: Path) -> tuple[int, dict[str, str]]:
    """Return the number of received bytes of this file, and the server's tag of it."""
    try:
        state = json.loads(_state(part).read_text(encoding="utf-8"))
        have = part.stat().st_size
    except (OSError, ValueError):
        return 0, {}
    mine = isinstance(state, dict) and state.get("url") == wanted.url
    return (have, state) if mine and state.get("tag") else (0, {})


def _request(wanted: Wanted, have: int, state: dict[str, str]) -> Request:
    url = wanted.url
    if wanted.query:
        url += ("&" if urlsplit(url).query else "?") + urlencode(wanted.query)
    headers = {"User-Agent": f"spacy-medlink/{__version__}", "Accept-Encoding": "identity"}
    if have:
        # The server sends the rest only if the file is unchanged, otherwise all of it.
        headers |= {"Range": f"bytes={have}-", "If-Range": state["tag"]}
    return Request(url, headers=headers)


def _write(
    wanted: Wanted, part: Path, have: int, response: HTTPResponse, progress: Progress
) -> None:
    headers = response.headers
    resumed = response.status == 206 and _resumes_at(headers) == have
    if response.status == 206 and not resumed:
        part.unlink(missing_ok=True)
        raise _AgainError("the server sent another part than was asked for")
    have = have if resumed else 0
    tag = headers.get("ETag", "") or headers.get("Last-Modified", "")
    strong = "" if tag.startswith("W/") else tag  # a weak tag does not promise the same bytes
    state = {"url": wanted.url, "tag": strong}
    _state(part).write_text(json.dumps(state), encoding="utf-8")
    length = _number(headers.get("Content-Length"))
    blocks = None if length is None else -(-length // _BLOCK)
    with part.open("ab" if resumed else "wb") as file:
        for block in progress(_blocks(wanted, response, have), blocks, target_name(wanted.url)):
            file.write(block)
    size = part.stat().st_size
    if length is not None and size < have + length:
        raise _AgainError(f"it was cut off after {size:,} of {have + length:,} bytes")


def _blocks(wanted: Wanted, response: HTTPResponse, have: int) -> Iterator[bytes]:
    """Stream the received blocks. Fail if they are a web page."""
    first = response.read(_BLOCK)
    kind = response.headers.get_content_type()
    packed = first.startswith(_PACKED)
    if not have and (is_page(first) or (kind == "text/html" and not packed)):
        raise Errors.download_is_page(url=wanted.url, homepage=wanted.homepage)
    block = first
    while block:
        yield block
        block = response.read(_BLOCK)


def _refused(wanted: Wanted, part: Path, error: HTTPError) -> None:
    """Raise the error for an HTTP status."""
    reason = f"HTTP {error.code} {error.reason}"
    if error.code == 416:  # no bytes after the received ones: the file is complete, or another one
        total = (error.headers.get("Content-Range") or "").rpartition("/")[2]
        if part.is_file() and total == str(part.stat().st_size):
            return
        part.unlink(missing_ok=True)
        raise _AgainError(reason)
    if error.code in _LATER:
        raise _AgainError(reason, float(_number(error.headers.get("Retry-After")) or 0))
    if error.code in {401, 403}:
        reason += ": it wants a log-in, or a key that is right"
    raise _failed(wanted, reason, 1)


def is_page(beginning: bytes) -> bool:
    """Tell whether a file begins like a web page."""
    return beginning.lstrip(b"\xef\xbb\xbf \t\r\n")[:20].lower().startswith(_PAGE)


def target_name(url: str) -> str:
    """Name a file after the last part of its address."""
    return urlsplit(url).path.rpartition("/")[2] or "file"


def _resumes_at(headers: Message) -> int | None:
    unit, _, rest = (headers.get("Content-Range") or "").partition(" ")
    return _number(rest.partition("-")[0]) if unit == "bytes" else None


def _number(text: object) -> int | None:
    return int(text) if isinstance(text, str) and text.isdecimal() and len(text) < 16 else None


def _state(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _failed(wanted: Wanted, reason: object, tries: int) -> Exception:
    return Errors.download_failed(
        url=wanted.url, reason=reason, tries=tries, homepage=wanted.homepage
    )

"""Get one file over HTTP with pooch, whole or not at all, and no web page in its place."""

import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pooch
import requests

from spacy_medlink import __version__
from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.util.files import sha256_of, working_directory

TRIES = 4
_WAIT = 2.0  # seconds, doubled with each try
_TIMEOUT = 60.0  # seconds without a byte
_BLOCK = 1 << 18  # bytes
_LATER = {408, 425, 429, 500, 502, 503, 504}  # the server is busy, and may answer later
_HEADERS = {"User-Agent": f"spacy-medlink/{__version__}", "Accept-Encoding": "identity"}
_PAGE = (b"<!doctype html", b"<html")


def fetch(
    url: str, target: Path, homepage: str, sha256: str = "", query: dict[str, str] | None = None
) -> str:
    """Get a file; a busy server and a broken connection are tried again, a missing network is not.

    target (Path): written only when the file is complete and correct. sha256 (str): "" if unknown.
    query (Optional[Dict[str, str]]): added to the request, such as a key; no message repeats it.
    RETURNS (str): the sha256 of the file.
    RAISES (MedlinkError): E711 for a failed download, E712 for a web page instead, E211 for a
        wrong checksum.
    """
    pooch.get_logger().setLevel("WARNING")
    with working_directory(target) as work:
        for tried in range(1, TRIES + 1):
            try:
                _get(url, work, query)
                break
            except requests.RequestException as error:
                if error.response is not None:
                    error.response.close()
                if tried == TRIES or not _may_pass(error):
                    raise _failed(url, homepage, error, tried) from error
                time.sleep(_WAIT * 2 ** (tried - 1))
        digest = check_file(work / "file", url, homepage, sha256)
        (work / "file").replace(target)
    return digest


def check_file(path: Path, shown: object, homepage: str, sha256: str = "") -> str:
    """Check that a file is no web page and has its checksum. RETURNS its sha256.

    shown (object): its name in messages. RAISES (MedlinkError): E712, E211.
    """
    with path.open("rb") as file:
        beginning = file.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n")
    if beginning[:20].lower().startswith(_PAGE):
        raise Errors.download_is_page(url=shown, homepage=homepage)
    digest = sha256_of(path)
    if sha256 and digest != sha256.lower():
        raise Errors.wrong_checksum(path=shown, found=digest, expected=sha256)
    return digest


def target_name(url: str) -> str:
    """Name a file after the last part of its address."""
    return urlsplit(url).path.rpartition("/")[2] or "file"


def _get(url: str, directory: Path, query: dict[str, str] | None) -> None:
    downloader = pooch.HTTPDownloader(
        sys.stderr.isatty(), _BLOCK, params=query, headers=_HEADERS, timeout=_TIMEOUT
    )
    pooch.retrieve(url, None, fname="file", path=directory, downloader=downloader)


def _may_pass(error: requests.RequestException) -> bool:
    if error.response is not None:
        return error.response.status_code in _LATER
    return not isinstance(error, requests.ConnectionError)


def _failed(url: str, homepage: str, error: requests.RequestException, tries: int) -> MedlinkError:
    """Say what went wrong without the address that was asked, which may have a key in it."""
    if error.response is not None:
        code = error.response.status_code
        reason = f"HTTP {code} {error.response.reason}"
        if code in {401, 403}:
            reason += ": it wants a log-in, or a key that is right"
    else:
        cause = error.args[0] if error.args else error
        reason = str(getattr(cause, "reason", cause)) or type(error).__name__
    return Errors.download_failed(url=url, reason=reason, tries=tries, homepage=homepage)

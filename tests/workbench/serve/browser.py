"""The page of a service in Chromium, for tests; skips where there is none."""

import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def opened_page(desks: Sequence[Any], **options: Any) -> Iterator[tuple[Any, list[str]]]:
    """Serve desks and open their page: it, and what its console says."""
    api = pytest.importorskip("playwright.sync_api")
    uvicorn = pytest.importorskip("uvicorn")
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no Chromium")
    from spacy_medlink.workbench.serve import make_app

    server = uvicorn.Server(uvicorn.Config(make_app(desks), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        with api.sync_playwright() as play:
            started = play.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            page, said = started.new_page(**options), list[str]()
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.goto(f"http://127.0.0.1:{port}/")
            page.wait_for_selector("#terminology option", state="attached")
            yield page, said
    finally:
        server.should_exit = True
        thread.join()

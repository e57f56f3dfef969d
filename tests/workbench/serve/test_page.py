"""The page in Chromium where it could go wrong: other sites, odd ids, scripts from the right."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from spacy_medlink.types import Name
from tests.tiny import concept

pytest.importorskip("fastapi")
from spacy_medlink.workbench.serve import CorrectionFile, Desk  # imports fastapi
from tests.workbench.serve.browser import opened_page

ASTHMA, FEVER = "..", "F"  # an address that ends with ".." leads elsewhere
HEBREW = "אסתמה קשה, חום"
# What a page can send without asking first, and what it must ask for (a preflight).
SENT = """([address, type]) => fetch(address, {method: "POST", mode: type ? "cors" : "no-cors",
    headers: type ? {"Content-Type": type} : {}, credentials: "include",
    body: JSON.stringify({text: "fever", start: 0, end: 5, ids: []})}).then(() => 1, () => 0)"""
FORM = """address => {
    document.body.innerHTML = `<form method="post" enctype="text/plain" action="${address}">
        <input name='{"text": "fever", "start": 0, "end": 5, "ids": [], "by": "' value='"}'>`;
    document.forms[0].submit();
}"""


RECORDS = [
    concept(ASTHMA, "asthma", Name("אסתמה", "he"), types=("T047",)),
    concept(FEVER, "fever", Name("חום", "he"), parents=(ASTHMA,)),
]


@contextmanager
def _another_site() -> Iterator[str]:
    """Serve an empty page at another port, which makes it another origin."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!DOCTYPE html><body>")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
def test_pages_of_other_sites_and_odd_concepts(assets, tmp_path):
    file = CorrectionFile(tmp_path / "corrections.jsonl")
    desk = Desk("odd", str(assets.path), "he", device="cpu", corrections=file)
    with opened_page([desk]) as (page, said), _another_site() as elsewhere:
        ours = page.url

        # Right to left: the first mention stands to the right, and corrections find their place.
        page.fill("#text", HEBREW)
        page.click("#link")
        page.wait_for_selector("#linked button >> nth=1")
        mentions = page.locator("#linked button")
        assert mentions.all_inner_texts() == ["אסתמהasthma", "חוםfever"]
        first, second = (mentions.nth(place).bounding_box() for place in (0, 1))
        assert first["x"] > second["x"]
        field = page.locator("#linked").bounding_box()
        assert first["x"] + first["width"] > field["x"] + 0.9 * field["width"], "it begins there"
        mentions.nth(0).click()
        page.get_by_role("button", name="Word after").click()
        page.locator("#target mark", has_text="אסתמה קשה").wait_for()
        page.fill("#query", "fever")
        page.press("#query", "Enter")
        page.get_by_role("button", name="Link “אסתמה קשה” to fever").click()
        page.wait_for_function("() => linked.mentions[0].mention === 'אסתמה קשה'")
        (kept,) = file.corrections()
        assert (kept["text"], kept["mentions"][0]["start"]) == (HEBREW, 0)
        page.click("#undo")
        page.wait_for_function("() => linked.mentions.length === 2 && linked.mentions[0].end === 5")

        # The concept with the id "..": shown, chosen for a mention, and left again.
        page.locator("#linked button >> nth=1").click()
        page.locator("#details").get_by_role("button", name="fever", exact=True).click()
        page.locator("#details").get_by_role("button", name="asthma", exact=True).click()
        page.locator("#details h2", has_text="asthma").wait_for()
        page.get_by_role("button", name="Link “חום” to asthma").click()
        page.wait_for_function(f"() => linked.mentions.every((one) => one.ids[0] === '{ASTHMA}')")
        assert [one["mentions"][0]["ids"] for one in file.corrections()] == [[ASTHMA]]
        assert said == []

        # Another site cannot correct, whatever it sends.
        kept = file.path.read_bytes()
        page.goto(elsewhere)
        statuses: list[int] = []
        page.on("response", lambda answer: statuses.append(answer.status))
        for type in ("", "text/plain", "application/json"):
            page.evaluate(SENT, [f"{ours}corrections", type])
        page.evaluate(FORM, f"{ours}corrections")
        page.wait_for_url(f"{ours}corrections")
        assert "E655" in page.inner_text("body")
        assert 403 in statuses and 200 not in statuses, statuses
        assert file.path.read_bytes() == kept

"""What the error browser exports is what `medlink build --memory` takes."""

import json
import re
import shutil
import subprocess
from html import unescape
from typing import Any

import pytest
import spacy

from spacy_medlink.assets import build_assets
from spacy_medlink.evaluation.report import Run
from spacy_medlink.evaluation.report.page import render_report
from spacy_medlink.evaluation.report.tables import make_tables
from spacy_medlink.kb.gold import read_gold
from spacy_medlink.linking.decision import NOT_A_CONCEPT
from tests.evaluation.report.conftest import HOSTILE
from tests.evaluation.report.test_page import Page

# Runs before the page's own script, and keeps what is saved; the clicks come after it.
_CATCH = """<script>
window.saved = [];
window.Blob = class { constructor(parts) { window.saved.push(parts.join("")); } };
URL.createObjectURL = () => "#";
HTMLAnchorElement.prototype.click = () => {};
</script>"""
_CLICKS = """<script>
const cardOf = (text) => [...document.querySelectorAll("li.card")]
  .find((card) => card.querySelector("mark").textContent === text);
const press = (text, ids) => [...cardOf(text).querySelectorAll("button[aria-pressed]")]
  .find((button) => button.value === ids).click();
document.forms.filter.elements.verdict.value = "";
document.forms.filter.dispatchEvent(new Event("input"));
setTimeout(() => {
  %s
  document.querySelector("#corrections button").click();
  const shown = document.createElement("pre");
  shown.id = "saved";
  shown.textContent = JSON.stringify(window.saved[0]);
  document.body.append(shown);
}, 500);
</script>"""


def _page(metrics: dict[str, Any]) -> str:
    runs = [Run("linker", metrics)]
    return render_report("Corrections", runs, make_tables(runs))


@pytest.fixture
def export(tmp_path, metrics):
    """Open the page in a browser, run a script on it, and give the lines that it saves."""
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no Chromium")

    def export(script: str) -> list[str]:
        html = _page(metrics).replace("<body>", f"<body>{_CATCH}")
        html = html.replace("</body>", f"{_CLICKS % script}</body>")
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        command = [
            browser, "--headless", "--no-sandbox", "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000", "--dump-dom",
            path.as_uri(),
        ]  # fmt: skip
        shown = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
        found = re.search(r'<pre id="saved">(.*?)</pre>', shown, re.DOTALL)
        assert found, shown[-2000:]
        return str(json.loads(unescape(found[1]))).rstrip("\n").split("\n")

    return export


@pytest.mark.slow
def test_corrections_come_back_as_links(export, tmp_path, tiny_assets):
    hostile = json.dumps(HOSTILE).replace("<", "\\u003c")  # or it would end the script
    lines = export(
        f"""press("PE", "HP:0001698");
        press("Type 2 diabetes", "");
        press("DM", "");
        cardOf("DM").querySelector(".undo").click();
        const other = cardOf({hostile}).querySelector("input");
        other.value = " HP:0002099 ";
        other.dispatchEvent(new Event("change"));"""
    )
    path = tmp_path / "corrections.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    said = {one.text: one for document in read_gold(path, strict=True) for one in document.mentions}
    assert {text: one.ids for text, one in said.items()} == {
        "PE": ("HP:0001698",), "Type 2 diabetes": (), HOSTILE: ("HP:0002099",),
    }  # fmt: skip
    assert (said["Type 2 diabetes"].start, said["Type 2 diabetes"].end) == (0, 15)
    assert json.loads(lines[1])["doc_id"] == "<b>note</b>"

    assets = build_assets(tmp_path / "assets", tiny_assets.kb.path, memory=[path])
    assert not any(one["no_effect"] for one in assets.manifest["memory"]["sources"])
    nlp = spacy.blank("en")
    linker: Any = nlp.add_pipe("medical_linker", config={"assets": str(assets.path)})
    pulmonary, diabetes, odd = linker.link_texts(["PE", "type 2 diabetes", HOSTILE])
    assert (pulmonary.id, odd.id) == ("HP:0001698", "HP:0002099")
    assert (diabetes.id, diabetes.reason) == ("NIL", NOT_A_CONCEPT)


def test_the_page_has_what_its_script_needs(metrics):
    html = _page(metrics)
    script = html.rpartition("<script>")[2]
    wanted = set(re.findall(r'getElementById\("(\w+)"\)', script))
    assert "corrections" in wanted
    assert wanted <= set(Page(html).attributes("id"))


def test_other_languages_are_kept(metrics):
    data = json.loads(Page(_page(metrics)).texts["script"][0])
    langs = {mention["t"]: mention.get("o") for mention in data["runs"][0]["mentions"]}
    assert (langs["DM"], langs["PE"]) == ("es", None)


def test_without_text_there_is_nothing_to_export(make_metrics):
    """A correction names the mention: the script offers none where the page has no text."""
    mentions = json.loads(Page(_page(make_metrics())).texts["script"][0])["runs"][0]["mentions"]
    assert not any("t" in mention for mention in mentions)

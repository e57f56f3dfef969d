"""Documents and places that are not as they should be, and that nothing of a note gets out."""

import ctypes
import logging
import shutil
import stat
import sys
import tempfile
import warnings
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, Span

from spacy_medlink.assets import Assets
from spacy_medlink.errors import MedlinkError
from tests.children import python
from tests.pipelines import doc_with, pipeline
from tests.timing import cpu_seconds
from tests.tiny import assets_of, concept

ROOT = Path(__file__).parents[2]


# Large documents


def test_10_000_entities_in_a_document_of_a_megabyte(tiny_assets):
    nlp = pipeline(tiny_assets, mentions=False)
    # Made of words, since the time of spaCy's tokenizer is not what is measured here.
    words = ["fever", "w" * 85, "asthma", "y" * 4] * 10_000
    doc = Doc(nlp.vocab, words=words)
    assert len(doc.text) > 1_000_000
    ents = range(0, len(words), 4)
    doc.set_ents([Span(doc, start, start + 1, label="X") for start in ents])
    linker = nlp.get_pipe("medical_linker")
    _ = linker.engine
    assert cpu_seconds(lambda: linker(doc)) < 60
    assert len(doc.ents) == 10_000
    assert {ent.kb_id_ for ent in doc.ents} == {"HP:0001945"}
    assert doc.ents[-1]._.cui == "HP:0001945"


@pytest.mark.slow
def test_a_raw_document_of_a_megabyte(tiny_assets):
    """Ten times the text takes ten times as long, not a hundred times."""
    nlp = pipeline(tiny_assets)
    line = "He had a heart attack, fever and a pericardial effusion (PE) 😀; no HTN.\n"
    found: list[Doc] = []
    seconds = []
    nlp(line)
    for length in (100_000, 1_000_000):
        text = (line * (length // len(line))).ljust(length, " ")
        seconds.append(cpu_seconds(lambda text=text: found.append(nlp(text))))
        assert len(found[-1].ents) == 5 * text.count("\n")
    assert seconds[1] < 25 * seconds[0]


@pytest.mark.parametrize("text", ["(" * 200_000, "(AB) " * 40_000, "a (" * 70_000 + ")"])
def test_a_document_of_parentheses(tiny_assets, text):
    """The search for definitions of abbreviations must not be quadratic."""
    nlp = pipeline(tiny_assets, mentions=False)
    linker = nlp.get_pipe("medical_linker")
    doc = Doc(nlp.vocab, words=["fever", text])
    doc.set_ents([Span(doc, 0, 1, label="X")])
    _ = linker.engine
    assert cpu_seconds(lambda: linker(doc)) < 20
    assert doc.ents[0].kb_id_ == "HP:0001945"


# Odd entities


@pytest.mark.parametrize(
    "text", ["---", "120/80", "2019", "😀", "\u200b", "+", "...", "\n", "³", "12.5 %", "\ufffd"]
)
def test_entities_without_letters_are_not_guessed(tiny_assets, text):
    nlp = pipeline(tiny_assets, mentions=False)
    doc = Doc(nlp.vocab, words=["fever", text])
    doc.set_ents([Span(doc, 0, 1, label="X"), Span(doc, 1, 2, label="X")])
    doc = nlp(doc)
    assert [ent.kb_id_ for ent in doc.ents] == ["HP:0001945", "NIL"]
    assert (doc.ents[1]._.reason, doc.ents[1]._.candidates) == ("nothing found", [])


def test_numbers_that_are_names_are_found(tmp_path):
    assets = assets_of(tmp_path, [concept("X:1", "606", "arsphenamine")])
    nlp = pipeline(assets, mentions=False)
    doc = nlp(doc_with(nlp, "given 606 and 607", "606", "607"))
    assert [ent.kb_id_ for ent in doc.ents] == ["X:1", "NIL"]


def test_labels_that_no_filter_names(tiny_assets):
    nlp = pipeline(
        tiny_assets, mentions=False, labels={"SIGN": ["T184"]}, labels_discard=["DATE"],
    )  # fmt: skip
    doc = nlp.make_doc("fever asthma headache")
    labels = ["SIGN", "NEVER HEARD OF", "\u75c5"]
    doc.set_ents([Span(doc, place, place + 1, label=one) for place, one in enumerate(labels)])
    assert [ent.kb_id_ for ent in nlp(doc).ents] == ["HP:0001945", "HP:0002099", "HP:0002315"]


# Places


LINK = """
import os
import sys
import tempfile

for place in (sys.argv[1], os.environ["HOME"]):
    try:
        tempfile.TemporaryFile(dir=place).close()
    except OSError:
        continue
    sys.exit(f"{place} can be written")

import spacy

nlp = spacy.load(sys.argv[1])
print([(ent.text, ent.kb_id_) for ent in nlp("a heart attack").ents])
print([ent.kb_id_ for doc in nlp.pipe(["fever", "asthma"], n_process=2) for ent in doc.ents])
"""


def obey_permissions() -> None:
    """Give up root's right to write anywhere (prctl PR_CAPBSET_DROP of CAP_DAC_OVERRIDE)."""
    ctypes.CDLL(None).prctl(24, 1)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="prctl is Linux's")
def test_read_only_places_and_no_home(tiny_assets, tmp_path):
    shutil.copytree(tiny_assets.path, tmp_path / "own")  # whose files lose no permission
    pipeline(Assets(tmp_path / "own")).to_disk(tmp_path / "saved")
    home = tmp_path / "home"
    home.mkdir()
    shut = [home, tmp_path / "saved", *(tmp_path / "saved").rglob("*")]
    for path in shut:
        path.chmod(0o555 if path.is_dir() else 0o444)
    environment = {
        "HOME": str(home), "PYTHONPATH": str(ROOT), "PATH": "", "OMP_WAIT_POLICY": "PASSIVE",
    }  # fmt: skip
    given = {"cwd": "/", "env": environment, "preexec_fn": obey_permissions, "code": None}
    ended = python("-c", LINK, tmp_path / "saved", **given)
    for path in shut:
        path.chmod(stat.S_IRWXU)
    assert ended.returncode == 0, ended.stderr[-2000:]
    first, second = ended.stdout.splitlines()
    assert first == "[('heart attack', 'HP:0001658')]"
    assert second == "['HP:0001945', 'HP:0002099']"


def test_no_room_for_what_must_be_unpacked(tiny_assets, monkeypatch):
    data = pipeline(tiny_assets).get_pipe("medical_linker").to_bytes()
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/place")
    with pytest.raises(MedlinkError, match=r"E164.*TMPDIR"):
        spacy.blank("en").add_pipe("medical_linker").from_bytes(data)


def test_saving_where_nothing_can_be_written(tiny_assets, tmp_path):
    (tmp_path / "file").write_text("in the way")
    linker = pipeline(tiny_assets).get_pipe("medical_linker")
    with pytest.raises((MedlinkError, OSError)):
        linker.to_disk(tmp_path / "file")
    with pytest.raises(MedlinkError, match="E109"):
        linker.assets.copy_to(tmp_path / "file" / "assets")


# Nothing of a note gets out

SECRET = "Xylocarpa"


def failing(text, *arguments):
    raise RuntimeError("the encoder failed")


@pytest.fixture
def said(caplog, capfd):
    """All that was logged, warned of, printed or raised, as one text."""
    caplog.set_level(logging.DEBUG)
    raised: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield raised
        out, err = capfd.readouterr()
        everything = [
            *raised, *(str(one.message) for one in caught),
            *(record.getMessage() for record in caplog.records), out, err,
        ]  # fmt: skip
    assert not any(SECRET in one for one in everything)


def secret_doc(nlp):
    text = f"{SECRET} fever ({SECRET[:2]}) was 2019; {SECRET}"
    doc = doc_with(nlp, text, f"{SECRET} fever", "2019")
    doc.spans["sc"] = [Span(doc, 0, 2, label=SECRET.upper())]
    return doc


CONFIGS = {
    "plain": {},
    "all": {"composite": True, "threshold": 0.9, "top_k": 1},
    "groups": {"spans_key": ["sc"], "labels": {"X": ["T047"]}, "merge": "better"},
    "scheme": {"cui_scheme": "NO SUCH"},
    "filter": {"types": ["NO SUCH"]},
    "nothing left": {"allow": ["HP:0001945"], "types": ["T047"]},
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_what_is_said_holds_no_text(tiny_assets, said, config):
    nlp = pipeline(tiny_assets, mentions=False, **config)
    docs = [secret_doc(nlp) for _ in range(30)]
    try:
        list(nlp.pipe(docs))
        nlp.get_pipe("medical_linker").explain(docs[0].ents[0])
    except Exception as error:
        said.append(f"{error!r} {error}")


@pytest.mark.parametrize("what", ["encoder", "vectors", "abbreviations"])
def test_errors_hold_no_text(tiny_assets, said, monkeypatch, what):
    import numpy as np

    nlp = pipeline(tiny_assets, mentions=False)
    linker = nlp.get_pipe("medical_linker")
    doc = secret_doc(nlp)
    if what == "encoder":
        monkeypatch.setattr(linker.engine.parts.encoder, "encode", failing)
    elif what == "vectors":
        nothing = np.full((1, 32), np.nan, dtype=np.float32)
        monkeypatch.setattr(
            linker.engine.parts.encoder,
            "encode",
            lambda texts: np.repeat(nothing, len(texts), axis=0),
        )
    else:
        monkeypatch.setattr("spacy_medlink.linking.prepare.find_definitions", failing)
    with pytest.raises((MedlinkError, RuntimeError)) as caught:
        nlp(doc)
    said.append(f"{caught.value!r} {caught.value}")
    nlp.set_error_handler(lambda name, pipe, docs, error: said.append(f"{name}: {error}"))
    assert list(nlp.pipe([doc])) == []
    assert len(said) == 2

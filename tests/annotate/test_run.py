"""Bulk annotation: links as the pipeline makes them, each document once, whatever happens."""

import gzip
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_medlink.annotate.documents import Document, Part
from spacy_medlink.annotate.journal import part_file
from spacy_medlink.annotate.records import Where, record_of
from spacy_medlink.annotate.run import annotate_file
from spacy_medlink.annotate.worker import Job, PartWorker, linked_docs
from spacy_medlink.assets import Assets
from spacy_medlink.components.extensions import register_extensions
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.gold import read_gold
from tests.annotate.conftest import Notes, records
from tests.children import killed
from tests.limits import files_limited_to
from tests.lines import write_lines
from tests.mutants import damage
from tests.pipelines import pipeline

SECRET = "Zebrafish"


@Language.component("tests_fails_on_a_word")
def fails_on_a_word(doc: Doc) -> Doc:
    if SECRET in doc.text:
        raise ValueError(f"cannot stand {doc.text}")
    return doc


Annotate = Callable[..., Any]


@pytest.fixture
def annotate(tiny_assets: Assets, tmp_path: Path) -> Annotate:
    """Annotate a file over the tiny assets, in parts of five documents."""

    def annotate(path: Path, output: str | Path = "out.jsonl", **options: Any) -> Any:
        assets = str(options.pop("assets", tiny_assets.path))
        return annotate_file(assets, path, tmp_path / output, **{"part_size": 5, **options})

    return annotate


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


@pytest.fixture
def whole(annotate: Annotate, notes: Notes, tmp_path: Path) -> bytes:
    """The output of an undisturbed run over 12 notes."""
    annotate(notes(), "whole.jsonl")
    return (tmp_path / "whole.jsonl").read_bytes()


def test_links_are_the_pipelines(annotate, tiny_assets, notes, output):
    path = notes()
    annotate(path, candidates=2, keep_text=True)
    found = records(output)
    nlp = pipeline(tiny_assets, top_k=2, cui_scheme="UMLS")
    assert [record["doc_id"] for record in found] == [f"n{n}" for n in range(12)]
    for record, note in zip(found, records(path), strict=True):
        doc = nlp(note["text"])
        assert record["text"] == note["text"]
        assert [
            (one["start"], one["end"], one["mention"], one["type"], one["ids"], one["cui"])
            for one in record["mentions"]
        ] == [
            (ent.start_char, ent.end_char, ent.text, ent.label_, [ent.kb_id_], ent._.cui)
            for ent in doc.ents
        ]
        for one, ent in zip(record["mentions"], doc.ents, strict=True):
            best = ent._.candidates[0]
            assert (one["name"], one["matched"]) == (best["name"], best["matched"])
            assert one["score"] == pytest.approx(best["score"], abs=1e-3)
            assert [c["id"] for c in one["candidates"]] == [c["id"] for c in ent._.candidates]
            assert one["codes"] == ent._.codes


def test_words_of_the_documents_are_forgotten(tiny_assets, tmp_path):
    worker = PartWorker(Job(str(tiny_assets.path), tmp_path))
    known = len(worker.nlp.vocab.strings)
    for number in range(3):
        words = " ".join(f"{SECRET}{number}{place}" for place in range(20))
        done = worker.link(Part(number, [Document("1", f"Fever and {words}.", "line 1")]))
        assert (done.mentions, done.links) == (1, 1)
    assert len(worker.nlp.vocab.strings) == known


def test_the_output_is_a_file_of_mentions(annotate, notes, tmp_path):
    output = tmp_path / "out.jsonl.gz"
    annotate(notes(), output, keep_text=True)
    read = list(read_gold(output, strict=True))
    assert len(read) == 12
    assert any(mention.ids == ("HP:0001945",) for one in read for mention in one.mentions)
    with gzip.open(output, "rt", encoding="utf-8") as file:
        assert len(file.readlines()) == 12


CRAFTED = "ibruojyd<κu'3Ur"  # has the hash of "diabetes"


def test_a_crafted_document_does_not_change_the_next(annotate, tmp_path, output):
    path = tmp_path / "crafted.jsonl"
    texts = (f"history of {CRAFTED}", "type 2 diabetes", "fever")
    annotate(write_lines(path, *({"doc_id": text, "text": text} for text in texts)))
    found = records(output)
    assert [record["doc_id"] for record in found] == [*texts]
    assert [one["mention"] for one in found[1]["mentions"]] == ["type 2 diabetes"]


def test_a_text_that_spacy_misreads_is_set_aside(tiny_assets):
    # Outside a memory zone, the tokenizer remembers words by their hash.
    found = list(linked_docs(pipeline(tiny_assets), [f"history of {CRAFTED}", "diabetes", "fever"]))
    assert [doc and doc.text for doc, _ in found] == [f"history of {CRAFTED}", None, "fever"]
    assert "crafted" in found[1][1]


def test_a_damaged_part_is_linked_again(annotate, notes, tmp_path, whole, output):
    path = notes()
    for how in (b"", b"\x80noise", "cut at its end"):
        with pytest.raises(KeyboardInterrupt):
            annotate(path, overwrite=True, progress=_stopped_after(11))
        damage(part_file(tmp_path / ".out.jsonl.parts", 0), how)
        done = annotate(path, overwrite=True)
        assert (done.linked, done.resumed, output.read_bytes()) == (12, 1, whole)
        assert done.mentions == whole.count(b'"mention":')
        assert done.links == done.mentions - whole.count(b'"ids": []')


@pytest.mark.parametrize("name", ["notes.jsonl/out.jsonl", "x" * 248 + ".jsonl"])
def test_outputs_that_cannot_be(annotate, notes, tmp_path, name):
    with pytest.raises(MedlinkError, match="E109"):
        annotate(notes(), tmp_path / name)


@pytest.mark.parametrize("content", [b"", b"[]", b"\x80", None])
def test_a_damaged_job_is_another(annotate, notes, tmp_path, content):
    path = notes()
    with pytest.raises(KeyboardInterrupt):
        annotate(path, progress=_stopped_after(11))
    job = tmp_path / ".out.jsonl.parts" / "job.json"
    job.unlink() if content is None else job.write_bytes(content)
    with pytest.raises(MedlinkError, match="E613"):
        annotate(path)


def _stopped_after(count: int) -> Any:
    def progress(items: Any, total: int | None, what: str) -> Iterator[Any]:
        yield from islice(items, count)
        raise KeyboardInterrupt

    return progress


def test_nil_says_why(annotate, notes, output):
    annotate(notes(), threshold=1.0)
    found = records(output)
    nils = [one for record in found for one in record["mentions"] if not one["ids"]]
    assert nils
    assert all(one["reason"] and one["cui"] is None and one["name"] is None for one in nils)


def test_every_format_gives_the_same(annotate, notes, whole, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = notes()
    table = pyarrow.Table.from_pylist(records(path))
    parquet.write_table(table, tmp_path / "notes.parquet")
    output = tmp_path / "out.parquet"
    annotate(tmp_path / "notes.parquet", output, candidates=1)
    rows = parquet.read_table(output).to_pylist()
    expected = [json.loads(line) for line in whole.decode().splitlines()]
    for row, record in zip(rows, expected, strict=True):
        assert row["doc_id"] == record["doc_id"]
        for one, other in zip(row["mentions"], record["mentions"], strict=True):
            assert dict(one["codes"]) == other["codes"]
            assert len(one["candidates"]) == 1
            same = {"codes": other["codes"], "candidates": []}
            assert {**one, **same} == other


@pytest.mark.parametrize("name", ["negex", "is_negated"])
def test_negation_is_what_another_component_says(name):
    doc = spacy.blank("en")("no fever, asthma")
    doc.set_ents([Span(doc, 1, 2, "X", "A"), Span(doc, 3, 4, "X", "B")])
    before = Span.get_extension(name) if Span.has_extension(name) else None
    Span.set_extension(name, getter=lambda span: span.start == 1, force=True)
    register_extensions()
    try:
        record = record_of(Document("d", doc.text, ""), doc, Where(None, ""))
    finally:
        Span.remove_extension(name)
        if before is not None:
            Span.set_extension(name, default=before[0])
    assert [mention["negated"] for mention in record["mentions"]] == [True, False]


def test_numbered_rows_of_a_table(annotate, tmp_path, output):
    (tmp_path / "a.csv").write_text('note\n"fever, asthma"\nnone\n')
    annotate(tmp_path / "a.csv", columns=["text=note", "id="])
    found = records(output)
    assert [(record["doc_id"], len(record["mentions"])) for record in found] == [("1", 2), ("2", 0)]


def test_no_document_at_all(annotate, tmp_path, output):
    (tmp_path / "a.jsonl").write_text("")
    annotate(tmp_path / "a.jsonl")
    assert records(output) == []


def test_bad_documents_are_set_aside(annotate, tiny_assets, notes, tmp_path, capfd, output):
    nlp = pipeline(tiny_assets)
    nlp.add_pipe("tests_fails_on_a_word", before="medical_linker")
    nlp.to_disk(tmp_path / "pipeline")
    extra = [
        json.dumps({"doc_id": "w", "text": f"{SECRET} with fever"}),
        "{", json.dumps({"doc_id": "l", "text": "fever " * 200_000}), '{"doc_id": "e"}',
        json.dumps({"doc_id": "last", "text": "fever"}),
    ]  # fmt: skip
    path = notes(4, extra)
    done = annotate(path, assets=tmp_path / "pipeline")
    assert [record["doc_id"] for record in records(output)] == ["n0", "n1", "n2", "n3", "last"]
    assert (done.linked, done.set_aside, done.aside) == (5, 4, tmp_path / "out.jsonl.bad.jsonl")
    assert records(tmp_path / "out.jsonl.bad.jsonl") == [
        {"doc_id": "w", "place": "line 5",
         "problem": "ValueError in the component 'tests_fails_on_a_word'"},
        {"doc_id": "", "place": "line 6", "problem": "not JSON"},
        {"doc_id": "l", "place": "line 7",
         "problem": "1200000 characters, more than the 1000000 that the pipeline takes"},
        {"doc_id": "e", "place": "line 8", "problem": "no text"},
    ]  # fmt: skip
    assert SECRET not in "".join(capfd.readouterr())
    # What was set aside by an earlier run does not stay beside a run without such documents.
    annotate(notes(4), overwrite=True)
    assert not (tmp_path / "out.jsonl.bad.jsonl").exists()


@pytest.mark.slow
def test_processes_give_the_same(annotate, notes, whole, output):
    annotate(notes(), n_process=2)
    assert output.read_bytes() == whole


@pytest.mark.slow
@pytest.mark.parametrize("n_process", [1, 2])
def test_progress_of_2000_notes(annotate, notes, n_process):
    """It counts documents while parts are unfinished, each once, and the total is known."""
    reached: list[tuple[int, float]] = []

    def progress(items: Any, total: int | None, what: str) -> Iterator[Any]:
        assert (total, what) == (2000, "annotating documents")
        for number, item in enumerate(items, 1):
            reached.append((number, time.monotonic()))
            yield item

    annotate(notes(2000), n_process=n_process, part_size=1000, progress=progress)
    assert len(reached) == 2000
    times = sorted({told for number, told in reached if number < 1000})
    assert times[-1] - times[0] > 0.1 * (reached[-1][1] - times[0])
    assert len(times) > 2


def test_a_run_that_goes_on_shows_each_document_once(annotate, notes):
    path = notes()
    with pytest.raises(KeyboardInterrupt):
        annotate(path, progress=_stopped_after(7))
    shown: list[object] = []

    def progress(items: Any, total: int | None, what: str) -> Iterator[Any]:
        assert total == 12
        for item in items:
            shown.append(item)
            yield item

    assert annotate(path, progress=progress).resumed == 1
    assert len(shown) == 12


def test_a_stopped_run_goes_on(annotate, notes, whole, tmp_path, output):
    path = notes()
    with pytest.raises(KeyboardInterrupt):
        annotate(path, progress=_stopped_after(11))
    assert not output.exists()
    second = part_file(tmp_path / ".out.jsonl.parts", 1)
    begun = second.stat().st_mtime_ns
    part_file(tmp_path / ".out.jsonl.parts", 0).unlink()  # whichever are missing
    done = annotate(path)
    assert (done.resumed, done.linked) == (1, 12)
    assert output.read_bytes() == whole
    assert begun < output.stat().st_mtime_ns
    assert {file.name for file in tmp_path.iterdir()} == {"notes.jsonl", "out.jsonl", "whole.jsonl"}


def test_another_job_does_not_go_on(annotate, notes):
    path = notes()
    with pytest.raises(KeyboardInterrupt):
        annotate(path, progress=_stopped_after(7))
    for change, what in (
        ({"threshold": 0.5}, "settings"), ({"part_size": 6}, "settings"),
        ({"lang": "es"}, "pipeline"), ({"columns": ["text=doc_id"]}, "input"),
    ):  # fmt: skip
        with pytest.raises(MedlinkError, match=rf"E613.*different {what}"):
            annotate(path, **change)
    path = notes(13)
    with pytest.raises(MedlinkError, match=r"E613.*different input"):
        annotate(path)
    done = annotate(path, overwrite=True)
    assert (done.resumed, done.linked) == (0, 13)


def test_an_output_is_not_replaced_unasked(annotate, notes, tmp_path, output):
    path = notes(2)
    output.write_text("dear to somebody\n")
    with pytest.raises(MedlinkError, match="E612"):
        annotate(path)
    with pytest.raises(MedlinkError, match="E122"):
        annotate(path, path)
    with pytest.raises(MedlinkError, match="E611"):
        annotate(path, tmp_path / "out.xlsx")
    assert output.read_text() == "dear to somebody\n"
    annotate(path, overwrite=True)
    assert len(records(output)) == 2


def test_a_full_disk_loses_nothing(annotate, notes, output):
    path = notes(200)
    with files_limited_to(20_000), pytest.raises(MedlinkError, match="E109"):
        annotate(path, part_size=20)
    assert not output.exists()
    assert annotate(path, part_size=20).resumed == 10
    assert len(records(output)) == 200


def test_assets_that_are_wrong_stop_the_run(annotate, notes, tmp_path):
    for n_process in (1, 2):
        with pytest.raises(MedlinkError, match="E201"):
            annotate(notes(2), n_process=n_process, assets=tmp_path / "no")


PROGRAM = """
import sys
from pathlib import Path
from spacy_medlink.annotate.run import annotate_file
if __name__ == "__main__":
    source, path, output, n = sys.argv[1:]
    annotate_file(source, Path(path), Path(output), part_size=5, n_process=int(n))
"""


@pytest.mark.slow
@pytest.mark.parametrize("n_process", [1, 2])
def test_a_killed_run_goes_on(annotate, tiny_assets, notes, tmp_path, n_process, output):
    """SIGKILL, wherever it falls: in the end every document is there once."""
    path = notes(400)
    script = tmp_path / "annotate_it.py"
    script.write_text(PROGRAM)
    command = [sys.executable, str(script), str(tiny_assets.path), str(path), str(output)]
    parts = tmp_path / ".out.jsonl.parts"
    for kill_at in (3, 20):
        process = subprocess.Popen([*command, str(n_process)], cwd=Path(__file__).parents[2])
        with killed(process):
            began = time.monotonic()
            while len(list(parts.glob("part-*"))) < kill_at and process.poll() is None:
                assert time.monotonic() - began < 120
                time.sleep(0.01)
        assert process.returncode == -signal.SIGKILL
        assert not output.exists()
    time.sleep(0.5)  # workers of the killed run leave by themselves
    done = annotate(path)
    assert done.resumed >= 20
    assert [record["doc_id"] for record in records(output)] == [f"n{n}" for n in range(400)]
    fresh = tmp_path / "fresh.jsonl"
    annotate(path, fresh)
    assert output.read_bytes() == fresh.read_bytes()


def test_one_process_an_output(annotate, notes, output):
    path = notes(6)

    def progress(items: Any, total: Any, what: str) -> Any:
        with pytest.raises(MedlinkError, match="E616"):
            annotate(path)
        yield from items

    annotate(path, progress=progress)
    assert len(records(output)) == 6

"""The files that the pages speak of, small: a terminology, a model, notes and annotated text."""

import json
import shutil
from pathlib import Path

from spacy_medlink.assets.starter import KB_LINES
from tests.kb import samples

NOTES = [
    "Longstanding type 2 diabetes and atrial fibrillation, now short of breath.",
    "The patient was started on metformin. No fever.",
    "Myocardial infarction in 2019; COPD, hypertension.",
]


def furnish(directory: Path, encoder: Path) -> None:
    """Write the files into a directory.

    encoder (Path): a small Hugging Face directory, which is copied.
    """
    shutil.copy(KB_LINES, directory / "my_terms.jsonl")
    shutil.copytree(encoder, directory / "my_model")
    (directory / "scispacy_kb.jsonl").write_text(
        "\n".join(map(json.dumps, json.loads(samples.SCISPACY))), encoding="utf-8"
    )
    notes = [{"doc_id": f"note-{n}", "text": text} for n, text in enumerate(NOTES)]
    _write_lines(directory / "notes.jsonl", notes)
    rows = "".join(f'{note["doc_id"]},"{note["text"]}"\n' for note in notes)
    (directory / "notes.csv").write_text("note_id,note_text\n" + rows, encoding="utf-8")
    (directory / "notes").mkdir()
    for note in notes:
        (directory / "notes" / f"{note['doc_id']}.txt").write_text(note["text"], encoding="utf-8")
    concepts = [json.loads(line) for line in KB_LINES.read_text(encoding="utf-8").splitlines()]
    _write_lines(directory / "train.jsonl", [_mention(concept) for concept in concepts[::2]])
    _write_lines(directory / "dev.jsonl", [_mention(concept) for concept in concepts[1::2]])


def _mention(concept: dict[str, object]) -> dict[str, object]:
    """A concept's name, as a mention of it."""
    return {"mention": f"{concept['canonical_name']} today", "ids": [concept["concept_id"]]}


def _write_lines(path: Path, values: list[dict[str, object]]) -> None:
    text = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    path.write_text(text, encoding="utf-8")

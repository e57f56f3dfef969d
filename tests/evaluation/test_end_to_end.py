from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.language import Language

from spacy_medlink.annotate.evaluate import evaluate
from spacy_medlink.assets import Assets
from spacy_medlink.components.pipelines import spans_of_texts
from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation import load_gold, measure_pipeline
from spacy_medlink.evaluation.end_to_end import SpansOf
from tests.lines import note, write_lines

# Found by name: asthma, fever, Herzinfarkt. Not: "breathless". Found but not gold: headache.
EN = "Asthma with fever, breathless. Headache."
DE = "Herzinfarkt."
FOUND = [
    ("Asthma", "HP:0002099"), ("with fever", "C0015967"), ("breathless", "HP:0002098"),
    ("Headache",),
]  # fmt: skip
LINES = [note(EN, *FOUND), note(DE, ("Herzinfarkt", "HP:0001658"), lang="de")]


def _through(pipeline: Callable[[str], Language]) -> SpansOf:
    return lambda lang, texts: spans_of_texts(pipeline(lang), texts)


def test_links_from_raw_text(tmp_path: Path, tiny_assets: Assets) -> None:
    gold = load_gold(write_lines(tmp_path / "gold.jsonl", *LINES), tiny_assets.kb)
    made: list[str] = []

    def pipeline(lang: str) -> Language:
        made.append(lang)
        nlp = spacy.blank(lang)
        nlp.add_pipe("medical_mentions", config={"assets": str(tiny_assets.path)})
        nlp.add_pipe("medical_linker", config={"assets": str(tiny_assets.path)})
        return nlp

    scores = measure_pipeline(_through(pipeline), tiny_assets.kb, gold)
    assert sorted(made) == ["de", "en"]
    assert (scores["documents"], scores["gold"], scores["predicted"]) == (2, 4, 4)
    # Strictly right: asthma and Herzinfarkt; fever overlaps; headache is in no gold link.
    assert (scores["strict"]["precision"], scores["strict"]["recall"]) == (0.5, 0.5)
    assert (scores["overlap"]["precision"], scores["overlap"]["recall"]) == (0.75, 0.75)
    assert (scores["document"]["precision"], scores["document"]["recall"]) == (0.75, 0.75)
    assert scores["speed"]["documents_per_s"] > 0


def test_spans_may_overlap(tmp_path: Path, tiny_assets: Assets) -> None:
    text = "Type II diabetes mellitus."
    mentions = [
        {"start": 0, "end": 25, "mention": text[:25], "ids": ["HP:0005978"]},
        {"start": 8, "end": 25, "mention": text[8:25], "ids": ["HP:0000819"]},
    ]
    line = {"text": text, "mentions": mentions}
    gold = load_gold(write_lines(tmp_path / "gold.jsonl", line), tiny_assets.kb)

    def pipeline(lang: str) -> Language:
        nlp = spacy.blank(lang)
        for name in ("medical_mentions", "medical_linker"):
            nlp.add_pipe(name, config={"assets": str(tiny_assets.path), "spans_key": "sc"})
        return nlp

    scores = measure_pipeline(_through(pipeline), tiny_assets.kb, gold)
    assert (scores["strict"]["precision"], scores["strict"]["recall"]) == (1.0, 1.0)
    # The command asks the pipeline's linker where its spans are.
    pipeline("en").to_disk(tmp_path / "nlp")
    metrics = evaluate(source=str(tmp_path / "nlp"), gold=tmp_path / "gold.jsonl", end_to_end=True)
    assert metrics["end_to_end"]["strict"] == scores["strict"]


def test_texts_and_offsets_are_needed(tmp_path: Path, tiny_assets: Assets) -> None:
    path = write_lines(tmp_path / "gold.jsonl", {"mention": "asthma", "ids": ["HP:0002099"]})
    gold = load_gold(path, tiny_assets.kb)
    with pytest.raises(MedlinkError, match="E407"):
        measure_pipeline(_through(spacy.blank), tiny_assets.kb, gold)

"""What is measured is what is run: `medlink evaluate` and `nlp.pipe` make the same links."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_medlink.annotate.evaluate import evaluate
from spacy_medlink.assets import Assets
from spacy_medlink.evaluation import Settings
from spacy_medlink.evaluation.outcome import Outcome, unpack
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.gold import GoldDocument, read_gold
from spacy_medlink.kb.readers import read
from tests.lines import write_lines
from tests.tiny import assets_of

NIL = "NIL"
RARER_FUSION = {"@misc": "spacy-medlink.ReciprocalRankFusion.v1", "k": 10}
# Each mention with its label; "|" is no part of the text.
NOTES = [
    "Seen for |T2 diab:D| with |HTN:D|. Known |fever and cough:S|, no |AF:D| (HP:0000822).",
    "|Type 1 or type 2 diabetes:D| since long; |AF:D| and |heart attak:D| last year.",
    "|PLD:D|: never heard of. |fevrish:S|, |sugar disease:D|, |diabetes typ:D|.",
    "pulmonary embolism (PE). |PE:D|, |PE:D|; |qxz:D|; |headache:X|, |pain in the head:S|.",
    "|History of fever:S|; she has |no cough:S|.",  # cues inside of mentions
]  # fmt: skip
LEXICON = "T2 diab\ttype 2 diabetes\nPLD\tpulmonary embolism\nAF\tatrial fibrillation\n"


def _document(number: int, marked: str) -> dict[str, Any]:
    text, mentions = "", []
    for place, part in enumerate(marked.split("|")):
        if place % 2:
            part, _, label = part.rpartition(":")
            span = {"start": len(text), "end": len(text) + len(part), "mention": part}
            mentions.append({**span, "ids": ["HP:0001945"], "type": label})
        text += part
    return {"doc_id": str(number), "lang": "en", "text": text, "mentions": mentions}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    documents = (_document(number, note) for number, note in enumerate(NOTES))
    return write_lines(tmp_path / "notes.jsonl", *documents)


def _docs(nlp: Language, documents: Iterable[GoldDocument]) -> Iterator[Doc]:
    """Make Docs whose groups of spans are the gold mentions; they may overlap."""
    for document in documents:
        doc = nlp.make_doc(document.text or "")
        spans = [
            doc.char_span(one.start, one.end, label=one.type, alignment_mode="expand")
            for one in document.mentions
        ]
        doc.spans["gold"] = [span for span in spans if span is not None]
        yield doc


def _piped(source: Path, gold: Path) -> list[str]:
    nlp = spacy.load(source)
    docs = list(nlp.pipe(_docs(nlp, read_gold(gold))))
    return [span.kb_id_ or NIL for doc in docs for span in doc.spans["gold"]]


def _measured(source: Path, gold: Path) -> list[Outcome]:
    settings = Settings(ks=(1, 5), baselines=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)  # of ids that the KB lacks
        metrics = evaluate(source=str(source), gold=gold, **dict(settings))
    return unpack(metrics["mentions"])


def _link(record: Outcome) -> str:
    return NIL if record.abstained or not record.candidates else record.candidates[0].id


def _pipeline(assets: Assets, place: Path, **config: Any) -> Path:
    nlp = spacy.blank("en")
    nlp.add_pipe(
        "medical_linker", config={"assets": str(assets.path), "spans_key": "gold", **config}
    )
    nlp.to_disk(place)
    return place


def _configs(place: Path) -> dict[str, dict[str, Any]]:
    lexicon = place / "lexicon.tsv"
    lexicon.write_text(LEXICON, encoding="utf-8")
    each: dict[str, dict[str, Any]] = {
        "filters": {"types": ["T047"], "deny": ["HP:0005978"]},
        "labels": {"labels": {"S": ["T184"], "D": ["T184"]}},
        "lexicon": {"lexicon": ["clinical", str(lexicon)]},
        "composite": {"composite": True},
        "threshold": {"threshold": 0.6},
        "fusion": {"fusion": RARER_FUSION},
        "exact first": {"exact_first": True, "tiers": ["exact", "ngram"]},
        "discard": {"labels_discard": ["X"], "force_within_filter": True, "types": ["T184"]},
    }
    merged: dict[str, Any] = {}
    for config in (each[name] for name in ("lexicon", "composite", "fusion")):
        merged.update(config)
    together = {**merged, "deny": ["HP:0001658"], "threshold": 0.3}
    return {"as built": {}, **each, "together": together}


def test_evaluation_of_a_pipeline_measures_what_pipe_links(
    tiny_assets: Assets, notes: Path, tmp_path: Path
) -> None:
    found = {}
    for name, config in _configs(tmp_path).items():
        source = _pipeline(tiny_assets, tmp_path / name.replace(" ", "_"), **config)
        links = found[name] = _piped(source, notes)
        assert [_link(one) for one in _measured(source, notes)] == links, name
    # A linker of bare assets has no language, by which "pain in the head" is a headache.
    bare = [_link(one) for one in _measured(tiny_assets.path, notes)]
    pairs = zip(bare, found["as built"], strict=True)
    assert [at for at, (one, other) in enumerate(pairs) if one != other] == [15]
    # Each of the settings made a difference, so that leaving it aside would be seen.
    for name, links in found.items():
        assert name == "as built" or links != found["as built"], name


@pytest.mark.slow
@pytest.mark.filterwarnings(r"ignore:\[W241\]")  # no calibrator is fitted for the rarer fusion
def test_evaluation_measures_what_pipe_links_on_a_real_corpus(
    data_dir: Path, tmp_path: Path
) -> None:
    assets = assets_of(tmp_path, read("jsonl", data_dir / "medic_2012.kb.jsonl.gz"))
    gold = tmp_path / "gold.jsonl"
    _write_whole(data_dir / "ncbi_disease.train.jsonl.gz", gold, 150)
    config = {
        "composite": True, "threshold": 0.4, "fusion": RARER_FUSION,
        "deny": [concept.id for concept in islice(KnowledgeBase(tmp_path / "kb"), 0, None, 7)],
    }  # fmt: skip
    for name, own in {"plain": {}, "together": config}.items():
        source = _pipeline(assets, tmp_path / name, **own)
        links = _piped(source, gold)
        assert [_link(one) for one in _measured(source, gold)] == links
        assert Counter(links)[NIL] < len(links) / 2


def _write_whole(source: Path, target: Path, count: int) -> None:
    """Copy documents whose mentions are whole tokens: others would be other texts in a Doc."""
    nlp = spacy.blank("en")
    with target.open("w", encoding="utf-8") as file:
        for document in islice(read_gold(source), count):
            doc = nlp.make_doc(document.text or "")
            kept = [one for one in document.mentions if doc.char_span(one.start, one.end)]
            mentions = [
                {"start": one.start, "end": one.end, "mention": one.text, "ids": list(one.ids),
                 "type": one.type}
                for one in kept
            ]  # fmt: skip
            if kept:
                line = {"doc_id": document.doc_id, "text": document.text, "mentions": mentions}
                file.write(json.dumps(line) + "\n")

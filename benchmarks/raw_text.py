"""From raw text to links without an encoder: `python -m benchmarks.raw_text HPO MEDIC`.

HPO and MEDIC are assets of `medlink build` over these terminologies, without an encoder. The texts
are GSC+, the NCBI disease corpus and BC5CDR (diseases), in the data directory (MEDLINK_DATA). The
entities and all mentions of `medical_mentions` are measured with the linker at its defaults.
`--other FILE` adds the links of another program in GSC+, such as FastHPOCR: FILE has the documents
of the corpus with the program's mentions, and is named after it.
"""

import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Span

from benchmarks.measured import CORPORA, DATA, RESULTS, diseases, report
from spacy_medlink.evaluation import measure_pipeline
from spacy_medlink.evaluation.gold_set import GoldSet, load_gold
from spacy_medlink.evaluation.spans import Link, link_scores
from spacy_medlink.kb import KnowledgeBase

_KEY = "medical"
WAYS = ("doc.ents", "doc.spans")
_WITHIN = "<< HP:0000118"  # phenotypic abnormalities
_MEASURES = ("spans", "strict", "document")
_HEADS = {"precision": "P", "recall": "R", "f1": "F1"}


def measure(assets: Path, gold_path: Path, config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Measure entities, and all mentions: scores, and texts a second without the linker."""
    nlp = spacy.blank("en")
    common = {"assets": str(assets), "spans_key": _KEY}
    nlp.add_pipe("medical_mentions", config={**common, "annotate_ents": True, **config})
    linker: Any = nlp.add_pipe("medical_linker", config=common)
    gold = load_gold(gold_path, linker.kb)
    speed = _speed(nlp, [document.text or "" for document in gold.documents])
    for way in WAYS:
        scores = measure_pipeline(partial(_mentions_of, way, nlp), linker.kb, gold)
        yield {"way": way, **_figures(scores), "texts a second": speed}


def _mentions_of(
    way: str, nlp: Language, lang: str, texts: Sequence[str]
) -> Iterator[Sequence[Span]]:
    for doc in nlp.pipe(texts):
        yield doc.ents if way == "doc.ents" else list(doc.spans[_KEY])


def _speed(nlp: Language, texts: Sequence[str]) -> float:
    """Count texts a second of one core, with the tokenizer and without the linker."""
    with nlp.select_pipes(enable="medical_mentions"):
        nlp(texts[0])  # opens the dictionary
        began = time.process_time()
        for _ in nlp.pipe(texts):
            pass
    return round(len(texts) / (time.process_time() - began))


def _figures(scores: dict[str, Any]) -> dict[str, float]:
    return {
        f"{measure} {head}": 100 * scores[measure][name]
        for measure in _MEASURES
        for name, head in _HEADS.items()
    }


def _links(gold: GoldSet) -> Iterator[Link]:
    for document in gold.documents:
        for mention in document.mentions:
            yield Link(document.doc_id, mention.start, mention.end, gold.rows(mention))


def main(
    hpo: Annotated[Path, typer.Argument(help="Assets over HPO.")],
    medic: Annotated[Path, typer.Argument(help="Assets over MEDIC.")],
    part: Annotated[str, typer.Option(help="Of the disease corpora: train or dev.")] = "dev",
    other: Annotated[
        list[Path] | None, typer.Option(help="What another program links in GSC+, JSON Lines.")
    ] = None,
    output: Annotated[Path, typer.Option(help="JSON; a table beside it.")] = (
        RESULTS / "raw_text.json"
    ),
) -> None:
    """Measure the ways to find mentions."""
    gsc = DATA / "gsc_plus.dev.jsonl.gz"
    rows = [{"texts": "GSC+", **row} for row in measure(hpo, gsc, {"within": _WITHIN})]
    kb = KnowledgeBase(hpo / "kb.sqlite")
    ours = load_gold(gsc, kb)
    for path in other or ():
        scores = link_scores(_links(ours), _links(load_gold(path, kb)))
        rows.append({"texts": "GSC+", "way": path.stem, **_figures(scores)})
    with tempfile.TemporaryDirectory() as workplace:
        for corpus in CORPORA:
            path = diseases(corpus, part, Path(workplace))
            rows += [{"texts": corpus, **row} for row in measure(medic, path, {})]
    report(output, rows, f"Disease corpora: {part}.")


if __name__ == "__main__":
    typer.run(main)

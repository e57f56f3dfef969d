"""From raw text to links without an encoder: `python -m benchmarks.raw_text HPO MEDIC`.

HPO and MEDIC are assets of `medlink build` over these terminologies, without an encoder. The texts
are GSC+ (dev and dev2), the same 127 texts as GSC-2024 annotates them, the NCBI disease corpus and
BC5CDR (diseases), in the data directory (MEDLINK_DATA). The entities and all mentions of
`medical_mentions` are measured with the linker at its defaults. Over HPO, only phenotypic
abnormalities count. `--fasthpocr WORK` measures FastHPOCR beside; WORK keeps its index.

No two published figures share a scorer, so there are four: strict (the same span and concept),
relaxed (spans that overlap, the same concept; PhenoTagger's), bag (how often a document has each
concept; FastHPOCR's own) and document (which concepts it has). A retired id means its successor.
"""

import sys
import tempfile
from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import spacy
import typer

from benchmarks import peers
from benchmarks.measured import CORPORA, DATA, RESULTS, diseases, report
from spacy_medlink.evaluation.end_to_end import NIL, Span
from spacy_medlink.evaluation.gold_set import GoldSet, load_gold
from spacy_medlink.evaluation.metrics import precision_recall
from spacy_medlink.evaluation.spans import Link, link_scores
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.hierarchy import Concepts, Hierarchy, concepts_of

_KEY = "medical"
WAYS = ("doc.ents", "doc.spans")
PHENOTYPES = {
    "GSC+": ("gsc_plus.dev.jsonl.gz", "gsc_plus.dev2.jsonl.gz"),
    "GSC-2024": ("gsc_2024.dev.jsonl.gz",),
}
_WITHIN = "< HP:0000118"  # phenotypic abnormalities
_SCORERS = {"strict": "strict", "relaxed": "overlap", "document": "document"}
_HEADS = {"precision": "P", "recall": "R", "f1": "F1"}
Found = Sequence[Iterable[Span]]
"""Of each document, the spans that a program finds."""


def reader(assets: Path, within: str = "") -> Callable[[Sequence[str]], dict[str, Found]]:
    """Load the pipeline. RETURNS: reads texts, and gives their linked spans by way."""
    nlp = spacy.blank("en")
    common: dict[str, Any] = {"assets": str(assets), "spans_key": _KEY}
    among = {"within": within} if within else {}
    nlp.add_pipe("medical_mentions", config={**common, "annotate_ents": True, **among})
    nlp.add_pipe("medical_linker", config=common)

    def read(texts: Sequence[str]) -> dict[str, Found]:
        docs = list(nlp.pipe(texts))
        both = [doc.ents for doc in docs], [list(doc.spans[_KEY]) for doc in docs]
        return dict(zip(WAYS, both, strict=True))

    return read


def score(kb: KnowledgeBase, gold: GoldSet, found: Found, among: Concepts) -> dict[str, float]:
    """Score the links of documents by each scorer, in per cent; each span counts once.

    among (Concepts): gold and links of other concepts do not count. Gold ids that the knowledge
        base lacks count as not found.
    """
    wanted, made = set[Link](), set[Link]()
    for doc, (document, spans) in enumerate(zip(gold.documents, found, strict=True)):
        for mention in filter(lambda mention: mention.ids, document.mentions):
            rows = gold.rows(mention)
            if not rows or any(among[row] for row in rows):
                wanted.add(Link(str(doc), mention.start, mention.end, rows))
        for span in spans:
            if span.kb_id_ not in ("", NIL) and among[row := kb.row_of(span.kb_id_)]:
                made.add(Link(str(doc), span.start_char, span.end_char, frozenset([row])))
    scores = link_scores(wanted, made)
    figures = {name: scores[key] for name, key in _SCORERS.items()}
    right = _shared(wanted, made)
    figures["bag"] = precision_recall(right, len(made), right, len(wanted))
    return {
        f"{name} {head}": 100 * (figures[name][measure] or 0)
        for name in ("strict", "relaxed", "bag", "document")
        for measure, head in _HEADS.items()
    }


def _shared(wanted: Iterable[Link], made: Iterable[Link]) -> int:
    """Count links whose concept the document has in gold, wherever, no gold mention taken twice."""
    left: dict[str, Counter[frozenset[int]]] = defaultdict(Counter)
    for link in sorted(wanted):
        left[link.doc][link.concepts] += 1
    shared = 0
    for link in sorted(made):
        its = left[link.doc]
        taken = next((rows for rows in its if its[rows] and rows & link.concepts), None)
        if taken is not None:
            its[taken] -= 1
            shared += 1
    return shared


def measure_phenotypes(hpo: Path, other: Path | None) -> Iterator[dict[str, Any]]:
    """Measure ours, and FastHPOCR, on the corpora of phenotypes."""
    read, kb = reader(hpo, _WITHIN), KnowledgeBase(hpo / "kb.sqlite")
    find = peers.fasthpocr(other) if other else None
    among = concepts_of(_WITHIN, kb, Hierarchy(kb))
    for corpus, files in PHENOTYPES.items():
        parts = [load_gold(DATA / file, kb) for file in files]
        documents = [document for part in parts for document in part.documents]
        gold = GoldSet(DATA, documents, dict(ChainMap(*(part.found for part in parts))))
        texts = [document.text or "" for document in gold.documents]
        ways = read(texts)
        if find:
            ways["FastHPOCR"] = [find(text, False) for text in texts]
            ways["FastHPOCR, longest"] = [find(text, True) for text in texts]
        for way, found in ways.items():
            yield {"texts": corpus, "way": way, **score(kb, gold, found, among)}


def main(
    hpo: Annotated[Path, typer.Argument(help="Assets over HPO.")],
    medic: Annotated[Path | None, typer.Argument(help="Assets over MEDIC.")] = None,
    part: Annotated[str, typer.Option(help="Of the disease corpora: train or dev.")] = "dev",
    fasthpocr: Annotated[Path | None, typer.Option(help="Where its index is kept.")] = None,
    packages: Annotated[str, typer.Option(help="Directory where FastHPOCR is installed.")] = "",
    output: Annotated[Path, typer.Option(help="JSON; a table beside it.")] = (
        RESULTS / "raw_text.json"
    ),
) -> None:
    """Measure the ways to find mentions."""
    sys.path.append(packages)
    rows = list(measure_phenotypes(hpo, fasthpocr))
    with tempfile.TemporaryDirectory() as workplace:
        for corpus in CORPORA if medic else ():
            kb = KnowledgeBase(medic / "kb.sqlite")
            gold = load_gold(diseases(corpus, part, Path(workplace)), kb)
            ways = reader(medic)([document.text or "" for document in gold.documents])
            everything = np.ones(len(kb), bool)
            rows += [
                {"texts": corpus, "way": way, **score(kb, gold, found, everything)}
                for way, found in ways.items()
            ]
    report(output, rows, f"Disease corpora: {part}.")


if __name__ == "__main__":
    typer.run(main)

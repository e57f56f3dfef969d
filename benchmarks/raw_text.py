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
from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import spacy
import typer
from spacy.language import Language

from benchmarks import peers
from benchmarks.measured import CORPORA, DATA, RESULTS, diseases, report
from spacy_medlink.evaluation.end_to_end import NIL, Link, link_scores
from spacy_medlink.evaluation.gold_set import GoldSet, load_gold
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.hierarchy import Concepts, Hierarchy, concepts_of

_KEY = "medical"
_LONGEST = {"FastHPOCR": False, "FastHPOCR, longest": True}
PHENOTYPES = {
    "GSC+": ("gsc_plus.dev.jsonl.gz", "gsc_plus.dev2.jsonl.gz"),
    "GSC-2024": ("gsc_2024.dev.jsonl.gz",),
}
_WITHIN = "< HP:0000118"  # phenotypic abnormalities
_SCORERS = {"strict": "strict", "relaxed": "overlap", "bag": "bag", "document": "document"}
_HEADS = {"precision": "P", "recall": "R", "f1": "F1"}
Found = list[list[tuple[int, int, str]]]
"""Of each document (start, end, id) of what a program finds."""


def pipeline(assets: Path, within: str = "") -> Language:
    """Load mentions, in `doc.ents` and `doc.spans`, and the linker."""
    nlp = spacy.blank("en")
    common = {"assets": str(assets), "spans_key": _KEY}
    mentions = {**common, "annotate_ents": True, **({"within": within} if within else {})}
    nlp.add_pipe("medical_mentions", config=mentions)
    nlp.add_pipe("medical_linker", config=common)
    return nlp


def _read(nlp: Language, gold: GoldSet) -> dict[str, Found]:
    found: dict[str, Found] = {"doc.ents": [], "doc.spans": []}
    for doc in nlp.pipe(document.text or "" for document in gold.documents):
        for way, spans in zip(found, (doc.ents, doc.spans[_KEY]), strict=True):
            found[way].append([(span.start_char, span.end_char, span.kb_id_) for span in spans])
    return found


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
        for start, end, id in spans:
            if id not in ("", NIL) and among[row := kb.row_of(id)]:
                made.add(Link(str(doc), start, end, frozenset([row])))
    scores = link_scores(wanted, made)
    scores["bag"] = link_scores(_counted(wanted), _counted(made))["strict"]
    return {
        f"{name} {head}": 100 * (scores[key][measure] or 0)
        for name, key in _SCORERS.items()
        for measure, head in _HEADS.items()
    }


def _counted(links: Iterable[Link]) -> Iterator[Link]:
    """Say which of a document's links with the same concept a link is, instead of its place."""
    seen = Counter[tuple[str, frozenset[int]]]()
    for doc, _, _, concepts in links:
        seen[doc, concepts] += 1
        yield Link(doc, seen[doc, concepts], seen[doc, concepts], concepts)


def measure_phenotypes(hpo: Path, other: Path | None) -> Iterator[dict[str, Any]]:
    """Measure ours, and FastHPOCR, on the corpora of phenotypes."""
    nlp, kb = pipeline(hpo, _WITHIN), KnowledgeBase(hpo / "kb.sqlite")
    find: Any = peers.fasthpocr(other) if other else None
    among = concepts_of(_WITHIN, kb, Hierarchy(kb))
    for corpus, files in PHENOTYPES.items():
        parts = [load_gold(DATA / file, kb) for file in files]
        documents = [document for part in parts for document in part.documents]
        gold = GoldSet(DATA, documents, dict(ChainMap(*(part.found for part in parts))))
        ways = _read(nlp, gold)
        for way, longest in _LONGEST.items() if find else ():
            ways[way] = [find(document.text or "", longest=longest) for document in documents]
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
    if medic:
        kb, nlp = KnowledgeBase(medic / "kb.sqlite"), pipeline(medic)
        with tempfile.TemporaryDirectory() as workplace:
            for corpus in CORPORA:
                gold = load_gold(diseases(corpus, part, Path(workplace)), kb)
                for way, found in _read(nlp, gold).items():
                    figures = score(kb, gold, found, np.ones(len(kb), bool))
                    rows.append({"texts": corpus, "way": way, **figures})
    report(output, rows, f"Disease corpora: {part}.")


if __name__ == "__main__":
    typer.run(main)

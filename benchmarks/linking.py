"""Links of gold mentions at default settings: `python -m benchmarks.linking NAME=ASSETS...`.

For each assets: acc@k of each tier alone and of all together; what `medlink learn` gains from the
training part (`--no-learn` leaves it out); and NIL, where a random fifth of the gold concepts is
denied, five times. Mentions are of a corpus of the data directory (MEDLINK_DATA), for assets over
MEDIC; `--corpus gsc_plus` is for the HPO and has no training part.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import spacy
import typer
from spacy.tokens import Span

from benchmarks.measured import DATA, RESULTS, diseases, report, run_command
from spacy_medlink.assets import Assets
from spacy_medlink.evaluation import load_gold
from spacy_medlink.evaluation.gold_set import GoldSet
from spacy_medlink.text.normalisation import key
from spacy_medlink.types import FROM_MENTIONS

Row = dict[str, Any]
_KS = (1, 5, 25)
_SHARE, _DRAWS = 0.2, 5  # of the gold concepts that are denied, and how often


def measure(name: str, assets: Path, corpus: str, work: Path, learn: bool) -> Iterator[Row]:
    """Measure assets before and, where there is a training part, after learning."""
    train, gold = (work / "none", DATA / f"{corpus}.dev.jsonl.gz")
    if corpus != "gsc_plus":
        train, gold = (diseases(corpus, part, work) for part in ("train", "dev"))
    yield from _accuracy(name, assets, gold, train)
    yield {"assets": name, "what": "all tiers, NIL", **nil(assets, gold)}
    if learn and train.exists():
        learned, name = work / f"{name}.learned", f"{name}, learned"
        seconds = run_command("learn", assets, train, "--new-concepts", "--output", learned)
        *_, row = _accuracy(name, learned, gold, train)
        yield {**row, "s": seconds["wall_s"]}
        yield {"assets": name, "what": "all tiers, NIL", **nil(learned, gold)}


def _accuracy(name: str, assets: Path, gold: Path, train: Path) -> Iterator[Row]:
    """Measure each tier alone, then all, by `medlink evaluate`."""
    with TemporaryDirectory(prefix="medlink-bench-") as directory:
        output = Path(directory) / "metrics.json"
        ks = ",".join(map(str, _KS))
        options = ["--k", ks, "--all-tiers", "--no-baselines", "--output", output]
        if train.exists():
            options += ["--train", train]
        run_command("evaluate", assets, gold, *options)
        metrics = json.loads(output.read_text("utf-8"))
    for what, figures in {**metrics["baselines"], "all tiers": metrics}.items():
        row: Row = {"assets": name, "what": what, "mentions": figures["n"]}
        row |= {f"acc@{k}": 100 * figures[f"acc@{k}"] for k in _KS}
        if figures is metrics and train.exists():
            row["acc@1 unseen"] = 100 * figures["by_mention"]["unseen"]["acc@1"]
        if figures is metrics:
            row |= {of: 100 * figures["links"][of] for of in ("precision", "coverage")}
        yield row


def nil(path: Path, gold_path: Path) -> Row:
    """Deny a fifth of the gold concepts, and link.

    RETURNS: `precision` of links; `coverage`, links of the mentions whose concept is left, in per
        cent; `lost`, mentions that are a name of their concept alone and became NIL, of how many.
    """
    assets = Assets(path)
    gold = load_gold(gold_path, assets.kb)
    gold_ids = sorted({id for values in _gold_ids(gold, assets).values() for id in values})
    counts = []
    for draw in range(_DRAWS):
        denied = set(random.Random(draw).sample(gold_ids, round(_SHARE * len(gold_ids))))
        nlp = spacy.blank("en")
        config = {"assets": str(path), "deny": sorted(denied), "force_within_filter": True}
        nlp.add_pipe("medical_linker", config=config)
        counts.append(Counter[str]())
        for span, right in _linked(nlp, gold, _gold_ids(gold, assets)):
            counts[-1].update(_verdicts(span, right - denied, _named(assets, span) - denied))
    total = {
        of: mean(values[of] for values in counts) for of in ("links", "right", "left", "covered")
    }
    return {
        "precision": 100 * total["right"] / total["links"],
        "coverage": 100 * total["covered"] / total["left"],
        "lost": f"{mean(values['lost'] for values in counts):.1f} of "
        f"{mean(values['named'] for values in counts):.0f}",
    }


def _gold_ids(gold: GoldSet, assets: Assets) -> dict[tuple[str, int, int], set[str]]:
    """Get the concepts of each mention, by document and place."""
    return {
        (document.doc_id, mention.start, mention.end): {
            assets.kb.concept_at(row).id for row in gold.rows(mention)
        }
        for document in gold.documents
        for mention in document.mentions
    }


def _linked(
    nlp: Any, gold: GoldSet, ids: dict[tuple[str, int, int], set[str]]
) -> Iterator[tuple[Span, set[str]]]:
    """Link the mentions of documents; of overlapping ones the longest."""
    for document in gold.documents:
        doc, right_of = nlp.make_doc(document.text or ""), {}
        for mention in document.mentions:
            span = doc.char_span(mention.start, mention.end, "X", alignment_mode="expand")
            right_of[span] = ids[document.doc_id, mention.start, mention.end]
        doc.set_ents(spacy.util.filter_spans(right_of))
        places = {(span.start, span.end): right for span, right in right_of.items()}
        for ent in nlp.get_pipe("medical_linker")(doc).ents:
            yield ent, places[ent.start, ent.end]


def _named(assets: Assets, span: Span) -> set[str]:
    """Find the concepts that have the text as a name which is not from annotated text."""
    text_key = key(span.text)
    return {
        concept.id for concept in assets.kb.find(span.text)
        if any(key(n.text) == text_key and n.source != FROM_MENTIONS for n in concept.names)
    }  # fmt: skip


def _verdicts(span: Span, right: set[str], named: set[str]) -> dict[str, int]:
    is_linked, is_name = span._.cui is not None, len(named) == 1 and named <= right
    return {
        "links": is_linked, "right": is_linked and span.kb_id_ in right, "left": bool(right),
        "covered": is_linked and bool(right), "named": is_name, "lost": is_name and not is_linked,
    }  # fmt: skip


def main(
    assets: Annotated[list[str], typer.Argument(metavar="NAME=ASSETS...", help="One or more.")],
    corpus: Annotated[str, typer.Option(help="ncbi_disease, bc5cdr, gsc_plus.")] = "ncbi_disease",
    learn: Annotated[bool, typer.Option(help="Learn from the training part, too.")] = True,
    output: Annotated[Path | None, typer.Option(help="JSON; a table beside it.")] = None,
) -> None:
    """Measure links of gold mentions."""
    named = dict(text.split("=", 1) for text in assets)
    with TemporaryDirectory(prefix="medlink-bench-") as directory:
        rows = [
            row
            for name, path in named.items()
            for row in measure(name, Path(path), corpus, Path(directory), learn)
        ]
    note = f"Per cent of the development mentions of {corpus}; coverage: of mentions with a concept"
    report(output or RESULTS / f"linking_{corpus}.json", rows, f"{note} that is left.")


if __name__ == "__main__":
    typer.run(main)

"""Invented sentences that test the context of mentions, and their meaning in context.

`python -m benchmarks.context` reads benchmarks/sentences/said.jsonl with `medical_context`, and
with medspaCy's ConText where that is installed (English). A mention is right if all of its context
attributes are right. The author of the sentences did not know the rules. The cues were written
without the sentences, then improved with the part "dev"; the part "test" was never looked at. Each
mention of senses.jsonl is linked alone and in its sentence: those for the built-in starter, and
with `--hpo ASSETS` those for the HPO.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.tokens import Doc, Span

from spacy_medlink.cli.output import table
from spacy_medlink.components.context import ATTRIBUTES
from spacy_medlink.text.context import KINDS

_SENTENCES = Path(__file__).parent / "sentences"
Counts = Counter[str]
Reader = Callable[[Any], Sequence[frozenset[str]]]


def read_sentences(name: str) -> list[dict[str, Any]]:
    """Read the sentences of a file."""
    lines = (_SENTENCES / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def reader(lang: str, *components: str) -> Reader:
    """Make a function that reads a sentence with some components of spaCy."""
    nlp = spacy.blank(lang)
    for component in components:
        nlp.add_pipe(component)

    def read(sentence: Any) -> Sequence[frozenset[str]]:
        doc = nlp.make_doc(sentence["text"])
        doc.set_ents([_span(doc, one["start"], one["end"]) for one in sentence["mentions"]])
        for _, component in nlp.pipeline:
            doc = component(doc)
        return [
            frozenset(kind for kind, name in ATTRIBUTES.items() if ent._.get(name))
            for ent in doc.ents
        ]

    return read


def measure(sentences: Iterable[dict[str, Any]], read: Reader) -> Counts:
    """Count mentions, those right in everything, and right and wrong attributes by kind."""
    counts = Counts()
    for sentence in sentences:
        for mention, said in zip(sentence["mentions"], read(sentence), strict=True):
            gold = frozenset(mention["said"])
            counts["mentions"] += 1
            counts["right"] += said == gold
            counts["nothing"] += not gold
            for kind in KINDS:
                counts[kind] += 2 * (kind in gold and kind in said)
                counts[f"{kind} of"] += (kind in gold) + (kind in said)
    return counts


def link_alone_and_within(kb: str, assets: str | None) -> tuple[int, int, int]:
    """Count the mentions of a terminology, and those linked rightly alone and in sentences."""
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_linker", config={"assets": assets})
    counts = [0, 0, 0]
    for one in read_sentences("senses.jsonl"):
        if one["kb"] != kb:
            continue
        alone = (one["mention"], 0, len(one["mention"]))
        counts[0] += 1
        for place, (text, start, end) in enumerate(
            (alone, (one["text"], one["start"], one["end"]))
        ):
            doc = nlp.make_doc(text)
            doc.set_ents([_span(doc, start, end)])
            (ent,) = nlp.get_pipe("medical_linker")(doc).ents
            is_nil = ent.kb_id_ == "NIL"
            counts[place + 1] += is_nil if not one["ids"] else ent.kb_id_ in one["ids"]
    return counts[0], counts[1], counts[2]


def _span(doc: Doc, start: int, end: int) -> Span:
    span = doc.char_span(start, end, "X", alignment_mode="expand")
    assert span is not None
    return span


def main(
    hpo: Annotated[Path | None, typer.Option(help="Assets of the HPO, to link with.")] = None,
) -> None:
    """Measure what is said of mentions, and what they mean."""
    sentences = read_sentences("said.jsonl")
    rows = []
    for lang in sorted({one["lang"] for one in sentences}):
        readers = {"medical_context": reader(lang, "medical_context")}
        if lang == "en" and find_spec("medspacy"):
            import_module("medspacy.context")  # which registers the component
            readers["medspaCy"] = reader(lang, "sentencizer", "medspacy_context")
        for name, read in readers.items():
            for part in ("dev", "test"):
                own = [one for one in sentences if one["lang"] == lang and one["part"] == part]
                rows.append((lang, part, name, *_figures(measure(own, read))))
    typer.echo(table(rows, ("", "part", "by", "mentions", "say nothing", "all right", *KINDS)))
    for kb, assets in {"starter": None, **({"hpo": str(hpo)} if hpo else {})}.items():
        mentions, alone, within = link_alone_and_within(kb, assets)
        typer.echo(f"{kb}: {mentions} mentions, {alone} right alone, {within} in their sentences")


def _figures(counts: Counts) -> tuple[str, ...]:
    n = counts["mentions"]
    shares = (f"{100 * counts[name] / n:.1f} %" for name in ("nothing", "right"))
    return str(n), *shares, *(f"{counts[kind] / (counts[f'{kind} of'] or 1):.2f}" for kind in KINDS)


if __name__ == "__main__":
    typer.run(main)

"""The effect of `leave_out` of `medical_mentions`: `python -m benchmarks.finding ASSETS...`.

The texts are those of the NCBI disease corpus and of BC5CDR in the data directory (MEDLINK_DATA).
The rules of `leave_out` are measured each alone, and all together. Counted are the spans that a
linker at its default settings links, and those of them that overlap no gold mention; further the
gold mentions that a linked span overlaps, and those that it equals. A span without a gold mention
may be right: neither corpus annotates organs. Figures go to OUTPUT as JSON, and to a Markdown table
beside it.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import spacy
import typer
from spacy.language import Language

from benchmarks.diseases import CORPORA, DATA
from benchmarks.measured import machine, write_results
from spacy_medlink.components.finding.settings import LEAVE_OUT
from spacy_medlink.kb.gold import GoldDocument, read_gold

_NOTHING, _ALL = "nothing (as before)", "all (default)"
WAYS: dict[str, list[str]] = {
    _NOTHING: [], **{rule: [rule] for rule in LEAVE_OUT}, _ALL: list(LEAVE_OUT)
}  # fmt: skip
_HEADER = "| assets | texts | left out | linked | of no gold mention | gold found | of them whole |"
_MOST_SHOWN = 20

Place = tuple[int, int]


class Counts(NamedTuple):
    """Counts of one way of finding mentions, over all texts.

    linked, beside (int): linked spans, and those that overlap no gold mention. found, whole (int):
        gold mentions that a linked span overlaps, or equals. wholes (Set): the equal ones, as
        (number of the text, start, end).
    """

    linked: int
    beside: int
    found: int
    whole: int
    wholes: frozenset[tuple[int, int, int]]


def count(gold: Sequence[Sequence[Place]], linked: Sequence[Sequence[Place]]) -> Counts:
    """Count linked spans against gold mentions, text by text; places are in characters."""
    spans = beside = found = 0
    wholes = set()
    for number, (wanted, own) in enumerate(zip(gold, linked, strict=True)):
        spans += len(own)
        beside += sum(not any(_touch(one, other) for other in wanted) for one in own)
        found += sum(any(_touch(one, other) for other in own) for one in wanted)
        wholes |= {(number, *one) for one in set(wanted) & set(own)}
    whole = sum((number, *one) in wholes for number, own in enumerate(gold) for one in own)
    return Counts(spans, beside, found, whole, frozenset(wholes))


def _touch(one: Place, other: Place) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _linked(
    assets: Path, leave_out: list[str], linker: Language, texts: list[str]
) -> Iterator[list[Place]]:
    """Yield the places of linked spans, text by text; the linker is shared for its cache."""
    nlp = spacy.blank("en")
    finder: Any = nlp.add_pipe(
        "medical_mentions", config={"assets": str(assets), "leave_out": leave_out}
    )
    one: Any = linker.get_pipe("medical_linker")
    for doc in one.pipe(finder(nlp.make_doc(text)) for text in texts):
        yield [(ent.start_char, ent.end_char) for ent in doc.ents if ent.kb_id_ not in ("", "NIL")]


def measure(assets: Path, documents: Sequence[GoldDocument]) -> Iterator[dict[str, Any]]:
    """Count the links of each way in documents with a text."""
    linker = spacy.blank("en")
    linker.add_pipe("medical_linker", config={"assets": str(assets)})
    texts = [document.text or "" for document in documents]
    gold = [[(own.start, own.end) for own in one.mentions if own.start >= 0] for one in documents]
    before: frozenset[tuple[int, int, int]] = frozenset()
    for way, leave_out in WAYS.items():
        counts = count(gold, list(_linked(assets, leave_out, linker, texts)))
        before = before or counts.wholes
        lost = sorted(texts[text][start:end] for text, start, end in before - counts.wholes)
        yield {
            "assets": assets.name,
            "left_out": way,
            "gold": sum(map(len, gold)),
            **{name: getattr(counts, name) for name in ("linked", "beside", "found", "whole")},
            "lost": {text: lost.count(text) for text in dict.fromkeys(lost)},
        }


def _table(rows: Sequence[dict[str, Any]], part: str) -> str:
    lines = [_HEADER, "|---|---|---|---:|---:|---:|---:|"]
    for row in rows:
        whole = f"{row['whole']:,} of {row['gold']:,}"
        lines.append(
            f"| {row['assets']} | {row['texts']} | {row['left_out']} | {row['linked']:,} | "
            f"{row['beside']:,} | {row['found']:,} | {whole} |"
        )
    lines.append("")
    for row in rows:
        if row["left_out"] == _ALL and row["lost"]:
            most = sorted(row["lost"].items(), key=lambda item: (-item[1], item[0]))[:_MOST_SHOWN]
            texts = ", ".join(f"{text} ({times})" for text, times in most)
            lines.append(f"No longer found whole ({row['assets']}, {row['texts']}): {texts}.\n")
    lines.append(
        f"Texts: the {part} parts. Linked: spans with a link, at the linker's default settings. "
        "Gold found: gold mentions that a linked span overlaps; whole: that one equals."
    )
    return "\n".join(lines)


def main(
    assets: Annotated[list[Path], typer.Argument(help="Assets, over any terminology.")],
    part: Annotated[str, typer.Option(help="Of the corpora: train or dev.")] = "dev",
    output: Annotated[Path, typer.Option(help="JSON; a table goes beside it.")] = Path(
        "benchmarks/results/finding.json"
    ),
) -> None:
    """Measure what is left out."""
    rows = [
        {"texts": corpus, **row}
        for own in assets
        for corpus in CORPORA
        for row in measure(own, list(read_gold(DATA / f"{corpus}.{part}.jsonl.gz")))
    ]
    results = {"part": part, "rows": rows, "machine": machine()}
    write_results(output, results, _table(rows, part))


if __name__ == "__main__":
    typer.run(main)

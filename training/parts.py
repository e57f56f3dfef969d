"""Divide the available corpora into parts for training, choosing and testing.

`python -m training.parts gsc-plus medmentions-st21pv --output gold`
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.gold import gold_lines, read_gold
from spacy_medlink.types import Data
from spacy_medlink.util.files import replacing_directory, working_directory
from spacy_medlink.util.outputs import DirectoryKind

from .corpora.convert import convert
from .corpora.layout import PARTS, gold_files, part_of
from .corpora.registry import CORPORA
from .corpora.tally import Tally
from .data.mentions import known_types
from .fetching.sources import find_source
from .verbs import Overwrite, run_verb

GOLD = DirectoryKind("the gold mentions of a workflow")
_SHARE = 0.1  # of the documents, where the publisher set none apart
_FEWEST = 10  # documents that can be divided

Parts = dict[str, list[Data]]  # by "train", "dev", "test"
_FOLDS = re.compile(r"fold-(\d+)\.")  # AskAPatient: the folds repeat the same phrases


def read_parts(name: str, corpora: Path) -> Parts:
    """Read a corpus by its publisher's parts; documents of no part are for training.

    RETURNS (Parts): empty where the corpus is not there.
    RAISES (MedlinkError): E401-E404 for a gold file, E70x for a corpus.
    """
    files = gold_files(name, corpora)
    if files:
        return {part: _read(path) for part, path in files.items()}
    directory = corpora / find_source(name).name
    if name not in CORPORA or not directory.is_dir():
        return {}
    with working_directory(corpora / f".{name}.parts") as work:
        converted = work / "all.jsonl"
        convert(CORPORA[name], directory, converted, Tally())
        records = _read(converted)
    parts: Parts = {}
    for record in records:
        split = str(record.get("split", ""))
        fold = _FOLDS.match(split)
        if not fold or fold[1] == "0":
            part = part_of(split)
            parts.setdefault(part if part in PARTS else "train", []).append(record)
    return parts


def _read(path: Path) -> list[Data]:
    for _ in read_gold(path):  # says what is wrong with a file, and where
        pass
    return [json.loads(line) for _, line in gold_lines(path) if line.strip()]


def divide(parts: Parts, seed: int = 0) -> Parts:
    """Make parts for training, choosing and testing that share no documents.

    The last part of a corpus is for testing; of a corpus with only one part, it is a tenth. Without
    a publisher's development part, a tenth of the training part is for choosing.
    """
    left = {part: list(parts.get(part, ())) for part in PARTS}
    if not left["test"] and left["dev"]:
        left["test"], left["dev"] = left["dev"], []
    if not left["test"]:
        left["train"], left["test"] = _apart(left["train"], seed)
    if not left["dev"]:
        left["train"], left["dev"] = _apart(left["train"], seed + 1)
    return left


def _apart(records: list[Data], seed: int) -> tuple[list[Data], list[Data]]:
    """Draw documents to set apart; none if there are too few."""
    if len(records) < _FEWEST:
        return records, []
    chosen = set(random.Random(seed).sample(range(len(records)), round(_SHARE * len(records))))
    kept = [record for row, record in enumerate(records) if row not in chosen]
    return kept, [records[row] for row in sorted(chosen)]


def make_parts(
    names: Sequence[str],
    corpora: Path,
    output: Path,
    overwrite: bool = False,
    kb: KnowledgeBase | None = None,
) -> dict[str, dict[str, int]]:
    """Write train.jsonl and dev.jsonl of all corpora, and NAME.test.jsonl of each.

    Corpora share abstracts, so the test texts of one corpus are not in the training of any.

    output (Path): directory, replaced. overwrite (bool): even if it holds other files.
    kb (Optional[KnowledgeBase]): leave out mentions of types that it does not cover.
    RETURNS (Dict[str, Dict[str, int]]): documents by corpus and part.
    RAISES (MedlinkError): E108 for an unknown name, E401-E404 and E70x for the corpora,
        E120-E123 for the output.
    """
    every = {name: parts for name in dict.fromkeys(names) if (parts := read_parts(name, corpora))}
    if kb is not None:
        for parts in every.values():
            _keep_known(parts, kb)
    divided = {name: divide(parts) for name, parts in every.items()}
    measured = {text for parts in divided.values() for text in _texts(parts["test"])}
    for parts in divided.values():
        for part in ("train", "dev"):
            parts[part] = [record for record in parts[part] if record.get("text") not in measured]
    with replacing_directory(output, GOLD, overwrite=overwrite) as path:
        for part in ("train", "dev"):
            _write(path / f"{part}.jsonl", divided, part, list(divided))
        for name, parts in divided.items():
            if parts["test"]:
                _write(path / f"{name}.test.jsonl", divided, "test", [name])
    return {
        name: {part: len(records) for part, records in parts.items()}
        for name, parts in divided.items()
    }


def _keep_known(parts: Parts, kb: KnowledgeBase) -> None:
    """Leave out mentions of types that the knowledge base does not cover."""
    lists = [
        record["mentions"]
        for records in parts.values()
        for record in records
        if "mentions" in record
    ]
    typed = (
        (mention.get("type", ""), mention.get("ids", ()))
        for mentions in lists
        for mention in mentions
    )
    types = known_types(typed, kb)
    for mentions in lists:
        mentions[:] = [mention for mention in mentions if mention.get("type", "") in types]


def _texts(records: list[Data]) -> Iterator[str]:
    # Bare mentions have no text, so equal mentions in two corpora are not a shared document.
    return (record["text"] for record in records if record.get("text"))


def _write(path: Path, divided: dict[str, Parts], part: str, names: list[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for name in names:
            for record in divided[name][part]:
                # Two corpora may have different versions of an abstract under one id.
                id = {"doc_id": f"{name}/{record['doc_id']}"} if "doc_id" in record else {}
                file.write(json.dumps({**record, **id}, ensure_ascii=False) + "\n")


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Corpora.")] = None,
    corpora: Annotated[Path, typer.Option(help="Where they are.")] = Path("corpora"),
    output: Annotated[Path, typer.Option(help="Directory for the parts.")] = Path("gold"),
    kb: Annotated[
        Path | None,
        typer.Option(help="Leave out mentions of types that this knowledge base is not about."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Divide the corpora that are there into what teaches, what chooses and what measures."""
    counts = make_parts(names or [], corpora, output, overwrite, KnowledgeBase(kb) if kb else None)
    for name, parts in counts.items():
        shown = ", ".join(f"{count:,} {part}" for part, count in parts.items())
        typer.echo(f"{name}: {shown} documents")
    if not counts:
        typer.echo("No annotated text is there: names alone will teach and measure.")


if __name__ == "__main__":
    run_verb(main)

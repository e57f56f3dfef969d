"""The cost of linking in a spaCy pipeline: `python -m benchmarks.pipeline WORK NAME=ASSETS...`.

Measured in fresh processes, for each assets (or saved pipeline) and each `--peer`: accuracy on gold
mentions, the processor time that linking adds to `nlp.pipe`, the time to the first link, and
memory. Mentions come from MEDLINK_DATA where it exists, otherwise they are misspelt names. All
linkers get the same mentions. A peer must be installed; WORK keeps its index.
"""

import gc
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoints, distributions
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

from benchmarks.measured import DATA, RESULTS, report, resident, run_task
from benchmarks.peers import PEERS

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from spacy_medlink.kb import KnowledgeBase

TEXTS = ("ncbi_disease.train.jsonl.gz", "ncbi_disease.dev.jsonl.gz", "bc5cdr.dev.jsonl.gz")
_REPEATS, _A_DOCUMENT = 3, 10  # runs; mentions of a document that is made of names
_OURS = {"spacy", "spacy-legacy", "spacy-loggers", "thinc", "confection", "spacy-medlink"}


class Document(TypedDict):
    """ents: [start, end] of each mention, in characters. ids: of each mention, where known."""

    text: str
    ents: list[list[int]]
    ids: list[list[str]]


def link(
    source: str, documents: str, peer: str = "", work: str = "", packages: str = ""
) -> dict[str, Any]:
    """Load a linker as a user does, without plug-ins of other packages, and link.

    source (str): assets, a saved pipeline, or for a peer the knowledge base.
    """
    sys.path.append(packages)
    _hide_plug_ins()
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    nlp = PEERS[peer](source, Path(work)) if peer else _ours(source)
    name = nlp.pipe_names[-1]
    _seconds(nlp, _of_texts(["a mention"]))
    first = time.perf_counter() - start
    memory = resident() / 1e6
    sets: dict[str, list[Document]] = json.loads(Path(documents).read_text("utf-8"))

    def forget() -> None:
        if not peer:
            linker: Any = nlp.get_pipe(name)
            linker.engine.retrieval.clear()

    again = added(nlp, name, sets["distinct"], lambda: None)
    of_stream, stream = added(nlp, name, sets["stream"], forget), sets["stream"]
    mentions = sum(len(document["ents"]) for document in stream)
    return {
        **accuracy(nlp, sets["gold"]),
        "mentions/s in abstracts": 1000 / of_stream,
        "ms an abstract": of_stream * mentions / len(stream),
        "ms a distinct mention": added(nlp, name, sets["distinct"], forget),
        "ms again": again,
        "ms a name": added(nlp, name, sets["names"], forget),
        "s to the first link": first,
        "MB then": memory,
    }


def _ours(source: str) -> "Language":
    import spacy

    if (Path(source) / "config.cfg").is_file():
        return spacy.load(source, exclude=["medical_mentions"])
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_linker", config={"assets": source})
    return nlp


def added(
    nlp: "Language", component: str, documents: Sequence[Document], before: Callable[[], object]
) -> float:
    """Measure what a component adds to `nlp.pipe`: processor time, median milliseconds a mention.

    documents: their mentions are not linked yet. before: called before each repeat.
    """
    bare, whole = [], []
    for _ in range(_REPEATS):
        before()
        with nlp.select_pipes(disable=[component]):
            bare.append(_seconds(nlp, documents))
        whole.append(_seconds(nlp, documents))
    seconds = sorted(whole)[_REPEATS // 2] - sorted(bare)[_REPEATS // 2]
    return 1000 * seconds / sum(len(document["ents"]) for document in documents)


def _seconds(nlp: "Language", documents: Sequence[Document]) -> float:
    # As a stream, since the garbage collector would visit a list of all Docs again and again.
    gc.collect()
    start = time.process_time()
    for _ in nlp.pipe(_docs(nlp, documents)):
        pass
    return time.process_time() - start


def _docs(nlp: "Language", documents: Sequence[Document]) -> Iterator["Doc"]:
    from spacy.util import filter_spans

    for document in documents:
        doc = nlp.make_doc(document["text"])
        spans = [
            doc.char_span(start, end, "X", alignment_mode="expand")
            for start, end in document["ents"]
        ]
        doc.set_ents(filter_spans(span for span in spans if span is not None))
        yield doc


def accuracy(nlp: "Language", documents: Sequence[Document]) -> dict[str, float]:
    """Measure acc@1 and acc@5 in per cent by the candidates of ours, or `_.kb_ents` of a peer's."""
    ranks, is_ours = [], "medical_linker" in nlp.pipe_factories.values()
    for doc, document in zip(nlp.pipe(_docs(nlp, documents)), documents, strict=True):
        gold = {
            start: set(ids)
            for (start, _), ids in zip(document["ents"], document["ids"], strict=True)
        }
        for ent in doc.ents:
            if ent.start_char in gold:
                ids = [
                    candidate["id"] if is_ours else candidate[0]
                    for candidate in (ent._.candidates if is_ours else ent._.kb_ents)
                ]
                ranks.append([id in gold[ent.start_char] for id in ids])
    return {
        f"acc@{k}": 100 * sum(any(hits[:k]) for hits in ranks) / len(ranks)
        for k in (1, 5) if ranks
    }  # fmt: skip


def _hide_plug_ins() -> None:
    """Hide the entry points of other packages from spaCy, as if they were not installed."""
    catalogue: Any = import_module("catalogue")
    points = (
        point
        for distribution in distributions()
        if distribution.name in _OURS
        for point in distribution.entry_points
    )
    catalogue.AVAILABLE_ENTRY_POINTS = EntryPoints(points)


def write_documents(
    path: Path, kb: "KnowledgeBase", data: Path, gold: str, through: Path | None, limit: int
) -> None:
    """Write documents by set.

    stream: abstracts with all their mentions. distinct: mentions that occur once. names: names of
    the terminology. gold: mentions with ids. Without data, all are misspelt names.
    through (Optional[Path]): a knowledge base with the ids of the gold file, if `kb` has others:
        concepts that share a name are the same. limit (int): distinct mentions, at most.
    """
    from benchmarks.kb_tasks import misspelt
    from spacy_medlink.kb import KnowledgeBase
    from spacy_medlink.kb.gold import read_gold

    texts = [data / name for name in TEXTS if (data / name).is_file()]
    made = _of_texts(misspelt(kb))
    step = max(1, kb.n_names // limit)
    sets = {
        "distinct": _abstracts(texts, limit) if texts else made,
        "stream": _abstracts(texts, limit, repeats=True) if texts else made,
        "names": _of_texts([name.text for _, name in kb.iter_names()][::step][:limit]),
        "gold": [],
    }
    if (data / gold).is_file():
        same = partial(_same, kb, KnowledgeBase(through) if through else None)
        sets["gold"] = [
            _gold(document, same) for document in read_gold(data / gold) if document.text
        ]
    path.write_text(json.dumps(sets), encoding="utf-8")


def _abstracts(paths: Iterable[Path], limit: int, repeats: bool = False) -> list[Document]:
    """Read documents with their mentions; without `repeats` only those that are new."""
    from spacy_medlink.kb.gold import read_gold

    seen: set[str] = set()
    documents: list[Document] = []
    for document in (document for path in paths for document in read_gold(path)):
        ents: list[list[int]] = []
        for mention in sorted(document.mentions, key=lambda mention: (mention.start, -mention.end)):
            text = " ".join(mention.text.split())
            is_free = mention.start >= (ents[-1][1] if ents else 0)
            if is_free and (repeats or (text not in seen and len(seen) < limit)):
                seen.add(text)
                ents.append([mention.start, mention.end])
        if ents and document.text:
            documents.append({"text": document.text, "ents": ents, "ids": []})
    return documents


def _same(kb: "KnowledgeBase", other: "KnowledgeBase | None", id: str) -> set[str]:
    """Find the concepts of `kb` that an id means, by the names in the other knowledge base."""
    same_id = (other or kb).resolve(id)
    if other is None or same_id is None:
        return {same_id} if same_id is not None else set()
    return {concept.id for name in other[same_id].names for concept in kb.find(name.text)}


def _gold(document: Any, same: Callable[[str], set[str]]) -> Document:
    """Take the mentions whose concept the terminology has; of overlapping ones the first."""
    ents, ids, end = [], [], 0
    for mention in sorted(document.mentions, key=lambda mention: (mention.start, -mention.end)):
        right = set[str]().union(*map(same, mention.ids))
        if right and mention.start >= end:
            end = mention.end
            ents.append([mention.start, end])
            ids.append(sorted(right))
    return {"text": document.text, "ents": ents, "ids": ids}


def _of_texts(texts: Sequence[str]) -> list[Document]:
    """Make documents that are lists of mentions."""
    documents: list[Document] = []
    for start in range(0, len(texts), _A_DOCUMENT):
        text, ents = "Findings:", []
        for mention in texts[start : start + _A_DOCUMENT]:
            ents.append([len(text) + 1, len(text) + 1 + len(mention)])
            text += f" {mention};"
        documents.append({"text": text, "ents": ents, "ids": []})
    return documents


def main(
    work: Annotated[Path, typer.Argument(help="Directory for what is made once.")],
    assets: Annotated[list[str], typer.Argument(metavar="NAME=ASSETS...", help="Or pipelines.")],
    peer: Annotated[list[str] | None, typer.Option(help=f"Of {', '.join(PEERS)}.")] = None,
    packages: Annotated[str, typer.Option(help="Directory where peers are installed.")] = "",
    data: Annotated[Path, typer.Option(help="Annotated corpora.")] = DATA,
    gold: Annotated[str, typer.Option(help="File of the data.")] = "gsc_plus.dev.jsonl.gz",
    through: Annotated[Path | None, typer.Option(help="KB with the ids of the gold file.")] = None,
    limit: Annotated[int, typer.Option(help="Distinct mentions, at most.")] = 4000,
    output: Annotated[Path, typer.Option(help="JSON; a table beside it.")] = (
        RESULTS / "pipeline.json"
    ),
) -> None:
    """Measure what linking costs in a pipeline."""
    from spacy_medlink.kb import KnowledgeBase

    work.mkdir(parents=True, exist_ok=True)
    named = dict(text.split("=", 1) for text in assets)
    first = Path(next(iter(named.values())))
    kb = next(first.rglob("kb.sqlite"))
    documents = work / "documents.json"
    write_documents(documents, KnowledgeBase(kb), data, gold, through, limit)
    given = {name: {"source": path} for name, path in named.items()}
    for name in peer or ():
        given[name] = {"source": str(kb), "peer": name, "work": str(work / name)}
    rows = []
    common = {"documents": str(documents), "packages": packages}
    for name, own in given.items():
        run = run_task("benchmarks.pipeline.link", **common, **own)
        rows.append({"linker": name, **run})
    report(output, rows, f"Gold mentions of {gold}.")


if __name__ == "__main__":
    typer.run(main)

"""The tasks of benchmarks.pipeline in fresh processes; nothing heavy is imported at the top."""

import gc
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from benchmarks.measured import private, resident

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_REPEATS = 3
_EMPTY = 2000  # documents without a mention
_TEXT = "Fever, growth restricted before birth, tall stature, atrial fibrilation."
_OURS = {"spacy", "spacy-legacy", "spacy-loggers", "thinc", "confection", "spacy-medlink"}


class Document(TypedDict):
    """ents: [start, end] of each mention, in characters. ids: of each mention, where known."""

    text: str
    ents: list[list[int]]
    ids: list[list[str]]


def cold_start(pipeline: str, alone: bool, torch: bool) -> dict[str, Any]:
    """Start a saved pipeline and link.

    alone (bool): without plug-ins of other packages. torch (bool): False makes its import fail.
    RETURNS (Dict): `parts`, each with seconds and the resident memory after it; their sum `s`;
        `rss_mb`, and its part `private_mb`, which no other process can share.
    """
    if not torch:
        # None makes `import torch` fail, as if torch were not installed.
        sys.modules["torch"] = None  # type: ignore[assignment]  # the stubs know modules only
    if alone:
        hide_plug_ins()
    warnings.simplefilter("ignore")
    parts: dict[str, dict[str, float]] = {}
    clock = [time.perf_counter()]

    def done(part: str) -> None:
        now = time.perf_counter()
        rss = round(resident() / 1e6, 1)
        parts[part] = {"s": round(now - clock[0], 3), "rss_after_mb": rss}
        clock[0] = time.perf_counter()

    import spacy

    done("import spacy")
    spacy.blank("en")
    done("entry points, by spacy.blank")
    nlp = spacy.load(pipeline)
    done("spacy.load")
    linker: Any = nlp.get_pipe("medical_linker")
    _ = linker.assets.kb, linker.assets.facets
    done("knowledge base")
    if "dense" in linker.assets.tiers:
        _ = linker.assets.encoder
        done("encoder")
        _ = linker.assets.dense
        done("vector index, faiss")
    _ = linker.engine
    done("engine")
    doc = nlp(_TEXT)
    assert doc.ents and all(ent.kb_id_ for ent in doc.ents)
    linker.link_texts(["a mention that is no name"])
    done("first links")
    return {
        "s": round(sum(part["s"] for part in parts.values()), 3),
        "rss_mb": round(resident() / 1e6, 1),
        "private_mb": round(private() / 1e6, 1),
        "parts": parts,
    }


def speed(pipeline: str, documents: str) -> dict[str, Any]:
    """Measure what linking adds to `nlp.pipe`, where the entities are given."""
    import spacy

    warnings.simplefilter("ignore")
    sets: dict[str, list[Document]] = json.loads(Path(documents).read_text("utf-8"))
    nlp = spacy.load(pipeline, exclude=["medical_mentions"])
    linker: Any = nlp.get_pipe("medical_linker")
    nlp(_TEXT)
    linker.link_texts(["warm up"])

    def forget() -> None:
        linker.engine.retrieval.clear()
        linker.opened._writer = None  # its cache would make the repeats faster

    found = {
        "distinct mentions, nothing cached": added(nlp, linker.name, sets["distinct"], forget),
        "the same again, from the cache": added(nlp, linker.name, sets["distinct"], lambda: None),
        "names of the terminology, by default": added(nlp, linker.name, sets["names"], forget),
    }
    exact = spacy.load(
        pipeline,
        exclude=["medical_mentions"],
        config={"components.medical_linker.exact_first": True},
    )
    own: Any = exact.get_pipe("medical_linker")
    found["names of the terminology, exact_first"] = added(
        exact, own.name, sets["names"], own.engine.retrieval.clear
    )
    empty = [Document(text=one["text"], ents=[], ids=[]) for one in sets["distinct"]]
    empty = (empty * (_EMPTY // len(empty) + 1))[:_EMPTY]
    found["documents without a mention"] = added(nlp, linker.name, empty, lambda: None)
    return {"added": found, "rss_mb": round(resident() / 1e6, 1)}


def ours(pipeline: str, documents: str) -> dict[str, Any]:
    """Load our linker as a user does, and link the mentions with gold ids."""
    hide_plug_ins()
    rss, start = resident(), time.perf_counter()
    import spacy

    warnings.simplefilter("ignore")
    nlp = spacy.load(pipeline, exclude=["medical_mentions"])
    linker: Any = nlp.get_pipe("medical_linker")
    linker.link_texts(["a mention"])
    facts = loaded(start, rss)
    sets: dict[str, list[Document]] = json.loads(Path(documents).read_text("utf-8"))
    return {
        **facts,
        "accuracy": accuracy(nlp, sets["gold"]),
        **added(nlp, linker.name, sets["distinct"], linker.engine.retrieval.clear),
        "stream": added(nlp, linker.name, sets["stream"], linker.engine.retrieval.clear),
        "peak_mb_linking": round(resident() / 1e6, 1),
    }


def added(
    nlp: "Language", component: str, documents: Sequence[Document], before: Callable[[], object]
) -> dict[str, float]:
    """Measure by how much a component lengthens `nlp.pipe`.

    documents: their mentions are not linked yet. before: called before each repeat.
    RETURNS (Dict): the median of the repeats: `ms_a_mention`, `ms_a_document`, `mentions_per_s`;
        nothing without documents.
    """
    if not documents:
        return {}
    bare, whole = [], []
    for _ in range(_REPEATS):
        before()
        with nlp.select_pipes(disable=[component]):
            bare.append(_seconds(nlp, documents))
        whole.append(_seconds(nlp, documents))
    seconds = sorted(whole)[_REPEATS // 2] - sorted(bare)[_REPEATS // 2]
    count = sum(len(one["ents"]) for one in documents)
    facts = {"ms_a_document": round(1000 * seconds / len(documents), 4)}
    if count:
        facts["ms_a_mention"] = round(1000 * seconds / count, 4)
        facts["mentions_per_s"] = round(count / seconds, 1)
    return facts


def make_docs(nlp: "Language", documents: Sequence[Document]) -> Iterator["Doc"]:
    """Make Docs with the entities that documents have."""
    from spacy.util import filter_spans

    for one in documents:
        doc = nlp.make_doc(one["text"])
        spans = [
            doc.char_span(start, end, label="X", alignment_mode="expand")
            for start, end in one["ents"]
        ]
        doc.set_ents(filter_spans([span for span in spans if span is not None]))
        yield doc


def _seconds(nlp: "Language", documents: Sequence[Document]) -> float:
    # As a stream, since the garbage collector would visit a list of all Docs again and again.
    gc.collect()
    start = time.perf_counter()
    for _ in nlp.pipe(make_docs(nlp, documents)):
        pass
    return time.perf_counter() - start


def accuracy(nlp: "Language", documents: Sequence[Document]) -> dict[str, float]:
    """Measure accuracy by `_.kb_ents`, which both linkers write."""
    ranks = []
    docs = make_docs(nlp, documents)
    for doc, one in zip(nlp.pipe(docs), documents, strict=True):
        gold = {start: set(ids) for (start, _), ids in zip(one["ents"], one["ids"], strict=True)}
        for ent in doc.ents:
            if ent.start_char in gold:
                ids = [id for id, _ in ent._.kb_ents]
                ranks.append([id in gold[ent.start_char] for id in ids])
    if not ranks:
        return {}
    return {
        "mentions": len(ranks),
        **{f"acc@{k}": round(sum(any(own[:k]) for own in ranks) / len(ranks), 4) for k in (1, 5)},
    }


def loaded(start: float, rss: int) -> dict[str, float]:
    """Return the seconds since `start`, and the growth of memory since `rss` bytes."""
    return {
        "load_s": round(time.perf_counter() - start, 3),
        "rss_mb": round(resident() / 1e6, 1),
        "more_mb": round((resident() - rss) / 1e6, 1),
    }


def hide_plug_ins() -> None:
    """Hide the entry points of other packages from spaCy, as if they were not installed."""
    from importlib import import_module
    from importlib.metadata import EntryPoints, distributions

    catalogue: Any = import_module("catalogue")
    points = (point for one in distributions() if one.name in _OURS for point in one.entry_points)
    catalogue.AVAILABLE_ENTRY_POINTS = EntryPoints(points)

"""The measured tasks of a knowledge base, each in a fresh process (`measured.run_task`)."""

import itertools
import pickle
import random
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.measured import private, resident
from benchmarks.pipeline_tasks import hide_plug_ins
from spacy_medlink.kb import KnowledgeBase

if TYPE_CHECKING:
    from spacy_medlink.kb.hierarchy import Hierarchy
    from spacy_medlink.retrieval.exact import ExactIndex

NOTE = Path(__file__).parents[1] / "assets" / "sample_note.txt"
_WORDS, _NAMES_A_NOTE = 300, 20
_ANCESTORS = 200  # from which parts of the hierarchy are chosen
_MEASURED, _ZONE = 4, 500  # times that memory is measured, notes of a memory zone


def open_kb(kb: str) -> dict[str, Any]:
    """Open a knowledge base and read one concept."""
    before = resident()
    start = time.perf_counter()
    base = KnowledgeBase(kb)
    concept = base.concept_at(len(base) // 2)
    seconds = time.perf_counter() - start
    return {
        "open_ms": seconds * 1e3,
        "open_rss_mb": resident() / 1e6,
        "open_rss_added_mb": (resident() - before) / 1e6,
        "concept": concept.id,
    }


def read_concepts(kb: str, count: int) -> dict[str, Any]:
    """Read random concepts by id, twice: first from disk, then from the system's cache."""
    base = KnowledgeBase(kb)
    rng = random.Random(0)
    ids = [base.concept_at(rng.randrange(len(base))).id for _ in range(count)]
    again = _seconds(lambda: [base[id] for id in ids])
    once_more = _seconds(lambda: [base[id] for id in ids])
    return {"concept_us": min(again, once_more) / count * 1e6}


def find_in_kb(kb: str, count: int) -> dict[str, Any]:
    """Find names through the knowledge base itself, without assets."""
    base = KnowledgeBase(kb)
    texts = _names(base, count)
    return {"kb_find_us": _seconds(lambda: [base.find(text) for text in texts]) / count * 1e6}


def build_exact(kb: str, out: str) -> dict[str, Any]:
    """Build the exact tier."""
    from spacy_medlink.retrieval.exact import ExactIndex

    base = KnowledgeBase(kb)
    start = time.perf_counter()
    ExactIndex.build(base.lookup_table(), base.iter_texts(), base.texts_at).save(Path(out))
    size = sum(file.stat().st_size for file in Path(out).iterdir())
    return {"exact_build_s": time.perf_counter() - start, "exact_mb": size / 1e6}


def look_up(kb: str, exact: str, count: int) -> dict[str, Any]:
    """Look up names in the exact tier: the first time, and the best of three more."""
    from spacy_medlink.retrieval.exact import ExactIndex

    texts = _names(KnowledgeBase(kb), count)
    index = ExactIndex.load(Path(exact))
    index.search(texts[:10])
    first = _seconds(lambda: index.search(texts))
    others = [_seconds(lambda: index.search(texts)) for _ in range(3)]
    found = int((index.search(texts).rows[:, 0] >= 0).sum())
    return {"look_up_first_s": first, "look_up_s": min(others), "looked_up": count, "found": found}


def find_mentions(kb: str, exact: str, notes: int) -> dict[str, Any]:
    """Find mentions in notes of 300 words, about a tenth of which belong to names."""
    import spacy

    from spacy_medlink.components.mentions import MedicalMentions

    nlp = spacy.blank("en")
    base = KnowledgeBase(kb)
    docs = [nlp.make_doc(_note(base, seed)) for seed in range(notes + 1)]
    component = MedicalMentions(nlp.vocab).from_disk(Path(exact).parent)
    times = [_seconds(partial(component, doc)) * 1e3 for doc in docs]
    return {
        "mentions_first_ms": times[0],
        "mentions_median_ms": statistics.median(times[1:]),
        "mentions_p95_ms": sorted(times[1:])[int(0.95 * notes)],
        "mentions_found": statistics.mean(len(doc.ents) for doc in docs),
    }


def save_pipeline(assets: str, out: str) -> dict[str, Any]:
    """Save a pipeline that finds the names of assets, and links them."""
    import spacy

    nlp = spacy.blank("en")
    for name in ("medical_mentions", "medical_linker"):
        nlp.add_pipe(name, config={"assets": assets})
    nlp.to_disk(out)
    return {}


def link_notes(kb: str, pipeline: str, notes: int, more: int) -> dict[str, Any]:
    """Load a saved pipeline, without plug-ins of other packages, and link notes of 300 words.

    notes (int): timed one by one. more (int): linked after them, to see how the memory grows; in
        memory zones, as `medlink annotate` does.
    """
    hide_plug_ins()
    start = time.perf_counter()
    import spacy

    imported = time.perf_counter()
    nlp = spacy.load(pipeline)
    nlp("A history of hypertention.")
    first = time.perf_counter() - imported
    base = KnowledgeBase(kb)
    texts = (_note(base, seed) for seed in itertools.count())
    times = [_seconds(partial(nlp, text)) * 1e3 for text in itertools.islice(texts, notes)]
    memory = [private() / 1e6]
    for _ in range(_MEASURED):
        for _ in range(0, more // _MEASURED, _ZONE):
            with nlp.memory_zone():
                for _ in nlp.pipe(itertools.islice(texts, _ZONE)):
                    pass
        memory.append(private() / 1e6)
    return {
        "import_s": imported - start,
        "to_first_link_s": first,
        "note_median_ms": statistics.median(times),
        "note_p95_ms": sorted(times)[int(0.95 * notes)],
        "notes": notes + more,
        "private_mb": memory,
    }


def restrict(kb: str, pipeline: str, mentions: int) -> dict[str, Any]:
    """Link misspelt names within parts of the hierarchy, then a name that an overlay adds.

    mentions (int): linked one by one; their words were linked before.
    """
    hide_plug_ins()
    import spacy

    from benchmarks.ngrams import misspelt

    overlay = Path(pipeline).with_name("overlay.tsv")
    overlay.write_text("")
    config = {"components.medical_linker.overlay": str(overlay)}
    linker: Any = spacy.load(pipeline, config=config).get_pipe("medical_linker")
    base = KnowledgeBase(kb)
    texts = misspelt(base)[:mentions]

    def link(**given: Any) -> float:
        linker.engine.retrieval.clear()
        return _seconds(lambda: [linker.link_texts([text], **given) for text in texts])

    link()
    parts = _parts(base, linker.engine.parts.filters.hierarchy)
    expression = f"<< {parts['wide'][0]}"
    first = _seconds(lambda: linker.link_texts(texts[:1], within=expression))
    found: dict[str, Any] = {"expression_s": first, "all_ms": link() / len(texts) * 1e3}
    for name, (id, share) in parts.items():
        own: dict[str, Any] = {"within": f"<< {id}", "force_within_filter": True}
        link(**own)
        found[name] = {"share": share, "ms": link(**own) / len(texts) * 1e3}
        own["force_within_filter"] = False
        found[name]["both_ms"] = link(**own) / len(texts) * 1e3
    id = base.concept_at(0).id
    overlay.write_text(f"add\twholly unheard of\t{id}\n")
    links: list[Any] = []
    found["overlay_s"] = _seconds(lambda: links.extend(linker.link_texts(["wholly unheard of"])))
    assert links[0].id == id
    return found


def _parts(base: KnowledgeBase, hierarchy: "Hierarchy") -> dict[str, tuple[str, float]]:
    """Choose concepts with much and little below them: ids, and their share of the concepts."""
    rng = random.Random(4)
    above: dict[str, float] = {}
    for _ in range(20):
        for id in base.ancestors(base.concept_at(rng.randrange(len(base))).id):
            # An ancestor whose names are all left out is no concept of the knowledge base.
            if id in base and id not in above and len(above) < _ANCESTORS:
                above[id] = float(hierarchy.below(np.array([base.row_of(id)])).mean())
    near = {"wide": 1.0, "narrow": 0.05}
    return {
        part: min(above.items(), key=lambda one: abs(one[1] - share))
        for part, share in near.items()
    }


def read_at_once(kb: str, exact: str, count: int) -> dict[str, Any]:
    """Read from 8 threads in each of 2 processes, forked and spawned, and compare the answers."""
    from spacy_medlink.retrieval.exact import ExactIndex

    base, index = KnowledgeBase(kb), ExactIndex.load(Path(exact))
    rng = random.Random(1)
    rows = [rng.randrange(len(base)) for _ in range(count)]
    expected = _answers(base, index, rows)
    same = pickle.loads(pickle.dumps(base))[base.concept_at(rows[0]).id].row == rows[0]
    rates = {}
    for method in ("fork", "spawn"):
        start = time.perf_counter()
        with ProcessPoolExecutor(2, mp_context=get_context(method)) as pool:
            tasks = [pool.submit(_in_threads, base, exact, rows) for _ in range(2)]
            for task in tasks:
                same = same and all(answer == expected for answer in task.result())
        rates[f"{method}_s"] = time.perf_counter() - start
    return {"same_answers": same, "reads": count * 8 * 2, **rates}


def _in_threads(kb: KnowledgeBase, exact: str, rows: Sequence[int]) -> list[list[object]]:
    from spacy_medlink.retrieval.exact import ExactIndex

    index = ExactIndex.load(Path(exact))
    with ThreadPoolExecutor(8) as threads:
        return list(threads.map(lambda _: _answers(kb, index, rows), range(8)))


def _answers(kb: KnowledgeBase, index: "ExactIndex", rows: Sequence[int]) -> list[object]:
    concepts = [kb[kb.concept_at(row).id] for row in rows]
    hits = index.search([concept.name for concept in concepts])
    return [*((concept.id, concept.names) for concept in concepts), *hits.rows.tolist()]


def _names(kb: KnowledgeBase, count: int) -> list[str]:
    rng = random.Random(2)
    return [kb.name_at(rng.randrange(kb.n_names)).text for _ in range(count)]


def _note(kb: KnowledgeBase, seed: int) -> str:
    """Write a clinical note of 300 words, with names put in anywhere."""
    rng = random.Random(seed)
    words = NOTE.read_text(encoding="utf8").split()
    words = (words * 3)[rng.randrange(len(words)) :][:_WORDS]
    for _ in range(_NAMES_A_NOTE):
        words.insert(rng.randrange(len(words)), kb.name_at(rng.randrange(kb.n_names)).text)
    return " ".join(" ".join(words).split()[:_WORDS])


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start

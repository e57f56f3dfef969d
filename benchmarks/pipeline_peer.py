"""scispaCy's linker over the same terminology and mentions, in fresh processes.

scispaCy cannot build its index with scipy 1.11 and later, which refuse its file format (half
precision). `build` makes the same files with the same settings in single precision. Loading and
linking are scispaCy's code: `EntityLinker.from_kb` and the component.
"""

import contextlib
import io
import json
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.measured import resident
from benchmarks.pipeline_tasks import accuracy, added, hide_plug_ins, loaded

_INDEX = {"M": 100, "efConstruction": 2000, "post": 0}


def build(directory: str, kb: str, packages: str) -> dict[str, Any]:
    """Write scispaCy's files, unless they exist. packages (str): its directory; "" for here."""
    _find(packages)
    import numpy as np
    import scipy.sparse
    from sklearn.feature_extraction.text import TfidfVectorizer

    nmslib = import_module("nmslib")
    path = Path(directory)
    path.mkdir(parents=True, exist_ok=True)
    paths = import_module("scispacy.candidate_generation").LinkerPaths.from_directory(str(path))
    if paths.is_locally_cached():
        return {"made": False}
    _write_kb(path / "kb.jsonl", kb)
    linking_utils = import_module("scispacy.linking_utils")
    aliases = list(linking_utils.KnowledgeBase(str(path / "kb.jsonl")).alias_to_cuis)
    start = time.perf_counter()
    vectorizer = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), min_df=10, dtype=np.float32
    )
    vectors = vectorizer.fit_transform(aliases)
    kept = np.flatnonzero(np.diff(vectors.indptr))
    index = nmslib.init(
        method="hnsw", space="cosinesimil_sparse", data_type=nmslib.DataType.SPARSE_VECTOR
    )
    index.addDataPointBatch(vectors[kept])
    index.createIndex(_INDEX)
    seconds = time.perf_counter() - start
    scipy.sparse.save_npz(paths.tfidf_vectors, vectors[kept])
    Path(paths.concept_aliases_list).write_text(
        json.dumps([aliases[place] for place in kept.tolist()]), encoding="utf-8"
    )
    import_module("joblib").dump(vectorizer, paths.tfidf_vectorizer)
    index.saveIndex(str(paths.ann_index))
    return {"made": True, "index_s": round(seconds, 1)}


def link(directory: str, documents: str, packages: str) -> dict[str, Any]:
    """Load scispaCy's linker as a user does, and link as `pipeline_tasks.ours` does.

    It links once with its defaults, which drop concepts without a definition, and once without
    filters and threshold. Its detector resolves abbreviations; that time is not counted.
    """
    _find(packages)
    hide_plug_ins()
    rss, start = resident(), time.perf_counter()
    warnings.simplefilter("ignore")
    import spacy
    from spacy.language import Language

    nlp = spacy.blank("en")
    with contextlib.redirect_stdout(io.StringIO()):
        import_module("scispacy.abbreviation")  # registers its detector
        nlp.add_pipe("abbreviation_detector")
        kb = import_module("scispacy.linking_utils").KnowledgeBase(f"{directory}/kb.jsonl")
        linker = import_module("scispacy.linking").EntityLinker
        own = linker.from_kb(kb, ann_index_out_dir=directory)
    Language.component("peer", func=own)
    nlp.add_pipe("peer")
    own.candidate_generator(["a mention"], 30)
    facts = loaded(start, rss)
    sets = json.loads(Path(documents).read_text("utf-8"))
    found = {"with its settings": accuracy(nlp, sets["gold"])}
    own.filter_for_definitions, own.threshold = False, 0.0
    found["nothing dropped"] = accuracy(nlp, sets["gold"])
    return {
        **facts,
        "accuracy": found,
        **added(nlp, "peer", sets["distinct"], lambda: None),
        "stream": added(nlp, "peer", sets["stream"], lambda: None),
        "peak_mb_linking": round(resident() / 1e6, 1),
    }


def _find(packages: str) -> None:
    if packages:
        sys.path.insert(0, packages)


def _write_kb(path: Path, kb: str) -> None:
    from spacy_medlink.kb import KnowledgeBase

    with path.open("w", encoding="utf-8") as file:
        for concept in KnowledgeBase(kb):
            record = {
                "concept_id": concept.id,
                "canonical_name": concept.name,
                "aliases": [name.text for name in concept.names],
                "types": list(concept.types),
                "definition": concept.definition,
            }
            file.write(json.dumps(record) + "\n")

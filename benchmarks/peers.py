"""Other linkers over the names of a knowledge base, as spaCy pipelines that write `_.kb_ents`.

`python -m benchmarks.peers hp.obo GOLD.jsonl.gz OUT/FastHPOCR.jsonl` writes what FastHPOCR finds in
the texts of a gold file, which `python -m benchmarks.raw_text --other` measures beside ours.
"""

import contextlib
import gzip
import io
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from spacy.language import Language

_INDEX = {"M": 100, "efConstruction": 2000, "post": 0}
_LEAST = 10  # least names with a trigram


def scispacy(kb: str, work: Path) -> "Language":
    """Load scispaCy's linker, with nothing dropped: neither filters nor a threshold.

    kb (str): knowledge base; its index is made in `work`, unless it is there. scispaCy itself
        refuses scipy 1.11 and later because of a file format (half precision); here its settings
        make the same files in single precision. Loading and linking are its own code.
    RAISES (SystemExit): where scispaCy or nmslib is not installed.
    """
    try:
        generation = import_module("scispacy.candidate_generation")
        paths = generation.LinkerPaths.from_directory(str(work))
        linking_utils = import_module("scispacy.linking_utils")
        import_module("scispacy.abbreviation")  # registers its detector
        if not paths.is_locally_cached():
            _make_index(paths, kb, work, linking_utils)
    except ImportError as error:
        packages = "scispacy==0.6.2 nmslib-metabrainz==2.1.3 conllu pysbd"
        raise SystemExit(f"{error}: `pip install --no-deps {packages}`") from error
    import spacy
    from spacy.language import Language

    nlp = spacy.blank("en")
    with contextlib.redirect_stdout(io.StringIO()):
        nlp.add_pipe("abbreviation_detector")
        base = linking_utils.KnowledgeBase(str(work / "kb.jsonl"))
        linker_class = import_module("scispacy.linking").EntityLinker
        linker = linker_class.from_kb(base, ann_index_out_dir=str(work))
    linker.filter_for_definitions, linker.threshold = False, 0.0
    Language.component("scispacy", func=linker)
    nlp.add_pipe("scispacy")
    return nlp


def _make_index(paths: Any, kb: str, work: Path, linking_utils: Any) -> None:
    import numpy as np
    import scipy.sparse
    from sklearn.feature_extraction.text import TfidfVectorizer

    from spacy_medlink.kb import KnowledgeBase

    nmslib: Any = import_module("nmslib")
    work.mkdir(parents=True, exist_ok=True)
    with (work / "kb.jsonl").open("w", encoding="utf-8") as file:
        for concept in KnowledgeBase(kb):
            record = {"concept_id": concept.id, "canonical_name": concept.name,
                      "aliases": [name.text for name in concept.names],
                      "types": list(concept.types), "definition": concept.definition}  # fmt: skip
            file.write(json.dumps(record) + "\n")
    names = list(linking_utils.KnowledgeBase(str(work / "kb.jsonl")).alias_to_cuis)
    start = time.perf_counter()
    vectorizer = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), min_df=_LEAST, dtype=np.float32
    )
    vectors = vectorizer.fit_transform(names)
    kept = np.flatnonzero(np.diff(vectors.indptr))  # nmslib refuses names without trigrams
    index = nmslib.init(
        method="hnsw", space="cosinesimil_sparse", data_type=nmslib.DataType.SPARSE_VECTOR
    )
    index.addDataPointBatch(vectors[kept])
    index.createIndex(_INDEX)
    print(f"index of scispaCy: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    scipy.sparse.save_npz(paths.tfidf_vectors, vectors[kept])
    aliases = [names[row] for row in kept.tolist()]
    Path(paths.concept_aliases_list).write_text(json.dumps(aliases), encoding="utf-8")
    import_module("joblib").dump(vectorizer, paths.tfidf_vectorizer)
    index.saveIndex(str(paths.ann_index))


PEERS: dict[str, Callable[[str, Path], "Language"]] = {"scispacy": scispacy}
"""By name, what makes a pipeline of a knowledge base and a directory for what is made once."""


def main(ontology: str, texts: Path, output: Path) -> None:
    """Write the mentions that FastHPOCR finds, with its own defaults, as documents of a gold file.

    RAISES (SystemExit): where FastHPOCR is not installed.
    """
    try:
        index = import_module("FastHPOCR.IndexHPO").IndexHPO
        annotator = import_module("FastHPOCR.HPOAnnotator").HPOAnnotator
    except ImportError as error:
        raise SystemExit(f"{error}: `pip install FastHPOCR==0.1.4 pronto`") from error
    read: Any = gzip.open if texts.suffix == ".gz" else open
    with TemporaryDirectory() as work, contextlib.redirect_stdout(io.StringIO()):
        index(ontology, work).index()
        finder = annotator(str(Path(work) / "hp.index"))
    lines = []
    with read(texts, "rt", encoding="utf-8") as file:
        for document in map(json.loads, file):
            mentions = [
                {"start": match.startOffset, "end": match.endOffset, "ids": [match.hpoUri]}
                for match in finder.annotate(document["text"])
            ]
            lines.append(json.dumps({**document, "mentions": mentions}) + "\n")
    output.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)

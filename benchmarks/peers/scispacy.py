"""scispaCy's candidate generator over the names of a knowledge base.

It uses character trigrams, TF-IDF, and nmslib's approximate search. The index has the settings of
scispaCy's `create_tfidf_ann_index`, which refuses scipy 1.11 and later because of a file format
that is not needed here. The search and all later steps are scispaCy's own code.
"""

import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.peers.names import NameRows, best_first, names_of
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Candidate, Mention

_PACKAGES = "scispacy nmslib-metabrainz"
_LEAST = 10  # least names with a trigram
_INDEX = {"M": 100, "efConstruction": 2000, "post": 0}
_SEARCH = {"efSearch": 200}
_BATCH = 512


class ScispacyRanker:
    """Ranks concepts as scispaCy's linker does: by the highest similarity of a name.

    depth (int): names to look up for a mention.
    RAISES (SystemExit): where scispaCy or nmslib is not installed, or no trigram is in enough
        names.
    """

    def __init__(self, kb: KnowledgeBase, depth: int) -> None:
        generation, linking, nmslib = _import()
        self._rows, self._depth = NameRows(kb), depth
        self._known: dict[str, list[Candidate]] = {}
        with TemporaryDirectory() as place:
            path = Path(place) / "kb.jsonl"
            path.write_text("".join(_lines(self._rows)), encoding="utf-8")
            base = linking.KnowledgeBase(str(path))
        aliases, vectorizer, vectors = _vectors(list(base.alias_to_cuis), kb.path)
        index = nmslib.init(
            method="hnsw",
            space="cosinesimil_sparse",
            data_type=nmslib.DataType.SPARSE_VECTOR,
        )
        index.addDataPointBatch(vectors)
        index.createIndex(_INDEX)
        index.setQueryTimeParams(_SEARCH)
        self._generate: Any = generation.CandidateGenerator(index, vectorizer, aliases, base)

    def rank(self, mentions: Sequence[Mention], k: int) -> list[list[Candidate]]:
        """Rank the concepts for each mention, by its long form if there is one."""
        found = self._search([one.long_form or one.text for one in mentions])
        rankings = []
        for own in found:
            best: dict[int, Candidate] = {}
            for one in own:
                if one.row not in best or one.score > best[one.row].score:
                    best[one.row] = one
            rankings.append(best_first(best.values(), k))
        return rankings

    def rank_names(self, texts: Sequence[str], k: int) -> list[list[tuple[int, float]]]:
        """Rank names for each text: (name row, similarity), best first."""
        return [names_of(own, k) for own in self._search(texts)]

    def _search(self, texts: Sequence[str]) -> list[list[Candidate]]:
        """Find a candidate for each name of each concept that is similar to a text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            for text, found in zip(batch, self._generate(batch, self._depth), strict=True):
                self._known[text] = [
                    self._rows.candidate(one.concept_id, alias, float(similarity))
                    for one in found
                    for alias, similarity in zip(one.aliases, one.similarities, strict=True)
                ]
        return [self._known[text] for text in texts]


def _import() -> tuple[Any, Any, Any]:
    try:
        return (
            import_module("scispacy.candidate_generation"),
            import_module("scispacy.linking_utils"),
            import_module("nmslib"),
        )
    except ImportError as error:
        raise SystemExit(f"{error}: `pip install {_PACKAGES}`, or leave scispacy out.") from error


def _lines(rows: NameRows) -> Iterator[str]:
    for id, names in rows.concepts:
        record = {"concept_id": id, "canonical_name": names[0], "aliases": list(names)}
        yield json.dumps(record) + "\n"


def _vectors(aliases: list[str], path: Path) -> tuple[list[str], Any, Any]:
    """Weigh trigrams; names without trigrams are left out, because nmslib refuses them."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), min_df=_LEAST, dtype=np.float32
    )
    try:
        vectors = vectorizer.fit_transform(aliases)
    except ValueError as error:
        problem = f"no trigram of {path} is in {_LEAST} names: leave scispacy out."
        raise SystemExit(problem) from error
    kept = np.flatnonzero(np.diff(vectors.indptr))
    return [aliases[place] for place in kept.tolist()], vectorizer, vectors[kept]

"""Names held out as queries: `dev` to choose encoders, and `test` for the report."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import xxhash

from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Concept
from spacy_medlink.util.files import replacing_directory
from spacy_medlink.util.outputs import DirectoryKind

from .names import distinct_names, string_hash

FACTS_FILE = "holdout.json"
HOLDOUT = DirectoryKind("a hold-out")


@dataclass(frozen=True)
class Query:
    """A name that was held out.

    row (int): of the name. concept (int): row of the only concept that has this string.
    """

    row: int
    concept: int
    id: str
    text: str
    lang: str
    type: str


@dataclass(frozen=True)
class Holdout:
    """Queries in two halves that share no concept, and the name rows that training must not use.

    dev (Tuple[Query]): for choosing. test (Tuple[Query]): for the report only.
    rows (Tuple[int]): held-out name rows, ascending, spelling variants of the queries included.
    kb (str): the knowledge base that the rows belong to (`kb_identity`).
    """

    dev: tuple[Query, ...]
    test: tuple[Query, ...]
    rows: tuple[int, ...]
    kb: str

    def save(self, directory: Path) -> None:
        """Write dev.jsonl and test.jsonl (bare mentions), and holdout.json with the rows."""
        content = {
            "kb": self.kb,
            "rows": self.rows,
            "dev": [asdict(query) for query in self.dev],
            "test": [asdict(query) for query in self.test],
        }
        with replacing_directory(directory, HOLDOUT) as path:
            (path / FACTS_FILE).write_text(json.dumps(content, ensure_ascii=False), "utf-8")
            for half, queries in (("dev", self.dev), ("test", self.test)):
                (path / f"{half}.jsonl").write_text("".join(map(_mention, queries)), "utf-8")

    @classmethod
    def load(cls, directory: Path, kb: KnowledgeBase) -> "Holdout":
        """Read what `save` wrote.

        RAISES (MedlinkError): E507 missing or damaged, or of another knowledge base.
        """
        path = directory / FACTS_FILE
        try:
            content = json.loads(path.read_text("utf-8"))
            holdout = cls(
                tuple(Query(**query) for query in content["dev"]),
                tuple(Query(**query) for query in content["test"]),
                tuple(content["rows"]),
                content["kb"],
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Errors.bad_holdout(path=path, problem=f"cannot be read ({error})") from error
        if holdout.kb != kb_identity(kb):
            raise Errors.bad_holdout(path=path, problem=f"belongs to another KB than {kb.path}")
        return holdout


def make_holdout(kb: KnowledgeBase, fraction: float, most: int, seed: int) -> Holdout:
    """Hold out one non-preferred name of each concept in a random part of the concepts.

    Only concepts with two or more distinct names (ignoring case) take part, and only names that no
    other concept shares. So a query has one right answer, and training never sees its string.

    fraction (float): of the concepts that can take part. most (int): queries, at most.
    seed (int): the same seed and KB give the same hold-out.
    RAISES (MedlinkError): E530 when fewer than two concepts have a name to hold out.
    """
    shared = _shared_strings(kb)
    possible = [concept.row for concept in kb if not _choices(concept).keys() <= shared]
    if len(possible) < 2:
        raise Errors.too_few_rows(
            path=kb.path, found=len(possible), what="concepts with two names or more", wanted=2
        )
    rng = np.random.default_rng(seed)
    count = min(max(2, round(fraction * len(possible))), max(2, most), len(possible))
    queries: list[Query] = []
    rows: list[int] = []
    for index in rng.permutation(len(possible))[:count].tolist():
        concept = kb.concept_at(possible[index])
        choices = _choices(concept)
        unshared = sorted(choices.keys() - shared)
        variants = choices[unshared[int(rng.integers(len(unshared)))]]
        queries.append(_query(concept, variants[0]))
        rows += variants
    half = len(queries) // 2
    identity = kb_identity(kb)
    return Holdout(tuple(queries[:half]), tuple(queries[half:]), tuple(sorted(rows)), identity)


def kb_identity(kb: KnowledgeBase) -> str:
    """Hash a knowledge base by its rows: the concept and the text of every name."""
    digest = xxhash.xxh3_128()
    for concept, name in kb.iter_names():
        digest.update(f"{concept}\t{name.text}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _choices(concept: Concept) -> dict[int, list[int]]:
    """Map the hashes of strings other than the preferred name to their rows."""
    choices: dict[int, list[int]] = {}
    for row, name in enumerate(concept.names, start=concept.first_name):
        choices.setdefault(string_hash(name.text), []).append(row)
    del choices[string_hash(concept.names[0].text)]
    return choices


def _shared_strings(kb: KnowledgeBase) -> set[int]:
    """Find the hashes of strings that several concepts share."""
    distinct = (string for _, _, _, string in distinct_names(kb))
    strings, counts = np.unique(np.fromiter(distinct, dtype=np.uint64), return_counts=True)
    return set(strings[counts > 1].tolist())


def _query(concept: Concept, row: int) -> Query:
    name = concept.names[row - concept.first_name]
    type = concept.types[0] if concept.types else ""
    return Query(row, concept.row, concept.id, name.text, name.lang, type)


def _mention(query: Query) -> str:
    mention = {"mention": query.text, "ids": [query.id], "lang": query.lang, "type": query.type}
    return json.dumps(mention, ensure_ascii=False) + "\n"

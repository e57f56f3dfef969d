"""The material of benchmarks.pipeline: pipelines, and documents with mentions."""

import json
import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.pipeline_tasks import Document
from spacy_medlink.assets import Assets
from spacy_medlink.building import build_assets
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.from_sources import build_knowledge_base
from spacy_medlink.kb.gold import GoldDocument, read_gold
from training.embedded import place_model, place_ontology
from training.package import make_pipeline

GOLD = "gsc_plus.dev.jsonl.gz"
TEXTS = ("ncbi_disease.train.jsonl.gz", "ncbi_disease.dev.jsonl.gz", "bc5cdr.dev.jsonl.gz")
_A_DOCUMENT = 10  # mentions, where documents are made of names
_NAMES = 5000
_SEED = 0


def prepare(work: Path, assets: Path | None, encoder: Path | None) -> None:
    """Save the pipelines, `pipeline` and `light` (no encoder), unless they exist.

    assets (Optional[Path]): used in place of new assets over HPO, which take minutes to build.
    encoder (Optional[Path]): for new assets; None for the embedded encoder.
    """
    work.mkdir(parents=True, exist_ok=True)
    if not (work / "pipeline").exists():
        if assets is None:
            assets = work / "assets"
            _build(work, encoder, assets)
        _pipeline(assets, work / "pipeline")
    if not (work / "light").exists():
        kb = Assets(_own(work / "pipeline")).path / "kb.sqlite"
        build_assets(work / "light.assets", kb)
        _pipeline(work / "light.assets", work / "light")


def write_documents(
    work: Path, data: Path, limit: int, gold: str = GOLD, through: Path | None = None
) -> dict[str, Any]:
    """Write `documents.json`: documents by set.

    stream: abstracts with all their mentions. distinct: mentions that occur once. names: names of
    the terminology. gold: mentions with ids, if the file is in `data`. Without data there is no
    stream, and the distinct mentions are names with two letters swapped.
    limit (int): distinct mentions, at most. gold (str): a file of `data`. through (Optional[Path]):
        a knowledge base with the ids of the gold file, if the terminology has others: concepts that
        share a name are the same. RETURNS (Dict): facts about the sets.
    """
    kb = Assets(_own(work / "pipeline")).kb
    step = max(1, kb.n_names // _NAMES)
    names = [name.text for _, name in kb.iter_names()][::step][:_NAMES]
    texts = [data / name for name in TEXTS if (data / name).is_file()]
    distinct = _abstracts(texts, limit) if texts else _of_texts(_swapped(names)[:limit])
    sets = {"distinct": distinct, "names": _of_texts(names), "gold": [], "stream": []}
    if (data / gold).is_file():
        same = partial(_same, kb, None if through is None else KnowledgeBase(through))
        documents = read_gold(data / gold)
        sets["gold"] = [_gold(document, same) for document in documents if document.text]
    if texts:
        sets["stream"] = _abstracts(texts, limit, repeats=True)
    (work / "documents.json").write_text(json.dumps(sets), encoding="utf-8")
    return {
        "names": kb.n_names,
        "distinct": sum(len(one["ents"]) for one in distinct),
        "stream": sum(len(one["ents"]) for one in sets["stream"]),
        "distinct_from": [path.name for path in texts] or "names, two letters swapped",
        "documents": {name: len(own) for name, own in sets.items()},
    }


def _own(pipeline: Path) -> Path:
    return pipeline / "medical_linker" / "assets"


def _build(work: Path, encoder: Path | None, target: Path) -> None:
    place_ontology(work / "hp.obo")
    build_knowledge_base(out=work / "hpo.kb", sources=[("obo", work / "hp.obo")])
    if encoder is None:
        encoder = work / "base"
        place_model(encoder)
    build_assets(target, work / "hpo.kb", encoder)


def _pipeline(assets: Path, target: Path) -> None:
    make_pipeline(assets, target, lang="en", cui_scheme=None, name="medlink_hpo", version="0.1.0")


def _abstracts(paths: Iterable[Path], limit: int, repeats: bool = False) -> list[Document]:
    """Read documents, and keep only mentions that did not occur before.

    limit (int): distinct mentions, at most. repeats (bool): keep repeated mentions too.
    """
    seen: set[str] = set()
    found: list[Document] = []
    for path in paths:
        for document in read_gold(path):
            ents: list[list[int]] = []
            for mention in sorted(document.mentions, key=lambda one: (one.start, -one.end)):
                text = " ".join(mention.text.split())
                free = mention.start >= (ents[-1][1] if ents else 0)
                if free and (repeats or (text not in seen and len(seen) < limit)):
                    seen.add(text)
                    ents.append([mention.start, mention.end])
            if ents and document.text:
                found.append({"text": document.text, "ents": ents, "ids": []})
    return found


def _same(kb: KnowledgeBase, other: KnowledgeBase | None, id: str) -> set[str]:
    """Find the concepts of `kb` that an id means, by the names in the other knowledge base."""
    if other is None:
        return {found for found in [kb.resolve(id)] if found is not None}
    own = other.resolve(id)
    names = other.names(own) if own is not None else ()
    return {concept.id for name in names for concept in kb.find(name)}


def _gold(document: GoldDocument, same: Callable[[str], set[str]]) -> Document:
    ents, ids = [], []
    end = 0
    for mention in sorted(document.mentions, key=lambda one: (one.start, -one.end)):
        own = set[str]().union(*map(same, mention.ids))
        if own and mention.start >= end:
            end = mention.end
            ents.append([mention.start, end])
            ids.append(sorted(own))
    return {"text": document.text or "", "ents": ents, "ids": ids}


def _of_texts(texts: Sequence[str]) -> list[Document]:
    """Make documents that are lists of mentions."""
    found: list[Document] = []
    for start in range(0, len(texts), _A_DOCUMENT):
        text, ents = "Findings:", []
        for mention in texts[start : start + _A_DOCUMENT]:
            ents.append([len(text) + 1, len(text) + 1 + len(mention)])
            text += f" {mention};"
        found.append({"text": text, "ents": ents, "ids": []})
    return found


def _swapped(names: Iterable[str]) -> list[str]:
    """Swap two letters inside each name, so that no name is found exactly."""
    rng = random.Random(_SEED)
    found = []
    for name in names:
        # Inside the name, and of different letters.
        places = [at for at in range(1, len(name) - 2) if name[at] != name[at + 1]]
        if places:
            place = rng.choice(places)
            found.append(name[:place] + name[place + 1] + name[place] + name[place + 2 :])
    return list(dict.fromkeys(found))

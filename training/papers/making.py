"""The parts of a plan: dictionaries, gold mentions and encoders, each made once and kept.

The name of a file depends on its inputs, so a change makes another file. After an interruption,
the finished files are used again.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from spacy_medlink.assets import build_assets
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import Errors
from spacy_medlink.evaluation import load_gold
from spacy_medlink.kb import KnowledgeBase, build_kb, build_knowledge_base
from spacy_medlink.kb.filters import Filters
from spacy_medlink.kb.gold import gold_lines, read_gold
from spacy_medlink.kb.schema import kb_fingerprint
from spacy_medlink.types import Concept, Name
from spacy_medlink.util.files import save_text, sha256_of
from spacy_medlink.util.outputs import FileKind
from spacy_medlink.util.progress import show_progress

from ..corpora.convert import convert
from ..corpora.layout import walk
from ..corpora.registry import find_corpus
from ..corpora.tally import Tally
from ..data.bitext import convert_bitext
from ..loop.trainer import CHECKPOINT
from ..recipe.reading import read_recipe
from ..recipe.settings import Recipe
from ..split import split_gold
from ..train import Inputs
from ..train import train as train_by
from .plan import Corpus, Dictionary, Plan

_GOLD = FileKind("the gold mentions of a plan")
_SHARE = 0.1  # of the training documents, where a corpus has no development part
_HERE = Path(__file__).parent  # recipes are relative to it
_SHOWN = 10  # characters of a fingerprint


class Maker:
    """The maker of a plan's parts, in a directory.

    work (Path): gets kb/, gold/ and models/. device (str): where networks compute.
    say (Callable): told each step.
    """

    def __init__(self, plan: Plan, work: Path, device: str, say: Callable[[str], None]) -> None:
        self._plan, self._work, self._device, self._say = plan, work, device, say
        self.dictionary = cache(self._dictionary)
        self.gold = cache(self._gold)
        self.encoder = cache(self._encoder)
        self._identity = cache(_identity)

    def _dictionary(self, key: str) -> Path:
        """Build a knowledge base. RAISES (MedlinkError): E107 without its sources, E1xx."""
        own = self._plan.dictionaries[key]
        place = self._build(key, own, ())
        if own.within:
            knowledge = KnowledgeBase(place)
            cases = load_gold(self.gold(own.within, "test", 0), knowledge).cases()
            rows = sorted({row for case in cases for row in case.right})
            place = self._build(key, own, [knowledge.concept_at(row).id for row in rows])
        return place

    def _build(self, key: str, own: Dictionary, ids: Sequence[str]) -> Path:
        sources = [Path(source) for source in own.sources]
        place = self._work / "kb" / f"{key}-{_digest(own.as_dict(), stamps(sources), ids)}.kb"
        if not place.is_file():
            self._say(f"building the dictionary {key}")
            filters = Filters(
                languages=own.languages, sources=own.vocabularies, groups=own.groups,
                include_obsolete=own.obsolete, allow_ids=tuple(ids),
            )  # fmt: skip
            options: dict[str, Any] = {"columns": own.columns, "lang": own.lang}
            build_knowledge_base(
                out=place,
                sources=[(own.format, source) for source in sources],
                filters=filters,
                options={name: value for name, value in options.items() if value},
                # A corpus may be in Latin-1, and has each concept many times.
                skip_bad_lines=own.format == "tsv",
                progress=show_progress,
            )
        return place

    def _gold(self, key: str, part: str, fold: int) -> Path:
        """Make the gold file of a part: "train", "dev" or "test"; "whole" is all for training.

        RAISES (MedlinkError): E107 without the corpus, E4xx and E70x for what is wrong with it.
        """
        own = self._plan.corpora[key]
        if part in ("train", "dev") and not own.dev:
            return self._apart(key, part, fold)
        return self._part(key, "train" if part == "whole" else part, fold)

    def _apart(self, key: str, part: str, fold: int) -> Path:
        whole = self._part(key, "train", fold)
        kept, apart = (whole.with_name(f"{whole.stem}-{name}.jsonl") for name in ("train", "dev"))
        split_gold(whole, kept, apart, _SHARE, seed=0, overwrite=True)
        return kept if part == "train" else apart

    def _part(self, key: str, part: str, fold: int) -> Path:
        own = self._plan.corpora[key]
        splits: Sequence[str] = getattr(own, part)
        if own.reader == "gold":
            files = [Path(split) for split in splits]
            return files[0] if _is_plain(own, files) else self._chosen(key, part, files, own)
        if own.folds:
            splits = [f"fold-{fold}.{split}" for split in splits]
        self._say(f"reading {key}, {part}{f' of fold {fold}' if own.folds else ''}")
        place = self._work / "gold" / f"{key}-{fold}.{part}.jsonl"
        place.parent.mkdir(parents=True, exist_ok=True)
        corpus = find_corpus(own.reader)
        convert(corpus, Path(own.source), place, Tally(), splits, show_progress, overwrite=True)
        return place if _is_plain(own, [place]) else self._chosen(key, part, [place], own)

    def _chosen(self, key: str, part: str, files: Sequence[Path], own: Corpus) -> Path:
        place = self._work / "gold" / f"{key}.{part}.chosen.jsonl"
        place.parent.mkdir(parents=True, exist_ok=True)
        lines = (
            _of(json.loads(line), own)
            for file in files for _, line in gold_lines(file) if line.strip()
        )  # fmt: skip
        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines if one)
        save_text(place, _GOLD, text, files, overwrite=True)
        return place

    def _encoder(self, key: str, corpus: str, fold: int, seed: int) -> Path:
        """Train a system, its base first. RETURNS an encoder, or assets with a reranker.

        RAISES (MedlinkError): as the verbs that train do.
        """
        own = self._plan.systems[key]
        if own.encoder:
            return Path(own.encoder)
        base = self.encoder(own.base, corpus, fold, seed)
        if not own.recipe:  # the base, measured otherwise
            return base
        recipe = self._recipe(key, own.of or corpus, seed)
        inputs = self._inputs(recipe, key, base, corpus, fold)
        named = key if recipe.recipe.kind == "pretrain" else f"{key}-{own.of or corpus}"
        made_of = [self._identity(file) for file in inputs.files()]
        digest = _digest(recipe.as_dict(), self._identity(base), made_of)
        inputs = replace(inputs, output=self._work / "models" / f"{named}-seed{seed}-{digest}")
        if inputs.output.is_dir():
            return inputs.output
        self._say(f"training {own.name}, seed {seed}")
        if recipe.recipe.kind == "rerank" and inputs.kb is not None:
            assets = inputs.output.with_name(f"{inputs.output.name}_assets")
            build_assets(assets, inputs.kb, base, pooling=own.pooling or None, device=self._device,
                         progress=show_progress)  # fmt: skip
            inputs = replace(inputs, base=str(assets), kb=None)
        resume = (inputs.place / CHECKPOINT).is_dir()
        train_by(recipe, inputs, resume=resume, device=self._device, say=self._say)
        return inputs.output

    def _recipe(self, key: str, corpus: str, seed: int) -> Recipe:
        own = self._plan.systems[key]
        settings = {**own.settings, "training.seed": seed}
        if self.kind(key) != "pretrain" and (epochs := self._plan.corpora[corpus].epochs.get(key)):
            settings["training.epochs"] = epochs
        return read_recipe(_HERE / own.recipe, settings)

    def _inputs(self, recipe: Recipe, key: str, base: Path, corpus: str, fold: int) -> Inputs:
        """Make what a system learns from; where it goes is not told yet."""
        own, given = self._plan.systems[key], Inputs(str(base), self._work)
        if recipe.recipe.kind == "pretrain":
            return replace(
                given,
                kb=self.dictionary(own.of or self._plan.corpora[corpus].dictionary),
                text=self.bitext(own.bitext) if own.bitext else None,
                prepared=self._work / "models" / "prepared",
            )
        source = own.of or corpus
        if recipe.recipe.kind == "rerank":
            return replace(given, kb=self._mentions(source, fold))
        # Where nothing is chosen, nothing is withheld.
        train = self.gold(source, "train" if recipe.chooses else "whole", fold)
        dev = self.gold(source, "dev", fold) if recipe.chooses else train
        kb = self.dictionary(self._plan.corpora[source].dictionary)
        return replace(given, kb=kb, train=train, dev=dev)

    def _mentions(self, corpus: str, fold: int) -> Path:
        """Build a dictionary of the training mentions of a corpus alone."""
        gold = self.gold(corpus, "whole", fold)
        place = self._work / "kb" / f"{corpus}-mentions-{_digest(self._identity(gold))}.kb"
        if not place.is_file():
            names: dict[str, dict[Name, None]] = {}
            for document in read_gold(gold):
                for mention in document.mentions:
                    for id in mention.ids:
                        names.setdefault(id, {})[Name(mention.text, document.lang)] = None
            place.parent.mkdir(parents=True, exist_ok=True)
            build_kb(place, (
                Concept(id, next(iter(own)).text, tuple(own)) for id, own in sorted(names.items())
            ))  # fmt: skip
        return place

    def kind(self, key: str) -> str:
        """Return what a recipe of a system trains, "" where it has none."""
        own = self._plan.systems[key]
        return read_recipe(_HERE / own.recipe, own.settings).recipe.kind if own.recipe else ""

    def bitext(self, keys: Sequence[str]) -> Path:
        """Put translations together. RAISES (MedlinkError): E107, E401, E108, E407."""
        place = self._work / "gold" / f"{'+'.join(keys)}.tsv"
        if len(keys) > 1:
            text = "".join(self.bitext([key]).read_text("utf-8") for key in keys)
            place.write_text(text, "utf-8")
            return place
        own = self._plan.bitexts[keys[0]]
        count = convert_bitext(own.format, map(Path, own.sources), own.languages, place)
        self._say(f"{keys[0]}: {count:,} translations")
        return place


def _identity(path: Path) -> str:
    """Identify a knowledge base, gold file or encoder by its content, not its path."""
    if path.suffix == ".kb":
        return kb_fingerprint(KnowledgeBase(path).manifest)
    return sha256_of(path) if path.is_file() else BiEncoder.load(path).fingerprint()


def _digest(*facts: Any) -> str:
    text = json.dumps(facts, sort_keys=True, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:_SHOWN]


def stamps(sources: Sequence[Path]) -> list[tuple[int, int]]:
    """List sizes and times of files. RAISES (MedlinkError): E107 for a missing file."""
    found = []
    for source in sources:
        if not source.exists():
            raise Errors.source_missing(path=source)
        for file in [source] if source.is_file() else walk(source):
            facts = file.stat()
            found.append((facts.st_size, facts.st_mtime_ns))
    return found


def _is_plain(own: Corpus, files: Sequence[Path]) -> bool:
    """Tell whether a file is used unchanged. RAISES (MedlinkError): E107 for a missing file."""
    stamps(files)
    return len(files) == 1 and not own.type and not own.lang


def _of(record: dict[str, Any], own: Corpus) -> dict[str, Any] | None:
    """Reduce a document, or a bare mention, to the content wanted of a corpus."""
    if own.lang and record.get("lang") != own.lang:
        return None
    if not own.type:
        return record
    if "mentions" not in record:
        return record if record.get("type") == own.type else None
    return {**record, "mentions": [m for m in record["mentions"] if m.get("type") == own.type]}

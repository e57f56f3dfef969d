"""The parts of a plan: dictionaries, gold mentions and encoders, each made once and kept.

The name of a file depends on its inputs, so a change makes another file. After an interruption,
the finished files are used again.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from spacy_medlink.assets import build_assets
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase, build_kb, build_knowledge_base
from spacy_medlink.kb.filters import Filters
from spacy_medlink.kb.gold import gold_lines, read_gold
from spacy_medlink.kb.schema import kb_fingerprint
from spacy_medlink.kb.vocabularies import types_of
from spacy_medlink.types import Concept, Data, Name
from spacy_medlink.util.files import save_text, sha256_of
from spacy_medlink.util.outputs import FileKind
from spacy_medlink.util.progress import show_progress

from ..corpora import coder
from ..corpora.convert import convert
from ..corpora.layout import walk
from ..corpora.registry import find_corpus
from ..corpora.tally import Tally
from ..corpora.translations import convert_bitext
from ..kinds.encoder_training import Inputs
from ..loop.trainer import CHECKPOINT
from ..recipe.reading import read_recipe
from ..recipe.settings import Recipe
from ..run import train as train_by
from ..split import split_gold
from .plan import Corpus, Plan, System

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
        dictionary = self._plan.dictionaries[key]
        files = [Path(source) for source in dictionary.sources]
        path = self._work / "kb" / f"{key}-{_digest(dictionary.as_dict(), stamps(files))}.kb"
        if path.is_file():
            return path
        self._say(f"building the dictionary {key}")
        if dictionary.format == coder.NAME:
            path.parent.mkdir(parents=True, exist_ok=True)
            build_kb(path, chain.from_iterable(map(coder.read_targets, files)))
        else:
            filters = Filters(
                languages=dictionary.languages, sources=dictionary.vocabularies,
                types=tuple(sorted(types_of(dictionary.groups))),
                include_obsolete=dictionary.obsolete,
            )  # fmt: skip
            options: dict[str, Any] = {"columns": dictionary.columns, "lang": dictionary.lang}
            build_knowledge_base(
                out=path,
                sources=[(dictionary.format, file) for file in files],
                filters=filters,
                options={name: value for name, value in options.items() if value},
                # A corpus may be in Latin-1, and has each concept many times.
                skip_bad_lines=dictionary.format == "tsv",
                progress=show_progress,
            )
        return path

    def _gold(self, key: str, part: str, fold: int) -> Path:
        """Make the gold file of a part: "train", "dev" or "test"; "whole" is all for training.

        RAISES (MedlinkError): E107 without the corpus, E4xx and E70x for what is wrong with it.
        """
        if part == "whole":
            return self._part(key, "train", fold)
        if part == "test" or self._plan.corpora[key].dev:
            return self._part(key, part, fold)
        whole = self._part(key, "train", fold)
        kept, apart = (whole.with_name(f"{whole.stem}-{name}.jsonl") for name in ("train", "dev"))
        split_gold(whole, kept, apart, _SHARE, seed=0, overwrite=True)
        return kept if part == "train" else apart

    def _part(self, key: str, part: str, fold: int) -> Path:
        corpus = self._plan.corpora[key]
        splits: Sequence[str] = getattr(corpus, part)
        path = self._work / "gold" / f"{key}-{fold}.{part}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        if corpus.reader == "gold":
            files = [Path(split) for split in splits]
            stamps(files)
        else:
            self._say(f"reading {key}, {part}{f' of fold {fold}' if corpus.folds else ''}")
            if corpus.folds:
                splits = [f"fold-{fold}.{split}" for split in splits]
            reader, source = find_corpus(corpus.reader), Path(corpus.source)
            tally = Tally()
            convert(reader, source, path, tally, splits, show_progress, overwrite=True)
            for line in tally.report():
                if tally.faults and not line.startswith("  kept"):
                    self._say(line)
            files = [path]
        if len(files) == 1 and not corpus.type and not corpus.lang:
            return files[0]
        chosen = path.with_suffix(".chosen.jsonl")
        records = (
            json.loads(line) for file in files for _, line in gold_lines(file) if line.strip()
        )
        kept = filter(None, (_reduced(record, corpus) for record in records))
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in kept)
        save_text(chosen, _GOLD, text, files, overwrite=True)
        return chosen

    def _encoder(self, key: str, corpus: str, fold: int, seed: int) -> Path:
        """Train a system, its base first. RETURNS an encoder, or assets with a reranker.

        RAISES (MedlinkError): as the verbs that train do.
        """
        system = self._plan.systems[key]
        if system.encoder:
            return Path(system.encoder)
        base = self.encoder(system.base, corpus, fold, seed)
        if not system.recipe:  # the base, measured otherwise
            return base
        learned = system.of or corpus
        recipe = self._recipe(key, learned, seed)
        kind = recipe.recipe.kind
        inputs = self._inputs(recipe, system, base, corpus, fold)
        digest = _digest(recipe.as_dict(), *map(self._identity, (base, *inputs.files())))
        named = key if kind == "pretrain" else f"{key}-{learned}"
        output = self._work / "models" / f"{named}-seed{seed}-{digest}"
        if output.is_dir():
            return output
        self._say(f"training {system.name}, seed {seed}")
        inputs = replace(inputs, output=output)
        if kind == "rerank" and inputs.kb is not None:
            assets = output.with_name(f"{output.name}_assets")
            build_assets(assets, inputs.kb, base, pooling=system.pooling or None, calibrate=False,
                         device=self._device, progress=show_progress)  # fmt: skip
            inputs = replace(inputs, base=str(assets), kb=None)
        resume = (inputs.place / CHECKPOINT).is_dir()
        train_by(recipe, inputs, resume=resume, device=self._device, say=self._say)
        return output

    def _recipe(self, key: str, learned: str, seed: int) -> Recipe:
        system = self._plan.systems[key]
        settings = {**system.settings, "training.seed": seed}
        corpus = self._plan.corpora.get(learned)  # none where names are learned
        if corpus is not None and key in corpus.epochs:
            settings["training.epochs"] = corpus.epochs[key]
        return read_recipe(_HERE / system.recipe, settings)

    def _inputs(self, recipe: Recipe, system: System, base: Path, corpus: str, fold: int) -> Inputs:
        """Make what a system learns from; where it goes is not told yet."""
        inputs, learned = Inputs(str(base), self._work), system.of or corpus
        if recipe.recipe.kind == "pretrain":
            return replace(
                inputs,
                kb=self.dictionary(system.of or self._plan.corpora[corpus].dictionary),
                text=self._bitext(system.bitext, system.lang) if system.bitext else None,
            )
        if recipe.recipe.kind == "rerank":
            return replace(inputs, kb=self._mentions(learned, fold))
        # Where nothing is chosen, nothing is withheld.
        train = self.gold(learned, "train" if recipe.chooses else "whole", fold)
        dev = self.gold(learned, "dev", fold) if recipe.chooses else train
        kb = self.dictionary(self._plan.corpora[learned].dictionary)
        return replace(inputs, kb=kb, train=train, dev=dev)

    def _mentions(self, corpus: str, fold: int) -> Path:
        """Build a dictionary of the training mentions of a corpus alone."""
        gold = self.gold(corpus, "whole", fold)
        path = self._work / "kb" / f"{corpus}-mentions-{_digest(self._identity(gold))}.kb"
        if not path.is_file():
            names: dict[str, dict[Name, None]] = {}
            for document in read_gold(gold):
                for mention in document.mentions:
                    for id in mention.ids:
                        names.setdefault(id, {})[Name(mention.text, document.lang)] = None
            concepts = (
                Concept(id, next(iter(of_id)).text, tuple(of_id))
                for id, of_id in sorted(names.items())
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            build_kb(path, concepts)
        return path

    def _bitext(self, keys: Sequence[str], lang: str) -> Path:
        """Put translations together, of a language or, "", of all that the plan has.

        RAISES (MedlinkError): E107, E401, E108, E407.
        """
        path = self._work / "gold" / f"{'+'.join(keys)}{lang and f'-{lang}'}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        if len(keys) > 1:
            texts = [self._bitext([key], lang).read_text("utf-8") for key in keys]
            path.write_text("".join(texts), "utf-8")
            return path
        bitext = self._plan.bitexts[keys[0]]
        languages = (lang,) if lang else bitext.languages
        count = convert_bitext(bitext.format, [*map(Path, bitext.sources)], languages, path)
        self._say(f"{path.stem}: {count:,} translations")
        return path

    def recipe_kind(self, key: str) -> str:
        """Return what a recipe of a system trains, "" where it has none."""
        system = self._plan.systems[key]
        return read_recipe(_HERE / system.recipe).recipe.kind if system.recipe else ""

    def is_trained(self, key: str) -> bool:
        """Tell whether a system differs from seed to seed."""
        system = self._plan.systems[key]
        return not system.encoder and (bool(system.recipe) or self.is_trained(system.base))


def _identity(path: Path) -> str:
    """Identify a knowledge base, gold file or encoder by its content, not its path."""
    if path.suffix == ".kb":
        return kb_fingerprint(KnowledgeBase(path).manifest)
    return sha256_of(path) if path.is_file() else BiEncoder.load(path).fingerprint()


def _digest(*made_of: object) -> str:
    text = json.dumps(made_of, sort_keys=True, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:_SHOWN]


def stamps(sources: Sequence[Path]) -> list[tuple[int, int]]:
    """List sizes and times of files. RAISES (MedlinkError): E107 for a missing file."""
    for source in sources:
        if not source.exists():
            raise Errors.source_missing(path=source)
    every = [
        file.stat()
        for source in sources
        for file in ([source] if source.is_file() else walk(source))
    ]
    return [(stat.st_size, stat.st_mtime_ns) for stat in every]


def _reduced(record: Data, corpus: Corpus) -> Data | None:
    """Reduce a document, or a bare mention, to the content wanted of a corpus."""
    if corpus.lang and record.get("lang") != corpus.lang:
        return None
    if not corpus.type:
        return record
    if "mentions" not in record:
        return record if record.get("type") == corpus.type else None
    mentions = [mention for mention in record["mentions"] if mention.get("type") == corpus.type]
    return {**record, "mentions": mentions}

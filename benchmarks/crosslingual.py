"""Names in six languages linked to English names alone: `python -m benchmarks.crosslingual WORK`.

The terminology is Orphanet (in the data directory, MEDLINK_DATA). 2,000 concepts are kept out of
training. Their German, Spanish, French, Italian, Dutch and Polish names are queries, and the
English names of all concepts are searched. The base is compared with the variants of Liu et al.
2021 (cross-lingual): trained on English names, on names in all languages, and on these with general
translations. Orphanet has one name of each concept in a language, so the English synonyms are
MEDIC's. The mixture of base and trained weights is chosen on names of the other concepts. Figures
go to OUTPUT as JSON, and to a Markdown table beside it.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.measured import machine, write_results
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase, build_knowledge_base
from spacy_medlink.kb.filters import Filters
from spacy_medlink.types import Floats1d
from training.embedded import place_model
from training.recipe.reading import read_recipe
from training.train import Inputs, train

DATA = Path(os.environ.get("MEDLINK_DATA", Path(__file__).parents[2] / "shared" / "data"))
_CONFIGS = Path(__file__).parents[1] / "training" / "papers" / "configs"
_RESULTS = Path(__file__).parent / "results"
_LANGUAGES = ("de", "es", "fr", "it", "nl", "pl")
_BITEXTS = ("de", "fr", "it")
_KS = (1, 5)
# The papers' bases are multilingual and large, and see a hundred times as many pairs.
_OVERRIDES = {
    "encoder.pooling": "mean",
    "encoder.dropout": 0.0,
    "optimizer.learning_rate": 1e-4,
    "optimizer.decay": "linear",
    "sampler.batch_pairs": 128,
    "training.eval_every": 100_000,
    # Weights are chosen among near names only: encoding all names takes as long as training.
    "holdout.among": 10_000,
    "holdout.most": 1_000,
    "selection.interpolation": [0.5, 0.75, 1.0],
    "selection.min_gain": 0.0,
    "objective.loss_settings.base": 0.5,
}
_VARIANTS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "en_syn": ("xling_en_syn.cfg", {}),
    # Most names are English, and take most of a few minutes.
    "all_syn": ("xling_all_syn.cfg", {"sampler.balance_languages": True}),
    # The budget is in minutes, and leaves no time for a second stage.
    "all_syn + bitext": (
        "xling_all_syn_bitext.cfg",
        {"sampler.balance_languages": True, "bitext.order": "mixed"},
    ),
}


def measure(work: Path, minutes: float, count: int) -> dict[str, Any]:
    """Train the variants, each for some minutes, and link with each.

    count (int): concepts that are held out.
    RETURNS (Dict): by variant and language, acc@k over concepts in per cent.
    """
    base = work / "base"
    place_model(base)
    source = DATA / "orphanet.kb.jsonl.gz"
    every = _knowledge_base(work / "all.kb", [source], Filters())
    held = held_out(every, count)
    known = _knowledge_base(
        work / "train.kb", [source, DATA / "medic_2012.kb.jsonl.gz"], Filters(deny_ids=tuple(held))
    )
    bitext = _bitext(work / "bitext.tsv")
    task = CrossLingualTask(every, held)
    found = {"untrained": task.accuracy(BiEncoder.load(str(base)))}
    facts = {}
    for name, (config, own) in _VARIANTS.items():
        overrides = {**_OVERRIDES, **own, "training.max_minutes": minutes}
        place = work / name.replace(" ", "")
        text = bitext if "bitext.order" in own else None
        inputs = Inputs(str(base), place, known.path, text=text)
        figures = train(read_recipe(_CONFIGS / config, overrides), inputs, say=typer.echo)
        found[name] = task.accuracy(BiEncoder.load(str(place)))
        facts[name] = {"part": figures["trained_part"], "trained": figures["training"]["names"]}
        typer.echo(f"{name}: {found[name]}")
    return {
        "concepts": len(held), "names": task.counts, "candidates": task.candidates,
        "minutes": minutes, "accuracy": found, "training": facts, "machine": machine(),
    }  # fmt: skip


class CrossLingualTask:
    """Queries by language, and the English names that are searched."""

    def __init__(self, kb: KnowledgeBase, held: list[str]) -> None:
        self._texts: list[str] = []
        owners: list[str] = []
        self._queries: dict[str, list[tuple[str, str]]] = {lang: [] for lang in _LANGUAGES}
        wanted = set(held)
        for concept in kb:
            for name in concept.names:
                if name.lang == "en":
                    self._texts.append(name.text)
                    owners.append(concept.id)
                elif concept.id in wanted and name.lang in self._queries:
                    self._queries[name.lang].append((name.text, concept.id))
        self._owners = np.array(owners)

    @property
    def counts(self) -> dict[str, int]:
        """Count the queries."""
        return {lang: len(own) for lang, own in self._queries.items()}

    @property
    def candidates(self) -> int:
        """Count the English names that are searched."""
        return len(self._texts)

    def accuracy(self, encoder: BiEncoder) -> dict[str, dict[str, float]]:
        """Link with an encoder. RETURNS (Dict): acc@k by language, and their mean."""
        names = encoder.encode(self._texts)
        found = {}
        for lang, queries in self._queries.items():
            if not queries:
                continue
            vectors = encoder.encode([text for text, _ in queries])
            right = np.array([self._best(row, id) for row, (_, id) in
                              zip(vectors @ names.T, queries, strict=True)])  # fmt: skip
            found[lang] = {f"acc@{k}": round(100 * float(np.mean(right <= k)), 1) for k in _KS}
        found["mean"] = {
            f"acc@{k}": round(float(np.mean([own[f"acc@{k}"] for own in found.values()])), 1)
            for k in _KS
        }
        return found

    def _best(self, scores: Floats1d, id: str) -> int:
        """Rank a concept by its best name, among concepts."""
        own = scores[self._owners == id].max(initial=-2.0)
        return 1 + len(set(self._owners[(scores > own)].tolist()))


def _knowledge_base(path: Path, sources: Sequence[Path], filters: Filters) -> KnowledgeBase:
    given = [("jsonl", source) for source in sources]
    # Some lines of Orphanet have an empty name.
    return build_knowledge_base(out=path, sources=given, filters=filters, skip_bad_lines=True).kb


def held_out(kb: KnowledgeBase, count: int) -> list[str]:
    """Draw concepts that have a name in English and in another language."""
    wanted = set(_LANGUAGES)
    possible = []
    for concept in kb:
        languages = {name.lang for name in concept.names}
        if "en" in languages and languages & wanted:
            possible.append(concept.id)
    drawn = np.random.default_rng(0).choice(len(possible), size=count, replace=False)
    return sorted(possible[place] for place in drawn.tolist())


def _bitext(path: Path) -> Path:
    files = [DATA / "bitext" / f"en-{lang}.tsv" for lang in _BITEXTS]
    text = "".join(file.read_text(encoding="utf-8").rstrip("\n") + "\n" for file in files)
    path.write_text(text, encoding="utf-8")
    return path


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    columns = [*_LANGUAGES, "mean"]
    lines = ["| trained on | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    for name, found in results["accuracy"].items():
        cells = (" / ".join(f"{found[lang][f'acc@{k}']:.1f}" for k in _KS) for lang in columns)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    names, facts = sum(results["names"].values()), results["machine"].items()
    lines += [
        "",
        f"acc@1 / acc@5. {names:,} names of {results['concepts']:,} concepts that training does "
        f"not see, among {results['candidates']:,} English names; all-MiniLM-L6-v2, an English "
        f"encoder, trained for {results['minutes']:g} minutes each; "
        + ", ".join(f"{key} {value}" for key, value in facts) + ".",
    ]  # fmt: skip
    return "\n".join(lines)


def main(
    work: Annotated[Path, typer.Argument(help="Directory for data and encoders; kept.")],
    minutes: Annotated[float, typer.Option(help="Of training, for each variant.")] = 6,
    concepts: Annotated[int, typer.Option(help="Concepts to hold out.")] = 2000,
    output: Annotated[Path, typer.Option(help="JSON; the table goes beside it as .md.")] = (
        _RESULTS / "crosslingual.json"
    ),
) -> None:
    """Measure and print."""
    work.mkdir(parents=True, exist_ok=True)
    results = measure(work, minutes, concepts)
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

"""Training objectives compared at the same number of names: `python -m benchmarks.objectives WORK`.

Each recipe starts from all-MiniLM-L6-v2 and trains on the same number of names. The encoder alone
is measured: on held-out names, and on mentions of annotated text. The terminologies are HPO (from a
package), MEDIC and open ontologies in twelve languages (both in the data directory, MEDLINK_DATA).
For the open ontologies, the foreign names of 2,000 concepts outside training are searched for among
all English names, and Spanish mentions among the Spanish names of another terminology. Figures go
to OUTPUT as JSON, and to a Markdown table beside it. Everything takes minutes on a GPU, hours on
two cores.
"""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from benchmarks.diseases import DATA
from benchmarks.measured import machine, write_results
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.evaluation.intervals import Bootstrap
from spacy_medlink.kb import KnowledgeBase, build_knowledge_base
from spacy_medlink.kb.filters import Filters
from spacy_medlink.kb.resolve import IdResolver
from spacy_medlink.types import Ints1d
from spacy_medlink.util.devices import AUTO, describe, find_device
from training.choosing.validation import rank
from training.data.holdout import Holdout
from training.embedded import place_model, place_ontology
from training.pretraining import HOLDOUT
from training.recipe.reading import read_recipe
from training.train import Inputs
from training.train import train as train_by

_RESULTS = Path(__file__).parent / "results"
_CONFIGS = Path(__file__).parents[1] / "training" / "configs"
_UNSEEN = 2000  # concepts whose foreign names no training sees
_KS = (1, 5)
_EVERYTHING = Filters()
_SAP = {"objective.loss": "multi_similarity", "objective.miner": "hard_pairs"}
_ALL_NAMES = {"objective.loss": "all_names", "objective.miner": "none"}
_MINED = {**_SAP, "objective.neighbours": 16}


class Stage(NamedTuple):
    """A part of a training: settings of the recipe, its share of the names, and its file."""

    settings: Mapping[str, Any]
    share: float = 1.0
    config: str = "starter.cfg"


class Gold(NamedTuple):
    """A query: a text, and the rows of the right concepts."""

    text: str
    concepts: tuple[int, ...]
    doc: str


class Task(NamedTuple):
    """Queries, and the names to search, by ascending row of the concept."""

    queries: Sequence[Gold]
    names: Sequence[str]
    concepts: Ints1d


class Terminology(NamedTuple):
    """A terminology to train encoders on.

    kb (KnowledgeBase): to train on. names (int): how many each recipe encodes.
    tasks (Mapping): by description. recipes (Mapping): RECIPES, and more for this terminology.
    """

    kb: KnowledgeBase
    names: int
    tasks: Mapping[str, Task]
    recipes: Mapping[str, tuple[Stage, ...]]


# The stages of each recipe, in order.
RECIPES: dict[str, tuple[Stage, ...]] = {
    "SAP": (Stage({**_SAP, "sampler.batch_pairs": 64}),),
    "SAP, 256 pairs a batch": (Stage({**_SAP, "sampler.batch_pairs": 256}),),
    "SAP, mined over all names": (Stage(_MINED),),
    "all_names": (Stage(_ALL_NAMES),),
    "SAP, then all_names": (
        Stage({**_SAP, "sampler.batch_pairs": 64}, 0.25),
        Stage(_ALL_NAMES, 0.75),
    ),
}
# Recipes for several languages train on half as many names again.
_CROSSLINGUAL = {
    "crosslingual.cfg": (Stage({}, 1.5, "crosslingual.cfg"),),
    "crosslingual.cfg, smaller steps": (
        Stage(
            {"sampler.batch_pairs": 32, "optimizer.learning_rate": 1e-4}, 1.5, "crosslingual.cfg"
        ),
    ),
}


def measure(
    work: Path, terminologies: Iterable[str], recipes: Sequence[str], device: str
) -> Iterator[dict[str, Any]]:
    """Train on each terminology by each recipe, and measure.

    recipes (Iterable[str]): empty for all recipes of the terminology.
    YIELDS (Dict): all results so far, after each training. By terminology, recipe and task:
        acc@k in per cent and the interval of acc@1.
    """
    work.mkdir(parents=True, exist_ok=True)
    base = work / "base"
    if not base.is_dir():
        place_model(base)
    found: dict[str, Any] = {}
    for name in terminologies:
        own = TERMINOLOGIES[name](work)
        results = found[name] = {"names": own.names, "recipes": {}}
        for recipe in recipes or own.recipes:
            place = work / name / recipe.replace(", ", "_").replace(" ", "_")
            figures = train(own, own.recipes[recipe], base, place, device)
            if "base" not in results["recipes"]:
                results["recipes"]["base"] = accuracies(base, own, place, device)
            results["recipes"][recipe] = {
                **accuracies(place, own, place, device), "training": figures
            }  # fmt: skip
            yield {"results": found, "device": describe(find_device(device)), "machine": machine()}


def train(
    own: Terminology, stages: Sequence[Stage], base: Path, place: Path, device: str
) -> dict[str, Any]:
    """Train all stages. RETURNS: names, names a second, last stage's part of trained weights."""
    for number, stage in enumerate(stages, start=1):
        last = number == len(stages)
        output = place if last else place.with_name(f"{place.name}_{number}")
        names = {"training.names": round(own.names * stage.share)}
        settings = {**stage.settings, **names}
        recipe = read_recipe(_CONFIGS / stage.config, settings)
        inputs = Inputs(str(base), output, own.kb.path, prepared=place.parent / "prepared")
        figures = train_by(recipe, inputs, device=device, say=typer.echo, overwrite=True)
        base = output
    trained = figures["training"]
    return {"names": trained["names"], "names_per_s": round(trained["names_per_s"]),
            "part": figures["trained_part"]}  # fmt: skip


def accuracies(encoder: Path, own: Terminology, trained: Path, device: str) -> dict[str, Any]:
    """Measure an encoder on the held-out names of `trained`, and on the tasks."""
    model = BiEncoder.load(encoder, device=find_device(device))
    holdout = Holdout.load(trained / HOLDOUT, own.kb)
    return {
        name: accuracy(model, task)
        for name, task in {"held-out names": held_out_task(own.kb, holdout), **own.tasks}.items()
    }


def accuracy(model: BiEncoder, task: Task) -> dict[str, Any]:
    """Rank the concepts of a task's names for each query."""
    queries, places = [], []
    for place, gold in enumerate(task.queries):
        queries += [gold.text] * len(gold.concepts)
        places += [place] * len(gold.concepts)
    rows = [row for gold in task.queries for row in gold.concepts]
    texts = list(dict.fromkeys(queries))
    vectors = model.encode(texts)
    numbers = {text: number for number, text in enumerate(texts)}
    asked = vectors[[numbers[text] for text in queries]]
    ranks = rank(asked, np.array(rows), model.encode(list(task.names)), task.concepts)
    best = np.full(len(task.queries), np.iinfo(np.int64).max)
    np.minimum.at(best, places, ranks)
    right = (best[:, None] < np.array(_KS)).astype(float)
    bootstrap = Bootstrap([gold.doc for gold in task.queries])
    interval = bootstrap.intervals(right[:, :1], np.ones(len(best), dtype=bool))[0]
    return {
        "n": len(best),
        **{f"acc@{k}": round(100 * float(right[:, n].mean()), 1) for n, k in enumerate(_KS)},
        "interval": [round(100 * value, 1) for value in interval or ()],
    }


def held_out_task(kb: KnowledgeBase, holdout: Holdout) -> Task:
    """Make a task of the held-out test names; all other names are searched."""
    left_out = set(holdout.rows)
    kept = [(text, row) for number, (text, row) in enumerate(_named(kb)) if number not in left_out]
    queries = [Gold(query.text, (query.concept,), query.id) for query in holdout.test]
    return Task(queries, [text for text, _ in kept], np.array([row for _, row in kept]))


def mention_task(kb: KnowledgeBase, corpus: str) -> Task:
    """Make a task of the mentions of a corpus; all names of a terminology are searched.

    Mentions whose concept is not in the terminology are left out.
    """
    queries, ids = [], IdResolver(kb)
    with gzip.open(DATA / f"{corpus}.jsonl.gz", "rt", encoding="utf-8") as file:
        for document in map(json.loads, file):
            text = document["text"]
            for mention in document["mentions"]:
                rows = frozenset[int]().union(*map(ids.rows, mention["ids"]))
                if rows:
                    said = text[mention["start"] : mention["end"]]
                    queries.append(Gold(said, tuple(sorted(rows)), document["doc_id"]))
    names = list(_named(kb))
    return Task(queries, [text for text, _ in names], np.array([row for _, row in names]))


def foreign_task(kb: KnowledgeBase, ids: Sequence[str], source: str = "") -> Task:
    """Make a task of the foreign names of some concepts; the English names of all are searched."""
    wanted, names, queries = set(ids), [], []
    for concept in kb:
        english = {name.text for name in concept.names if name.lang == "en"}
        names += [(text, concept.row) for text in sorted(english)]
        if concept.id in wanted and english:
            queries += [
                Gold(name.text, (concept.row,), concept.id)
                for name in concept.names
                if name.lang != "en" and name.text not in english and source in ("", name.source)
            ]
    return Task(queries, [text for text, _ in names], np.array([row for _, row in names]))


def _named(kb: KnowledgeBase) -> Iterator[tuple[str, int]]:
    for concept in kb:
        for name in concept.names:
            yield name.text, concept.row


def _hpo(work: Path) -> Terminology:
    ontology = work / "hp.obo"
    if not ontology.exists():
        place_ontology(ontology)
    kb = _kb(work / "hpo.kb", ontology, "obo")
    tasks = {"GSC+ dev": mention_task(kb, "gsc_plus.dev")}
    return Terminology(kb, 32_000, tasks, RECIPES)


def _medic(work: Path) -> Terminology:
    kb = _kb(work / "medic.kb", DATA / "medic_2012.kb.jsonl.gz")
    corpora = {"NCBI dev": "ncbi_disease.dev", "BC5CDR dev": "bc5cdr.dev"}
    tasks = {name: mention_task(kb, corpus) for name, corpus in corpora.items()}
    return Terminology(kb, 32_000, tasks, RECIPES)


def _languages(work: Path) -> Terminology:
    source = DATA / "open_umls.kb.jsonl.gz"
    every = _kb(work / "open_umls.kb", source)
    unseen = unseen_concepts(every, _UNSEEN)
    known = _kb(work / "open_umls_train.kb", source, filters=Filters(deny_ids=tuple(unseen)))
    spanish = _kb(work / "icdo3_es.kb", DATA / "icdo3_es.kb.jsonl.gz")
    tasks = {
        "foreign names of unseen concepts": foreign_task(every, unseen),
        "of these, Orphanet's": foreign_task(every, unseen, "ORDO"),
        "CANTEMIST dev": mention_task(spanish, "cantemist.dev"),
    }
    return Terminology(known, 200_000, tasks, {**RECIPES, **_CROSSLINGUAL})


def unseen_concepts(kb: KnowledgeBase, count: int) -> list[str]:
    """Draw concepts that have a name in English and in another language."""
    possible = [
        concept.id for concept in kb
        if "en" in (languages := {name.lang for name in concept.names}) and len(languages) > 1
    ]  # fmt: skip
    drawn = np.random.default_rng(0).choice(len(possible), size=count, replace=False)
    return sorted(possible[place] for place in drawn.tolist())


TERMINOLOGIES: dict[str, Callable[[Path], Terminology]] = {
    "HPO": _hpo, "MEDIC": _medic, "open ontologies, 12 languages": _languages
}  # fmt: skip


def _kb(
    path: Path, source: Path, format: str = "jsonl", filters: Filters = _EVERYTHING
) -> KnowledgeBase:
    if path.exists():
        return KnowledgeBase(path)
    return build_knowledge_base(
        out=path, sources=[(format, source)], filters=filters, skip_bad_lines=True
    ).kb


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown: a table for each terminology."""
    lines = []
    for name, found in results["results"].items():
        recipes = found["recipes"]
        tasks = [task for task in recipes["base"] if task != "training"]
        heads = [f"{task} ({recipes['base'][task]['n']:,})" for task in tasks]
        lines += [f"### {name}, {found['names']:,} names to train on", ""]
        lines += ["| recipe | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
        for recipe, figures in recipes.items():
            cells = (_cell(figures[task]) for task in tasks)
            lines.append(f"| {recipe} | " + " | ".join(cells) + " |")
        lines.append("")
    facts = ", ".join(f"{key} {value}" for key, value in results["machine"].items())
    said = "acc@1 (its 95 % interval) / acc@5 of the encoder alone; ranks count concepts."
    return "\n".join([*lines, f"{said} On {results['device']}; {facts}."])


def _cell(figures: Mapping[str, Any]) -> str:
    low, high = figures["interval"]
    return f"{figures['acc@1']:.1f} ({low:.0f}-{high:.0f}) / {figures['acc@5']:.1f}"


def main(
    work: Annotated[Path, typer.Argument(help="Directory for data and encoders; kept.")],
    only: Annotated[
        list[str] | None, typer.Option(help=f"A terminology: {'; '.join(TERMINOLOGIES)}.")
    ] = None,
    recipe: Annotated[
        list[str] | None, typer.Option(help=f"A recipe: {'; '.join([*RECIPES, *_CROSSLINGUAL])}.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ...")] = AUTO,
    output: Annotated[Path, typer.Option(help="JSON; the table goes beside it as .md.")] = (
        _RESULTS / "objectives.json"
    ),
) -> None:
    """Measure and print."""
    for results in measure(work, only or TERMINOLOGIES, recipe or [], device):
        write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)

"""Carry out a plan: make what it needs, measure with several seeds, print ours beside theirs.

    python -m training.papers.reproduce training/papers/plans/sapbert.yml --seeds 5

Missing parts, such as a licensed corpus or an encoder, are left out and reported.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.devices import AUTO, find_device
from spacy_medlink.util.files import save_text
from spacy_medlink.util.outputs import marked

from ..recipe.reading import parse_overrides
from ..verbs import Device, Outputs, Overwrite, Set, run_verb, stoppable
from .figures import curves, draw
from .making import Maker, stamps
from .measuring import Material, is_linker, measure_links
from .plan import Corpus, Layout, Plan, System, read_layout, read_plan
from .published import LAYOUTS, read_published
from .table import Row, Table, as_markdown, averaged, make_table, with_averages
from .vectors import Measured, measure_vectors

_FIGURE = marked("the figure of a table", "<svg")
# Names of a dictionary, a concept, a file, an encoder, its pooler, some kind in what is there.
_MISSING = {"E104", "E106", "E107", "E205", "E302", "E407"}


class Reproduction:
    """The tables of a plan.

    seeds (int): trainings of each system that is trained: seed 0, 1, ...
    left_out (List[str]): the missing parts.
    """

    def __init__(
        self, plan: Plan, work: Path, seeds: int, device: str, say: Callable[[str], None]
    ) -> None:
        self._plan, self._work, self._device, self._say = plan, work, device, say
        self._seeds = range(seeds)
        self._maker = Maker(plan, work, device, say)
        self.left_out: list[str] = []
        self._systems: dict[str, System] = {}
        for key, system in plan.systems.items():  # bases come first
            if not system.encoder and system.base not in self._systems:
                self.left_out.append(f"{system.name}: its base is left out")
                continue
            with self._without_missing(system.name):
                if system.encoder and not is_linker(Path(system.encoder)):
                    BiEncoder.load(system.encoder)
                self._systems[key] = system

    @contextmanager
    def _without_missing(self, what: str) -> Iterator[None]:
        """Go on where something does not exist, and report it once."""
        try:
            yield
        except MedlinkError as error:
            if error.code not in _MISSING:
                raise
            if (reason := f"{what}: {error}") not in self.left_out:
                self.left_out.append(reason)
                self._say(f"left out: {reason}")

    def tables(self) -> Iterator[tuple[Table, str]]:
        """Make a table for each corpus and each dictionary it is linked to, with its figure."""
        for key, corpus in self._plan.corpora.items():
            layout = read_layout(
                LAYOUTS / f"{corpus.layout or self._plan.layout}.cfg", self._plan.note
            )
            for dictionary in corpus.measured or (corpus.dictionary,):
                measured = list(self._measurements(key, corpus, dictionary, layout))
                rows = averaged(row for one in measured for row in one.rows)
                if not rows:
                    continue
                title = published = corpus.published or key
                theirs = read_published(layout.paper, published)
                if dictionary != (corpus.measured or (dictionary,))[0]:
                    title, theirs = f"{published}, names of {dictionary}", []
                lines = [line for one in measured for line in one.lines]
                panels = [panel for one in measured for panel in one.panels]
                table = make_table(layout, title, rows, theirs, self._bases(), lines)
                yield table, draw(panels or curves(table["rows"], table["parts"]))

    def _bases(self) -> dict[str, str]:
        """List the names of systems, with those of the systems that they start from."""
        bases: dict[str, str] = {}
        for system in self._plan.systems.values():
            base = self._plan.systems.get(system.base, system).name
            if base != system.name:
                bases.setdefault(system.name, base)
        return bases

    def _measurements(
        self, key: str, corpus: Corpus, dictionary: str, layout: Layout
    ) -> Iterator[Measured]:
        """Measure on a corpus, seed by seed; panels and lines are those of the first seed."""
        with self._without_missing(key):
            self._find(key, corpus, dictionary)
            for seed in self._seeds:
                if corpus.task != "linking":
                    for measured in self._represented(key, corpus, dictionary, layout, seed):
                        yield measured if seed == 0 else Measured(measured.rows)
                    continue
                rows = [
                    row
                    for fold in range(corpus.folds or 1)
                    for row in self._linked(key, corpus, dictionary, layout, seed, fold)
                ]
                rows = averaged(rows, pooled=True) if corpus.folds else rows
                yield Measured(list(with_averages(rows, layout.averages)))

    def _find(self, key: str, corpus: Corpus, dictionary: str) -> None:
        """Make what all systems are measured with. RAISES (MedlinkError): where it is missing."""
        for name in filter(None, {dictionary, corpus.dictionary}):
            self._maker.dictionary(name)
        if corpus.task == "linking":
            for part in ("test", *(("whole",) if corpus.train else ())):
                self._maker.gold(key, part, 0)
        elif corpus.source:
            stamps([Path(corpus.source)])

    def _measured(self, key: str, corpus: Corpus, seed: int) -> Iterator[tuple[str, System]]:
        """List the systems that are measured on a corpus; those not trained have one seed."""
        for name, system in self._systems.items():
            is_meant = key in (system.corpora or (key,)) and name in (corpus.systems or (name,))
            if is_meant and system.shown and (seed == 0 or self._maker.is_trained(name)):
                yield name, system

    def _linked(
        self, key: str, corpus: Corpus, dictionary: str, layout: Layout, seed: int, fold: int
    ) -> Iterator[Row]:
        train = str(self._maker.gold(key, "whole", fold)) if corpus.train else ""
        kb, gold = self._maker.dictionary(dictionary), self._maker.gold(key, "test", fold)
        work = self._work / "models" / "tables"
        material = Material(layout, kb, gold, train, work, self._device)
        baselines = seed == 0
        for name, system in self._measured(key, corpus, seed):
            with self._without_missing(system.name):
                encoder = self._maker.encoder(name, key, fold, seed)
                reranker = None
                if self._maker.recipe_kind(name) == "rerank":
                    base = self._maker.encoder(system.base, key, fold, seed)
                    encoder, reranker = base, encoder
                self._say(f"measuring {system.name}")
                yield from measure_links(material, system, encoder, reranker, baselines)
                baselines = False

    def _represented(
        self, key: str, corpus: Corpus, dictionary: str, layout: Layout, seed: int
    ) -> Iterator[Measured]:
        kb, names = (
            KnowledgeBase(self._maker.dictionary(name)) if name else None
            for name in (dictionary, corpus.dictionary)
        )
        for name, system in self._measured(key, corpus, seed):
            with self._without_missing(system.name):
                path = self._maker.encoder(name, key, 0, seed)
                self._say(f"measuring {system.name} on {key}")
                pooling = corpus.pooling or system.pooling or layout.pooling
                encoder = BiEncoder.load(path, pooling, device=find_device(self._device))
                yield measure_vectors(corpus, system, encoder, path, kb, names, seed)


def main(
    plan: Annotated[Path, typer.Argument(help="A file of training/papers/plans.")],
    output: Annotated[Path, typer.Option(help="JSON file; the tables go beside it as .md.")],
    seeds: Annotated[
        int, typer.Option(min=1, help="Trainings of each system: mean and deviation.")
    ] = 1,
    work: Annotated[Path, typer.Option(help="Gets kb/, gold/ and models/.")] = Path(),
    device: Device = AUTO,
    vars_: Annotated[str, typer.Option("--vars", help="Of the project: NAME=VALUE|...")] = "",
    set_: Set = None,
    overwrite: Overwrite = False,
) -> None:
    """Make the tables of a paper from its corpora, and its figures where it has some."""
    given = (text.partition("=") for text in vars_.split("|") if text)
    changes = {f"vars.{name}": value for name, _, value in given} | parse_overrides(set_)
    outputs = Outputs(output, "a table", [plan], overwrite)
    with stoppable():
        made = Reproduction(read_plan(plan, changes), work, seeds, device, _say)
        figures = list(made.tables())
    tables = [table for table, _ in figures]
    if not tables:
        what = f"system that can be measured (missing: {'; '.join(made.left_out)})"
        remedy = "docs/papers.md says what each table needs, and where it is looked for."
        raise Errors.nothing_there(path=plan, what=what, remedy=remedy)
    texts = [as_markdown(table) for table in tables]
    texts += ["docs/papers.md says what the recipes do otherwise than the papers."]
    texts += [f"Left out: {what}" for what in made.left_out]
    content = {"seeds": seeds, "tables": tables, "left_out": made.left_out}
    outputs.write(content, "\n\n".join(texts))
    for table, figure in figures:
        if figure:
            name = f"{output.stem}.{table['corpus'].replace(', ', '.').replace(' ', '_')}.svg"
            save_text(output.with_name(name), _FIGURE, figure, [plan], overwrite=overwrite)


def _say(line: str) -> None:
    typer.echo(line, err=True)


if __name__ == "__main__":
    run_verb(main)

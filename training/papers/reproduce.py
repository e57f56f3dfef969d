"""Carry out a plan: make what it needs, measure with several seeds, print ours beside theirs.

    python -m training.papers.reproduce training/papers/plans/sapbert.yml --seeds 5

Missing parts, such as a licensed corpus or an encoder, are left out and reported.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
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
from .measuring import Material, Part, Row, Source, measure_systems, with_averages
from .plan import Corpus, Layout, Plan, System, read_layout, read_plan
from .published import LAYOUTS, read_published
from .table import Table, as_markdown, averaged, make_table, pooled
from .vectors import measure_vectors

_FIGURE = marked("the figure of a table", "<svg")
_MISSING = {"E104", "E107", "E205"}  # names of a dictionary, a file, an encoder


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
        self._there: dict[str, System] = {}
        for key, system in plan.systems.items():  # bases come first
            if self._is_there(key, system):
                self._there[key] = system

    def tables(self) -> Iterator[tuple[Table, str]]:
        """Make a table for each corpus and each dictionary it is linked to, with its figure."""
        for key, corpus in self._plan.corpora.items():
            measured = corpus.measured or (corpus.dictionary,)
            published = corpus.published or key
            layout = self._layout(corpus)
            for dictionary in measured:
                if not self._has(key, partial(self._find, key, corpus, dictionary)):
                    continue
                rows = averaged(self._rows(key, corpus, dictionary))
                if not rows:
                    continue
                title, theirs = f"{published}, names of {dictionary}", []
                if dictionary == measured[0]:
                    title, theirs = published, read_published(layout.paper, published)
                table = make_table(layout, title, rows, theirs)
                panels = [panel for row in rows for panel in row.panels]
                yield table, draw(panels or curves(table["rows"], table["parts"]))

    def _layout(self, corpus: Corpus) -> Layout:
        return read_layout(LAYOUTS / f"{corpus.layout or self._plan.layout}.cfg", self._plan.note)

    def _rows(self, key: str, corpus: Corpus, dictionary: str) -> Iterator[Row]:
        """Measure on a corpus: a row for each system, seed and, once, baseline."""
        for seed in self._seeds:
            systems = {
                name: one
                for name, one in self._there.items()
                if one.shown and key in (one.corpora or (key,))
                if name in (corpus.systems or (name,))
                if seed == 0 or self._is_trained(one)
            }
            if seed and not systems:
                return
            if corpus.task != "linking":
                yield from self._represented(key, corpus, dictionary, systems, seed)
                continue
            folds = [
                list(self._linked(key, corpus, dictionary, systems, seed, fold))
                for fold in range(corpus.folds or 1)
            ]
            yield from _one_of_all_languages(pooled(folds), self._layout(corpus))

    def _linked(
        self, key: str, corpus: Corpus, dictionary: str, systems: dict[str, System], seed: int,
        fold: int,
    ) -> Iterator[Row]:  # fmt: skip
        gold = self._maker.gold(key, "test", fold)
        train = str(self._maker.gold(key, "whole", fold)) if corpus.train else ""
        material = Material(self._maker.dictionary(dictionary), gold, train)
        sources = [self._source(name, one, key, fold, seed) for name, one in systems.items()]
        layout, work = self._layout(corpus), self._work / "models" / "tables"
        yield from measure_systems(
            layout, material, sources, work, self._say, self._device, baselines=seed == 0
        )

    def _source(self, key: str, system: System, corpus: str, fold: int, seed: int) -> Source:
        made = self._maker.encoder(key, corpus, fold, seed)
        if self._maker.kind(key) != "rerank":
            return Source(system.name, made, system.pooling, lang=system.lang)
        base = self._maker.encoder(system.base, corpus, fold, seed)
        return Source(system.name, base, system.pooling, made)

    def _represented(
        self, key: str, corpus: Corpus, dictionary: str, systems: dict[str, System], seed: int
    ) -> Iterator[Row]:
        kb = KnowledgeBase(self._maker.dictionary(dictionary)) if dictionary else None
        pooling = self._layout(corpus).pooling
        for name, one in systems.items():
            place = self._maker.encoder(name, key, 0, seed)
            self._say(f"measuring {one.name} on {key}")
            device = find_device(self._device)
            encoder = BiEncoder.load(place, one.pooling or pooling, device=device)
            yield measure_vectors(corpus, one, encoder, place, kb, seed)

    def _is_trained(self, system: System) -> bool:
        if system.encoder:
            return False
        base = self._plan.systems.get(system.base)
        return bool(system.recipe) or (base is not None and self._is_trained(base))

    def _is_there(self, key: str, system: System) -> bool:
        """Tell whether the parts of a system exist; report a missing one."""
        if not system.encoder and system.base not in self._there:
            self.left_out.append(f"{system.name}: its base is left out")
            return False
        return self._has(system.name, lambda: self._find_parts(key, system))

    def _find_parts(self, key: str, system: System) -> None:
        if system.encoder:
            if not Source(system.name, Path(system.encoder)).is_linker:
                BiEncoder.load(system.encoder)
            return
        if system.of and self._maker.kind(key) == "pretrain":
            self._maker.dictionary(system.of)
        elif system.of:
            own = self._plan.corpora[system.of]
            self._find(system.of, own, own.dictionary)
        if system.bitext:
            self._maker.bitext(system.bitext)

    def _find(self, key: str, corpus: Corpus, dictionary: str) -> None:
        for one in filter(None, {dictionary, corpus.dictionary}):
            self._maker.dictionary(one)
        if corpus.task == "linking":
            for part in ("test", *(("whole",) if corpus.train else ())):
                self._maker.gold(key, part, 0)
        elif corpus.source:
            stamps([Path(corpus.source)])

    def _has(self, what: str, find: Callable[[], None]) -> bool:
        """Tell whether something exists; report it if not."""
        try:
            find()
        except MedlinkError as error:
            if error.code not in _MISSING:
                raise
            self.left_out.append(f"{what}: {error}")
            self._say(f"left out: {self.left_out[-1]}")
            return False
        return True


def _one_of_all_languages(rows: Sequence[Row], layout: Layout) -> list[Row]:
    """Make one row of the systems that have a name in common, each for another language."""
    parts: dict[str, dict[str, Part]] = {}
    for row in rows:
        parts.setdefault(row.system, {}).update(row.parts)
    return [Row(name, with_averages(own, layout)) for name, own in parts.items()]


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
    facts = {"seeds": seeds, "tables": tables, "left_out": made.left_out}
    outputs.write(facts, "\n\n".join(texts))
    for table, figure in figures:
        if figure:
            name = f"{output.stem}.{table['corpus'].replace(', ', '.').replace(' ', '_')}.svg"
            save_text(output.with_name(name), _FIGURE, figure, [plan], overwrite=overwrite)


def _say(line: str) -> None:
    typer.echo(line, err=True)


if __name__ == "__main__":
    run_verb(main)

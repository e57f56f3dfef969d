"""Building and searching a terminology of any size: `python -m benchmarks.kb WORK`.

Names are invented, with the shape of the UMLS (`--concepts`, `--names`), or `--like KB` makes them
of pieces of the names of another knowledge base. Each task runs in a fresh process; memory is that
of the process and its children. WORK keeps what was made, and another run uses it again.

    python -m benchmarks.kb WORK --concepts 4200000 --names 15000000
    python -m benchmarks.kb WORK --like open_umls.kb --names 15000000 --encoder STATIC --task dense
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.measured import RESULTS, report, run_command, run_task
from benchmarks.umls import generate

TASKS = ("read", "exact", "ngrams", "dense", "notes", "filters", "update")
WANTED = {  # at 15 million names
    "knowledge base, s": 300, "knowledge base, MB at most": 1000, "open and read a concept, ms": 50,
    "a concept by id, µs": 60, "10,000 look-ups, s": 0.2, "assets, MB at most": 1500,
    "`medical_mentions`, median, ms": 5, "with `medical_linker`, median, ms": 60,
}  # fmt: skip


class Terminology:
    """A terminology of a size, made in a directory where it is not there.

    like (Optional[Path]): a knowledge base, of whose names its names are made.
    encoder (str): for a dense tier; "" for none. index (str): a faiss factory string, or "".
    """

    def __init__(
        self, work: Path, concepts: int, names: int, like: Path | None, encoder: str, index: str
    ) -> None:
        self.work, self.sizes, self.like = work, (concepts, names), like
        self.options = (["--encoder", encoder] if encoder else []) + (
            ["--index", index] if index else []
        )
        self.figures: dict[str, dict[str, Any]] = {}

    def kb(self, year: int = 0, *update: object) -> Path:
        """Build the knowledge base of a year."""
        path = self.work / f"{year}.kb"
        if not path.exists():
            if self.like:
                run = run_task("benchmarks.kb_tasks.grow", kb=str(self.like), out=str(path),
                               names=self.sizes[1], year=year)  # fmt: skip
            else:
                release = self.work / str(year)
                generate(release, *self.sizes, year=year)
                run = run_command("kb", "build", "--output", path, release, "--from", "umls",
                                  *update)  # fmt: skip
            self._add("build" if not year else "update", "knowledge base", run, path)
        return path

    def assets(self, year: int = 0, *update: object) -> Path:
        """Build the assets of a year."""
        path = self.work / f"{year}.assets"
        if not path.exists():
            options = update or self.options
            run = run_command("build", self.kb(year), "--output", path, *options)
            self._add("build" if not year else "update", "assets", run, path)
        return path

    def update(self) -> None:
        """Build the next year's release as an update, with 1 % of the names changed."""
        self.kb(1, *(() if self.like else ("--update", self.kb())))
        self.assets(1, "--update", self.assets())

    def run(self, task: str, notes: int) -> None:
        """Run a task; its figures go into `figures`."""
        given: dict[str, Any] = {"assets": str(self.assets())}
        if task == "read":
            given = {"kb": str(self.kb())}
        if task == "notes":
            given["more"] = notes
        run = run_task(f"benchmarks.kb_tasks.{task}", **given)
        peak = run.pop("peak_rss_mb")
        del run["wall_s"], run["cpu_s"]
        self.figures[task] = {**run, "MB at most": peak}

    def _add(self, task: str, what: str, run: dict[str, Any], path: Path) -> None:
        files = [path] if path.is_file() else path.rglob("*")
        self.figures.setdefault(task, {}).update({
            f"{what}, s": run["wall_s"], f"{what}, s of processors": run["cpu_s"],
            f"{what}, MB at most": run["peak_rss_mb"],
            f"{what}, MB on disk": sum(file.stat().st_size for file in files) / 1e6,
        })  # fmt: skip


def main(
    work: Annotated[Path, typer.Argument(help="Directory for what is made; kept.")],
    concepts: Annotated[int, typer.Option(help="Of the invented release.")] = 100_000,
    names: Annotated[int, typer.Option(help="In all.")] = 357_000,
    like: Annotated[Path | None, typer.Option(help="Make names of those of this KB.")] = None,
    encoder: Annotated[str, typer.Option(help="For a dense tier; default: none.")] = "",
    index: Annotated[str, typer.Option(help="faiss factory string; default: by size.")] = "",
    task: Annotated[list[str] | None, typer.Option(help=f"Of {', '.join(TASKS)}.")] = None,
    notes: Annotated[int, typer.Option(help="Notes while memory is watched.")] = 2000,
    output: Annotated[Path, typer.Option(help="JSON; a table beside it.")] = RESULTS / "kb.json",
) -> None:
    """Measure building and searching."""
    terminology = Terminology(work, concepts, names, like, encoder, index)
    terminology.assets()
    for name in task or [task for task in TASKS if encoder or task != "dense"]:
        if name == "update":
            terminology.update()
        else:
            terminology.run(name, notes)
    rows = [
        {"task": name, "what": what, "measured": measured, "wanted": WANTED.get(what, "")}
        for name, figures in terminology.figures.items()
        for what, measured in figures.items()
    ]
    report(output, rows, f"{concepts:,} concepts, {names:,} names were asked for.")


if __name__ == "__main__":
    typer.run(main)

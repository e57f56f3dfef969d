"""Write a UMLS-shaped META directory of any size, and next year's release of it.

    python -m benchmarks.synthetic_umls generate OUT --concepts 4200000 --names 15000000
    python -m benchmarks.synthetic_umls evolve OUT NEXT --fraction 0.01

Columns, order and proportions follow the Metathesaurus; identifiers, names and definitions are
invented. The same arguments write the same bytes.
"""

import time
from contextlib import ExitStack
from pathlib import Path

import typer

from benchmarks.synthetic.draws import blocks, open_rows
from benchmarks.synthetic.evolve import evolve
from benchmarks.synthetic.metathesaurus import FILES, Metathesaurus
from benchmarks.synthetic.relations import write_relations

__all__ = ["evolve", "generate"]


def generate(
    out_dir: Path | str,
    concepts: int = 1000,
    names: int = 3571,
    seed: int = 0,
    languages: int = 20,
    gz: bool = False,
) -> dict[str, int]:
    """Write a release.

    out_dir (Path | str): the META directory, made if needed; files in it are overwritten.
    concepts, names (int): exactly so many CUIs and rows of MRCONSO. seed (int): which release.
    languages (int): 1 to 20, English first. gz (bool): write .RRF.gz.
    RETURNS (dict[str, int]): number of rows of each file.
    """
    release = Metathesaurus(concepts, names, seed, languages)
    with ExitStack() as stack:
        rows = {
            name: stack.enter_context(open_rows(Path(out_dir) / f"{name}.RRF{'.gz' if gz else ''}"))
            for name in FILES
        }
        for first, last in blocks(release.names.offsets):
            for name, written in release.rows(first, last).items():
                rows[name].write(written)
        rows["MRCUI"].write(release.retired())
        rows["MRRANK"].write(release.ranks())
        rows["MRSAB"].write(release.sources())
        write_relations(rows["MRREL"], release.cuis, release.atoms, seed)
        return {name: file.count for name, file in rows.items()}


app = typer.Typer(help=__doc__, no_args_is_help=True)


@app.command("generate")
def generate_command(
    out_dir: Path,
    concepts: int = 1000,
    names: int = 3571,
    seed: int = 0,
    languages: int = 20,
    gz: bool = False,
) -> None:
    """Write a release."""
    start = time.perf_counter()
    rows = generate(out_dir, concepts, names, seed, languages, gz)
    seconds = time.perf_counter() - start
    typer.echo(" ".join(f"{name}={count}" for name, count in rows.items()))
    typer.echo(f"{seconds:.1f} s, {names / seconds:,.0f} names/s")


@app.command("evolve")
def evolve_command(old_dir: Path, new_dir: Path, fraction: float = 0.01, seed: int = 0) -> None:
    """Write next year's release."""
    start = time.perf_counter()
    changes = evolve(old_dir, new_dir, fraction, seed)
    seconds = time.perf_counter() - start
    typer.echo(" ".join(f"{name}={count}" for name, count in changes.items()))
    typer.echo(f"{seconds:.1f} s")


if __name__ == "__main__":
    app()

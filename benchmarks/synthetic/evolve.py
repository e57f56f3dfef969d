"""Write next year's release of a synthetic Metathesaurus, reading the old one as a stream."""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np

from benchmarks.synthetic.changes import Census, Changes, plan_changes, take_census
from benchmarks.synthetic.draws import BLOCK, open_lines, open_rows
from benchmarks.synthetic.metathesaurus import FIRST_CUI, Metathesaurus
from benchmarks.synthetic.relations import HIERARCHY
from benchmarks.synthetic.words import PREFIXES, STYLES, lexicon

FIRST_NEW_RUI = 50_000_000  # above the relations of the largest release
Extra = dict[str, list[str]]


def evolve(
    old_dir: Path | str, new_dir: Path | str, fraction: float = 0.01, seed: int = 0
) -> dict[str, int]:
    """Write next year's release.

    old_dir (Path | str): META directory that `generate` or `evolve` wrote.
    new_dir (Path | str): the directory written.
    fraction (float): of the names, how many are dropped, moved to another concept or added.
    seed (int): which future.
    RETURNS (dict[str, int]): dropped, moved and added names; retired, merged and new concepts.
    RAISES (ValueError): if the new release would overwrite the old one.
    """
    if Path(old_dir).resolve() == Path(new_dir).resolve():
        raise ValueError(f"{new_dir} is the old release; name another directory")
    old = {path.name.split(".")[0]: path for path in Path(old_dir).glob("MR*.RRF*")}
    new = {name: Path(new_dir) / path.name for name, path in old.items()}
    with open_lines(old["MRCONSO"]) as names, open_lines(old["MRREL"]) as relations:
        census = take_census(names, relations)
    changes = plan_changes(census, fraction, seed)
    extra = _new_concepts(census, changes, old["MRCUI"], seed)
    with open_lines(old["MRCONSO"]) as names:
        _moved_names(names, census, changes, extra["MRCONSO"], seed)
    dead = {f"C{cui:07d}" for cui in changes.heirs}
    skips: dict[str, Callable[[int, str], bool]] = {
        "MRCONSO": lambda number, row: number in changes.targets,
        "MRSTY": lambda number, row: row[:8] in dead,
        "MRDEF": lambda number, row: row[:8] in dead,
        "MRREL": lambda number, row: row[:8] in dead or row.split("|", 5)[4] in dead,
    }
    for name, skip in skips.items():
        with open_lines(old[name]) as rows:
            _write(new[name], weave(rows, skip, extra[name]))
    with open_lines(old["MRMAP"]) as rows:
        _write(new["MRMAP"], chain(rows, *extra["MRMAP"].values()))
    release = _release(old["MRSAB"])
    with open_lines(old["MRCUI"]) as rows:
        _write(new["MRCUI"], _history(rows, changes, release))
    with open_lines(old["MRSAB"]) as rows:
        _write(new["MRSAB"], (row.replace(release, _next(release)) for row in rows))
    shutil.copyfile(old["MRRANK"], new["MRRANK"])
    return changes.summary()


def weave(rows: Iterable[str], skip: Callable[[int, str], bool], extra: Extra) -> Iterator[str]:
    """Leave out some rows and put others in, keeping the order by CUI and language.

    rows (Iterable[str]): the old rows, by CUI. skip (Callable): of the row's number and the row.
    extra (Extra): new rows by CUI.
    YIELDS (str): the new rows.
    """
    extra = dict(extra)
    current = ""
    added: list[str] = []
    group: list[str] = []
    for number, row in enumerate(rows):
        if row[:8] != current:
            yield from sorted(group + added, key=_cui_and_language) if added else group
            current, group = row[:8], []
            added = extra.pop(current, [])
        if skip(number, row):
            continue
        if added:
            group.append(row)
        else:
            yield row
    yield from sorted(group + added, key=_cui_and_language) if added else group
    for cui in sorted(extra):
        yield from sorted(extra[cui], key=_cui_and_language)


def _cui_and_language(row: str) -> str:
    return row[:12]


def _write(path: Path, rows: Iterable[str]) -> None:
    rows = iter(rows)
    with open_rows(path, end="") as file:
        while batch := list(islice(rows, BLOCK)):
            file.write(batch)


def _new_concepts(census: Census, changes: Changes, history: Path, seed: int) -> dict[str, Extra]:
    """Write all rows of the new concepts, below parents that live on."""
    extra: dict[str, Extra] = {name: {} for name in ("MRCONSO", "MRSTY", "MRDEF", "MRMAP", "MRREL")}
    if not changes.parents:
        return extra
    with open_lines(history) as rows:
        last = max([int(census.cuis[-1]), *(int(row[1:8]) for row in rows)])
    made = Metathesaurus(
        len(changes.parents),
        changes.new_names,
        seed + 1,
        20,
        first=(last - FIRST_CUI) // 2 + 1,
        first_name=census.last_atom,
    )
    for name, rows_of_file in made.rows(0, made.concepts).items():
        for row in rows_of_file:
            extra[name].setdefault(row[:8], []).append(row + "\n")
    up, down = (HIERARCHY[0].middles(inverse) for inverse in (False, True))
    for i, (cui, parent) in enumerate(zip(made.cuis.tolist(), changes.parents, strict=True)):
        rui = FIRST_NEW_RUI + 2 * (made.first + i)
        for one, two, (x, y, z), number in ((cui, parent, up, rui), (parent, cui, down, rui + 1)):
            row = f"C{one:07d}|{x}C{two:07d}|{y}{number:08d}{z}\n"
            extra["MRREL"].setdefault(f"C{one:07d}", []).append(row)
    return extra


def _moved_names(
    names: Iterable[str], census: Census, changes: Changes, extra: Extra, seed: int
) -> None:
    """Find the rows that move and the models of new synonyms, and write both as they will be."""
    prefixes = np.random.default_rng([seed, 2]).integers(PREFIXES, size=len(changes.models))
    words = lexicon(20)
    places = {language.lat: i for i, language in enumerate(words.languages)}
    models: dict[int, list[int]] = {}
    for place, row_number in enumerate(changes.models):
        models.setdefault(row_number, []).append(place)
    for number, row in enumerate(names):
        if target := changes.targets.get(number):
            cells = row.split("|")
            cells[0], cells[2], cells[6] = f"C{target:07d}", "S", "N"
            extra.setdefault(cells[0], []).append("|".join(cells))
        for place in models.get(number, ()):
            cells = row.split("|")
            atom = census.last_atom + changes.new_names + 1 + place
            cells[2], cells[3], cells[4] = "S", f"L{atom:07d}", "PF"
            cells[5], cells[6], cells[7] = f"S{STYLES * atom:07d}", "Y", f"A{atom:08d}"
            prefix = places[cells[1]] * (PREFIXES + 1) + int(prefixes[place])
            cells[14], cells[16] = words.prefixes[prefix] + cells[14], "N"
            extra.setdefault(cells[0], []).append("|".join(cells))


def _history(rows: Iterable[str], changes: Changes, release: str) -> list[str]:
    """Add the concepts that end to MRCUI; its CUI2 are CUIs that live on."""
    out = []
    for row in rows:
        cells = row.split("|")
        heir = changes.heirs.get(int(cells[5][1:] or 0))
        if heir:
            cells[5] = f"C{heir:07d}"
        elif heir == 0:
            cells[2], cells[5], cells[6] = "DEL", "", ""
        out.append("|".join(cells))
    for cui, heir in changes.heirs.items():
        end = f"SY|||C{heir:07d}|Y|\n" if heir else "DEL|||||\n"
        out.append(f"C{cui:07d}|{release}|{end}")
    return sorted(out)


def _release(sources: Path) -> str:
    with open_lines(sources) as rows:
        return next(iter(rows)).split("|")[6]


def _next(release: str) -> str:
    return re.sub(r"\d+", lambda year: str(int(year[0]) + 1), release, count=1)

"""How well notes are read as people type them: `python -m benchmarks.reading ASSETS...`.

Names that are found and linked alone are put into each way of writing (R1 to R4, R8, R13), and
cases written by hand tell where a word is no name, what a text says of a mention, and the like (R5
to R19; benchmarks/reading/cases). Who wrote them did not know the rules. A place is right if the
same characters have the same link, wrong if another link touches it, and lost otherwise; of cases
written by hand the characters need not be the same, and R7 and R15 to R19 judge what is said of
a mention, not its link. Cases whose names or traps the assets do not have are left out. Notes are
whole notes with gold; `--kinds pages` prints them on narrow pages and in two columns. Figures go to
OUTPUT as JSON, and to a Markdown table beside it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Annotated, Any

import typer

from benchmarks.measured import RESULTS, as_table, machine, write_results
from benchmarks.reading import ways
from benchmarks.reading.cases import Case, read_cases, read_notes
from benchmarks.reading.linked import LOST, RIGHT, WRONG, Linked, Row, judge
from benchmarks.reading.notes import measure_notes, notes_table
from benchmarks.reading.pages import pages
from spacy_medlink.util.progress import show_progress

_Z = 1.96  # of a 95 % interval
_MADE, _PARTS = "made", ("dev", "held", "words")
_POOL = 400  # names that the ways of writing are tried with
# Names with signs and letters that few names have, which R3 and R13 write in other ways.
_SPECIAL = (
    r".*(?:['&\u0080-\uffff]|[ao]e|ff|f[il]|[A-Za-z]\d|\bI[IV]|alpha|beta|gamma|delta|sis$).*"
)
_EVERYWHERE = frozenset(  # measured in each language
    "R1 R2 R3 R7 R15 R16 R17 R18 R20 R21 R22 notes".split()
)
_HEADING = """# Reading: what a note says is what is linked

Share right in per cent (95 % interval) / share wrong, and places tried. `made`: made of names;
`dev`, `held`: written by hand, two thirds and one third of each kind; `words`: common words."""


def wilson(k: int, n: int) -> tuple[float, float]:
    """Give the 95 % interval of a share, in per cent (Wilson 1927)."""
    if not n:
        return 0.0, 100.0
    middle = k / n + _Z**2 / (2 * n)
    width = _Z * (k / n * (1 - k / n) / n + (_Z / (2 * n)) ** 2) ** 0.5
    low, high = (100 * x / (1 + _Z**2 / n) for x in (middle - width, middle + width))
    return max(0.0, round(low, 1)), min(100.0, round(high, 1))


def made_cases(linked: Linked, most: int, seed: int) -> Iterator[Case]:
    """Make the cases of all kinds that are made of names."""
    rng, lower_names = Random(seed), set(map(str.lower, linked.names))
    plain = linked.pool(r"[^\W\d_][\w '’-]+[^\W\d_]", _POOL, rng)
    two = linked.pool(r"[^\W\d_]{3,} [^\W\d_]{3,}", _POOL, rng)
    special = linked.pool(_SPECIAL, 3 * _POOL, rng)
    yield from ways.lists(plain, rng, most)
    yield from ways.clauses(two, rng, most)
    yield from ways.signs(plain, rng, most)
    yield from ways.letters([*plain, *special], rng, most, linked.lang)
    if linked.lang == "en":
        texts = (
            p.names[0] for _, case in read_cases("en") if case.kind == "R9" for p in case.places
        )
        everyday = [(name, id) for name, id in linked.alone(texts).items() if id]
        yield from ways.cases([*rng.sample(plain, min(8 * most, len(plain))), *everyday])
        long = [name for name in (*plain, *everyday) if re.search("[a-z]{6}", name[0])]
        yield from ways.slips(long, rng, 8 * most, lower_names)
        yield from ways.forms([*plain, *special], rng, most, lower_names)


def measure(linked: Linked, kinds: set[str], most: int, seed: int) -> list[Row]:
    """Judge the places of all cases; a list is judged as a whole."""
    cases = [(_MADE, case) for case in made_cases(linked, most, seed)]
    written = list(read_cases(linked.lang))
    for part in _PARTS:
        resolved = linked.resolve([case for its, case in written if its == part])
        cases += [(part, case) for case in resolved]
    cases = [(part, case) for part, case in cases if not kinds or case.kind.split()[0] in kinds]
    docs = linked.run([case for _, case in cases])
    rows = []
    for (part, case), doc in zip(cases, show_progress(docs, len(cases), "texts"), strict=True):
        judged = [(p, judge(doc, p, exact=part == _MADE)) for p in case.places]
        if case.kind == "R1 lists":
            judged = [max(judged, key=lambda pair: (RIGHT, LOST, WRONG).index(pair[1][0]))]
        for place, (verdict, said) in judged:
            mention = case.text[place.start : place.end]
            rows.append(Row(case.kind, part, case.way, verdict, case.text, mention, said))
    return rows


def shares(rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """Give the shares of each kind and part, and of each of its ways."""
    kinds: dict[str, dict[str, Counter[str]]] = {}
    for row in rows:
        ways_of = kinds.setdefault(f"{row.kind} {row.part}", {})
        ways_of.setdefault(row.way, Counter())[row.verdict] += 1
    return {
        kind: {
            **_share(sum(ways_of.values(), Counter())),
            "not_right": {way: str(dict(its)) for way, its in ways_of.items() if {*its} != {RIGHT}},
        }
        for kind, ways_of in kinds.items()
    }


def _share(counts: Counter[str]) -> dict[str, Any]:
    n = counts.total()
    return {
        "n": n,
        **{name: round(100 * counts[name] / n, 1) for name in (RIGHT, WRONG, LOST)},
        "right_interval": wilson(counts[RIGHT], n),
        "wrong_interval": wilson(counts[WRONG], n),
    }


def table(results: dict[str, dict[str, Any]]) -> str:
    """Write the shares of kinds as a table, a column for each assets and language."""
    kinds = {kind for result in results.values() for kind in result["kinds"]}
    return as_table([
        {"kind": kind, **{name: _cell(own["kinds"].get(kind)) for name, own in results.items()}}
        for kind in sorted(kinds, key=lambda kind: (int(re.findall(r"\d+", kind)[0]), kind))
    ])  # fmt: skip


def _cell(share: dict[str, Any] | None) -> str:
    if share is None:
        return ""
    low, high = share["right_interval"]
    return f"{share['right']:.1f} ({low:.0f}-{high:.0f}) / {share['wrong']:.1f}, n {share['n']:,}"


def show_failures(rows: Iterable[Row], most: int) -> None:
    """Print places that are not right, as many of each kind and way; none of the held part."""
    shown: Counter[tuple[str, str]] = Counter()
    for row in sorted(row for row in rows if row.verdict != RIGHT and row.part != "held"):
        shown[row.kind, row.way] += 1
        if shown[row.kind, row.way] <= most:
            what = f"{row.kind} {row.way}: {row.verdict} {row.place!r} in {row.text!r}"
            typer.echo(f"{what}: {row.linked}")


def main(
    assets: Annotated[list[str], typer.Argument(help='Directories of assets, or "starter".')],
    kinds: Annotated[str, typer.Option(help="Only these: R1,R3,notes,pages.")] = "",
    lang: Annotated[str, typer.Option(help="Languages: en,es.")] = "en",
    most: Annotated[int, typer.Option(help="Cases of a way of writing.", min=1)] = 6,
    seed: Annotated[int, typer.Option(help="Of the drawing of names.")] = 0,
    failures: Annotated[int, typer.Option(help="Print this many of each way.")] = 0,
    output: Annotated[Path, typer.Option(help="JSON; a table beside it.")] = (
        RESULTS / "reading.json"
    ),
) -> None:
    """Measure how well notes are read."""
    wanted = set(kinds.split(",")) - {""}
    texts, results = [_HEADING], dict[str, dict[str, Any]]()
    asked = lang.split(",")
    for langs in (["en"] if "en" in asked else [], [other for other in asked if other != "en"]):
        group: dict[str, dict[str, Any]] = {}
        for own_lang, path in product(langs, assets):
            linked = Linked(path, own_lang)
            measured = wanted or (set() if own_lang == "en" else set(_EVERYWHERE))
            if linked.names:
                rows = measure(linked, measured, most, seed)
                has_notes = not measured or measured & {"notes", "pages"}
                notes = [*read_notes(own_lang)] if has_notes else []
                figures, failed = measure_notes(linked, notes)
                name = f"{Path(path).name} {own_lang}"
                group[name] = {"kinds": shares(rows), "notes": figures if notes else {}}
                show_failures([*rows, *failed], failures)
                for way, printed in pages(notes) if "pages" in wanted else ():
                    on_page, failed = measure_notes(linked, printed)
                    group[f"{name}, {way}"] = {"kinds": {}, "notes": on_page}
                    show_failures(failed, failures)
        texts += [table(group), notes_table(group)] if group else []
        results |= group
    content = {"most": most, "seed": seed, "results": results, "machine": machine()}
    write_results(output, content, "\n\n".join(texts))


if __name__ == "__main__":
    typer.run(main)

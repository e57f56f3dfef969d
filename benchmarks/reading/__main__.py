"""How well notes are read as people type them: `python -m benchmarks.reading ASSETS...`.

Names that are found and linked alone are put into each way of writing (R1 to R4, R8, R13), and
cases written by hand tell where a word is no name, what a text says of a mention, and the like (R5
to R13; benchmarks/reading/cases). Who wrote them did not know the rules. A place is right if the
same characters have the same link, wrong if another link touches it, and lost otherwise. Cases
whose names or traps the assets do not have are left out. `notes` are whole notes with gold; their
links are right, wrong, or outside of all gold. Figures go to OUTPUT as JSON, and to a Markdown
table beside it.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.measured import machine, write_results
from benchmarks.reading import ways
from benchmarks.reading.cases import Case, read_cases, read_notes
from benchmarks.reading.linked import LOST, RIGHT, WRONG, Linked, judge
from benchmarks.reading.notes import measure_notes, notes_table
from spacy_medlink.util.progress import show_progress

_Z = 1.96  # of a 95 % interval
_PART = "made"
_EVERYWHERE = ("R1", "R2", "R3", "R7")  # kinds that are measured in each language
_POOL = 400


def wilson(k: int, n: int) -> tuple[float, float]:
    """Give the 95 % interval of a share, in per cent (Wilson 1927)."""
    if not n:
        return 0.0, 100.0
    middle = k / n + _Z**2 / (2 * n)
    width = _Z * (k / n * (1 - k / n) / n + (_Z / (2 * n)) ** 2) ** 0.5
    low, high = ((100 * x / (1 + _Z**2 / n)) for x in (middle - width, middle + width))
    return round(low, 1), round(high, 1)


def made_cases(linked: Linked, most: int, seed: int) -> Iterator[Case]:
    """Make the cases of all kinds that are made of names."""
    rng = random.Random(seed)
    known, lang = set(linked.ids), linked.lang
    plain = linked.pool(lambda name: re.fullmatch(r"[^\W\d_][\w '’-]+[^\W\d_]", name), _POOL, rng)
    two = linked.pool(lambda name: re.fullmatch(r"[^\W\d_]{3,} [^\W\d_]{3,}", name), _POOL, rng)
    special = linked.pool(ways.is_special, 3 * _POOL, rng, signs=True)
    yield from ways.lists(plain, rng, most)
    yield from ways.clauses(two, rng, most)
    yield from ways.signs(plain, rng, most)
    yield from ways.letters([*plain, *special], rng, most, lang)
    yield from ways.cases(plain, rng, 4 * most)
    if lang == "en":
        long = [name for name in plain if re.search("[a-z]{6}", name[0])]
        yield from ways.slips(long, rng, 4 * most, known)
        yield from ways.forms([*plain, *special], rng, most, known)


def measure(linked: Linked, kinds: set[str], most: int, seed: int) -> list[dict[str, Any]]:
    """Judge the places of all cases. RETURNS: a row for each place."""
    written = list(read_cases(linked.lang))
    cases = [(_PART, case) for case in made_cases(linked, most, seed)]
    for part in ("dev", "held"):
        own = [case for its, case in written if its == part]
        cases += [(part, case) for case in linked.resolve(own)]
    cases = [(part, case) for part, case in cases if not kinds or case.kind.split()[0] in kinds]
    docs = linked.run([case for _, case in cases])
    rows = []
    for (part, case), doc in zip(cases, show_progress(docs, len(cases), "texts"), strict=True):
        judged = [(p, judge(doc, p, exact=not case.given)) for p in case.places]
        if case.kind == "R1 lists":  # a list is right as a whole
            judged = [max(judged, key=lambda pair: (RIGHT, LOST, WRONG).index(pair[1].verdict))]
        for place, outcome in judged:
            rows.append(
                {
                    "kind": case.kind,
                    "part": part,
                    "way": case.way,
                    "verdict": outcome.verdict,
                    "text": case.text,
                    "place": case.text[place.start : place.end],
                    "said": outcome.said,
                }
            )
    return rows


def shares(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Give the shares of each kind and part, and of each of its ways."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    ways_of: dict[tuple[str, str], dict[str, Counter[str]]] = {}
    for row in rows:
        key = (row["kind"], row["part"])
        counts.setdefault(key, Counter())[row["verdict"]] += 1
        ways_of.setdefault(key, {}).setdefault(row["way"], Counter())[row["verdict"]] += 1
    return {
        f"{kind} {part}": {
            **_share(counts[kind, part]),
            "ways": {way: _share(its) for way, its in ways_of[kind, part].items()},
        }
        for kind, part in sorted(counts, key=lambda key: (int(re.findall(r"\d+", key[0])[0]), key))
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
    kinds = list(dict.fromkeys(kind for own in results.values() for kind in own["kinds"]))
    kinds.sort(key=lambda kind: (int(re.findall(r"\d+", kind)[0]), kind))
    lines = [
        "| kind | " + " | ".join(results) + " |",
        "|---|" + "---:|" * len(results),
    ]
    for kind in kinds:
        cells = [_cell(own["kinds"].get(kind)) for own in results.values()]
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(share: dict[str, Any] | None) -> str:
    if share is None:
        return ""
    low, high = share["right_interval"]
    return f"{share['right']:.1f} ({low:.0f}-{high:.0f}) / {share['wrong']:.1f}, n {share['n']:,}"


def show_failures(rows: list[dict[str, Any]], most: int, rng: random.Random) -> None:
    """Print places that are not right, as many of each kind and way."""
    rng.shuffle(rows)
    shown: Counter[tuple[str, str]] = Counter()
    for row in sorted(rows, key=lambda row: (row["kind"], row["part"], row["way"])):
        key = (row["kind"], row["way"])
        if row["verdict"] != RIGHT and shown[key] < most and row["part"] != "held":
            shown[key] += 1
            typer.echo(
                f"{row['kind']} {row['way']}: {row['verdict']} {row['place']!r} in "
                f"{row['text']!r}: {row['said']}"
            )


def main(
    assets: Annotated[list[str], typer.Argument(help='Directories of assets, or "starter".')],
    kinds: Annotated[str, typer.Option(help="Only these: R1,R3,notes.")] = "",
    lang: Annotated[str, typer.Option(help="Languages: en,es.")] = "en",
    most: Annotated[int, typer.Option(help="Cases of a way of writing.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Of the drawing of names.")] = 0,
    failures: Annotated[int, typer.Option(help="Print this many of each way.")] = 0,
    output: Annotated[Path, typer.Option(help="JSON; a table goes beside it.")] = Path(
        "benchmarks/results/reading.json"
    ),
) -> None:
    """Measure how well notes are read."""
    wanted = set(kinds.split(",")) - {""}
    results: dict[str, dict[str, Any]] = {}
    for own_lang in lang.split(","):
        for one in assets:
            linked = Linked(one, own_lang)
            own = wanted or (set() if own_lang == "en" else {*_EVERYWHERE, "notes"})
            rows = measure(linked, own, most, seed)
            if not rows:
                continue
            notes = (
                measure_notes(linked, list(read_notes(own_lang)))
                if not own or "notes" in own
                else {}
            )
            results[f"{Path(one).name} {own_lang}"] = {"kinds": shares(rows), "notes": notes}
            if failures:
                show_failures(rows, failures, random.Random(seed))
    text = "\n".join(
        [
            "# Reading: what a note says is what is linked",
            "",
            "Share right in per cent (95 % interval) / share wrong, and places tried. `made`: made "
            "of names; `dev`, `held`: written by hand, two thirds and one third of each kind.",
            "",
            table(results),
            "",
            notes_table({name: own["notes"] for name, own in results.items() if own["notes"]}),
        ]
    )
    write_results(
        output, {"most": most, "seed": seed, "results": results, "machine": machine()}, text
    )


if __name__ == "__main__":
    typer.run(main)

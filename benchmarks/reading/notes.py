"""Links of whole notes against their gold, and what is said of them."""

from collections import Counter
from typing import Any

from benchmarks.reading.cases import Case
from benchmarks.reading.linked import RIGHT, WRONG, Linked, judge

OUTSIDE = "outside"  # a link that touches no gold
_BINS = (0.0, 0.75, 0.8, 0.85, 0.9, 0.95)


def measure_notes(linked: Linked, notes: list[Case]) -> dict[str, Any]:
    """Judge the links and the gold of notes.

    RETURNS: `links`, right, wrong and outside; `gold` that the names have, and right of it;
    `absent`, gold and found and both; `bins`, right and all by the lowest probability of a bin;
    `places`, what is not right of each note.
    """
    counts: Counter[str] = Counter()
    bins: Counter[tuple[float, str]] = Counter()
    failures: dict[str, list[str]] = {}
    notes = linked.resolve(notes)
    for note, doc in zip(notes, linked.run(notes), strict=True):
        failed = failures.setdefault(note.way, [])
        for place in note.places:
            outcome = judge(doc, place._replace(said=()), exact=False)
            counts["gold"] += bool(place.ids)
            counts["gold right"] += bool(place.ids) and outcome.verdict == RIGHT
            if outcome.verdict != RIGHT:
                failed.append(
                    f"{outcome.verdict}: {note.text[place.start : place.end]!r}: {outcome.said}"
                )
        for ent in doc.ents:
            if ent.kb_id_ in ("", "NIL"):
                continue
            own = [p for p in note.places if p.start < ent.end_char and ent.start_char < p.end]
            right = any(ent.kb_id_ in place.ids for place in own)
            verdict = RIGHT if right else WRONG if any(p.ids for p in own) else OUTSIDE
            counts[verdict] += 1
            if verdict == OUTSIDE:
                failed.append(f"outside: {ent.text!r} as {ent._.candidates[0]['name']!r}")
            lowest = max(x for x in _BINS if x <= ent._.candidates[0]["prob"])
            bins[lowest, RIGHT if right else WRONG] += 1
            if right:
                absent = any("absent" in said for place in own for said in place.said)
                counts["absent gold"] += absent
                counts["absent found"] += ent._.is_negated
                counts["absent both"] += absent and ent._.is_negated
    return {
        "counts": dict(counts),
        "bins": {f"{x:.2f}": [bins[x, RIGHT], bins[x, WRONG]] for x in _BINS},
        "places": failures,
    }


def notes_table(results: dict[str, Any]) -> str:
    """Write what was measured in notes as a table."""
    lines = [
        "| notes | links | right | wrong | outside | gold | recall | negation P | R |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, result in results.items():
        counts = Counter(result["counts"])
        links = counts[RIGHT] + counts[WRONG] + counts[OUTSIDE]
        cells = (
            links,
            *(_share(counts[verdict], links) for verdict in (RIGHT, WRONG, OUTSIDE)),
            counts["gold"],
            _share(counts["gold right"], counts["gold"]),
            _share(counts["absent both"], counts["absent found"]),
            _share(counts["absent both"], counts["absent gold"]),
        )
        lines.append(f"| {name} | " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) if results else ""


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"

"""Links of whole notes against their gold, and what is said of them."""

from collections import Counter
from typing import Any

from benchmarks.measured import as_table
from benchmarks.reading.cases import Case
from benchmarks.reading.linked import RIGHT, WRONG, Linked, Row, judge, links_of

OUTSIDE = "outside"  # a link that touches no gold
_BINS = (0.0, 0.75, 0.8, 0.85, 0.9, 0.95)


def measure_notes(linked: Linked, notes: list[Case]) -> tuple[dict[str, Any], list[Row]]:
    """Judge the links and the gold of notes.

    RETURNS: figures, and what is not right. `counts` has links that are right, wrong and outside;
    the gold that the names have, and what of it is right; absent mentions in the gold, found, and
    both. `bins` (R14) has right and other links by the lowest probability of a bin.
    """
    counts: Counter[str] = Counter()
    bins: Counter[tuple[float, str]] = Counter()
    failures = []
    notes = linked.resolve(notes)
    for note, doc in zip(notes, linked.run(notes), strict=True):
        for place in note.places:
            verdict, linked_as = judge(doc, place._replace(said=()), exact=False)
            counts["gold"] += place.needed
            counts["gold right"] += place.needed and verdict == RIGHT
            if place.needed and verdict != RIGHT:
                text = note.text[place.start : place.end]
                failures.append(Row("notes", linked.lang, note.way, verdict, "", text, linked_as))
        for ent in links_of(doc.ents):
            touched = [p for p in note.places if p.start < ent.end_char and ent.start_char < p.end]
            right = any(ent.kb_id_ in place.ids for place in touched)
            verdict = RIGHT if right else WRONG if touched else OUTSIDE
            best = ent._.candidates[0]
            counts[verdict] += 1
            bins[max(x for x in _BINS if x <= best["prob"]), RIGHT if right else WRONG] += 1
            if verdict == OUTSIDE:
                own_row = Row("notes", linked.lang, note.way, verdict, "", ent.text, best["name"])
                failures.append(own_row)
            absent = any("absent" in linked_as for place in touched for linked_as in place.said)
            counts["absent gold"] += right and absent
            counts["absent found"] += right and ent._.is_negated
            counts["absent both"] += right and absent and ent._.is_negated
    shown = {f"{x:.2f}": [bins[x, RIGHT], bins[x, WRONG]] for x in _BINS}
    return {"counts": dict(counts), "bins": shown}, failures


def notes_table(results: dict[str, Any]) -> str:
    """Write what was measured in notes as a table."""
    rows = [
        {"notes": name, **_cells(Counter(result["notes"]["counts"]))}
        for name, result in results.items()
        if result["notes"]
    ]
    return as_table(rows) if rows else ""


def _cells(counts: Counter[str]) -> dict[str, object]:
    links = counts[RIGHT] + counts[WRONG] + counts[OUTSIDE]
    return {
        "links": links,
        **{verdict: _share(counts[verdict], links) for verdict in (RIGHT, WRONG, OUTSIDE)},
        "gold": counts["gold"],
        "recall": _share(counts["gold right"], counts["gold"]),
        "negation P": _share(counts["absent both"], counts["absent found"]),
        "negation R": _share(counts["absent both"], counts["absent gold"]),
    }


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"

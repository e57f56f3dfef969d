"""What the command line says of builds, and of lines without effect."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..types import Data, Facts
from .output import table

if TYPE_CHECKING:
    from ..assets import Assets
    from ..kb.from_sources import Built
    from ..kb.rules import NoEffect
    from ..types import BadLine


_BAD_LINES_SHOWN = 10
_LABELS_SHOWN = 12
_VOCABULARIES_SHOWN = 60  # all, of an ontology


def build_report(assets: "Assets") -> str:
    """Lay out what a build has made, and what was chosen and measured in it."""
    manifest = assets.manifest
    rows = [
        (
            tier,
            f"weight {assets.weights.get(tier, 0):.3f}",
            f"{assets.size_of([tier]) / 1e6:,.1f} MB",
        )
        for tier in assets.tiers
    ]
    return "\n".join(
        [
            *_reused(manifest["update"]),
            f"{assets.path}: {manifest['kb']['concepts']:,} concepts, "
            f"{manifest['kb']['names']:,} names",
            table(rows),
            *_encoded(manifest["encoder"]),
            *_index(manifest["index"]),
            *_remembered(manifest["memory"]),
            *_ranked(manifest.get("ranker")),
            *_calibrated(manifest.get("calibrator")),
            f"{assets.size / 1e6:,.1f} MB in all",
        ]
    )


def _encoded(encoder: Data | None) -> list[str]:
    """Report the device that made the vectors, and how."""
    if encoder is None:
        return []
    made = f"encoder {encoder['source']}, on {encoder['device']}, pooling {encoder['pooling']}"
    return [made, *_exported(encoder)]


def _exported(encoder: Data) -> list[str]:
    """Report the runtime of the encoder, and its differences from torch."""
    if (runtime := encoder.get("runtime")) is None:
        return []
    speeds = ", ".join(
        f"{precision} {speed:,}" for precision, speed in runtime["names_per_second"].items()
    )
    return [
        f"runtime {runtime['name']}, {runtime['precision']}: {runtime['changed']:.1%} of "
        f"{runtime['examples']:,} examples have another first candidate than with torch, least "
        f"cosine {runtime['least_cosine']:.4f}; names a second: {speeds}",
        *(
            f"  {precision} is left out: {problem}"
            for precision, problem in runtime["left_out"].items()
        ),
    ]


def _ranked(ranker: Facts | None) -> list[str]:
    """Report what the ranker changes."""
    if ranker is None:
        return []
    before, after = (100 * ranker[part]["acc@1"] for part in ("retrieval", "ranked"))
    on = "examples made of names"
    if "mentions" in ranker:
        on = f"{ranker['mentions']:,} mentions that the memory does not know"
    return [f"ranker: acc@1 {before:.1f} to {after:.1f} on {on}"]


def _calibrated(calibrator: Data | None) -> list[str]:
    """Report the threshold, the probability from which mentions are linked."""
    if calibrator is None:
        return ["no calibrator: every mention is linked"]
    on = calibrator["fitted_on"].get("file", "examples made of names")
    expected = calibrator.get("expected", {})
    shares = (f"{what} {100 * expected.get(what, 0):.1f}" for what in ("precision", "coverage"))
    return [
        f"threshold: links need a probability of {calibrator['threshold']:.3f}, fitted to {on}; "
        f"expected there: {', '.join(shares)}",
        *links_report(calibrator.get("links")),
    ]


def links_report(links: Mapping[str, Mapping[str, int]] | None, of: str = "examples") -> list[str]:
    """Report what becomes of mentions at the threshold before and after a fit.

    links (Optional[Mapping]): "before" and "after", each with "right", "wrong" and "nil".
    of (str): what is counted.
    """
    if links is None:
        return []
    before, after = links["before"], links["after"]
    changes = (
        f"{name} {before[key]:,} to {after[key]:,}"
        for name, key in (("right", "right"), ("wrong", "wrong"), ("NIL", "nil"))
    )
    count = sum(after.values())
    return [f"links: {', '.join(changes)} of {count:,} {of} (before to after the fit)"]


def _index(index: Data | None) -> list[str]:
    """Report the recall of an index that is not exhaustive."""
    if index is None or "recall" not in index:
        return []
    recall = index["recall"]
    return [
        f"index {index['spec']}: finds {100 * recall['recall@1']:.1f} % of the nearest names, "
        f"{100 * recall['recall@25']:.1f} % of the 25 nearest"
    ]


def _reused(update: Data | None) -> list[str]:
    """Report the parts of the earlier assets that an update used."""
    if update is None:
        return []
    if update["why_not"]:
        return [f"{update['name']}: nothing could be reused, since {update['why_not']}"]
    return [f"{update['name']}: {update['reused']:,} names reused, {update['encoded']:,} encoded"]


def effect_report(what: str, no_effect: "NoEffect") -> Iterator[str]:
    """Report which lines had no effect and why, a line for each reason.

    what (str): the name of the file, or of the kind of lines.
    """
    for reason, lines_of in no_effect.items():
        count, lines = lines_of["count"], lines_of["lines"]
        numbers = ", ".join(map(str, lines)) + (", ..." if count > len(lines) else "")
        yield f"{what}: {count:,} without effect, {reason} (line {numbers})"


def _remembered(memory: Facts | None) -> Iterator[str]:
    """Report the size of the memory, and mentions that had no effect."""
    if memory is None:
        return
    nil = memory.get("nil", 0)
    none = f"{nil:,} of them no concept; " if nil else ""
    yield (
        f"memory: {memory['mentions']:,} mentions, {none}{memory['conflicts']:,} of them disputed; "
        f"{memory['not_in_kb']:,} have no concept here"
    )
    for source in memory["sources"]:
        yield from effect_report(source["name"], source.get("no_effect", {}))


def curation_report(name: str, curation: Facts) -> Iterable[str]:
    """Report the rules that changed nothing.

    name (str): of the file. curation (Mapping): "curation" of the manifest of a knowledge base.
    """
    rules = curation["rules"]
    used = sum(rule["applied"] > 0 for rule in rules)
    yield f"{name}: {len(rules):,} rules, {used:,} of them changed something"
    yield from effect_report(name, curation["no_effect"])
    for id in curation["emptied"]:
        yield f"{name}: {id} has lost its last name and is left out"


def summary(built: "Built") -> str:
    """Lay out the counts of a build, without zeros except for the most important counts."""
    from ..kb.vocabularies import is_known

    kb, report = built.kb, built.report
    codes = kb.count_codes()
    unknown = {name: count for name, count in codes.items() if name != "URL" and not is_known(name)}
    rows: list[tuple[str, object]] = [
        ("knowledge base", str(kb.path)),
        ("concepts", report.concepts),
        ("names", report.names),
        ("retired ids", report.retired),
        ("united pieces", report.merged),
        ("without names", report.without_names),
        ("parents not found", report.missing_parents),
        ("skipped lines", len(report.bad_lines)),
        ("languages", counted(report.by_lang)),
        ("vocabularies", counted(report.by_source)),
        ("codes", counted(codes)),
        ("unknown vocabularies", counted(unknown, _VOCABULARIES_SHOWN)),
        ("relations", counted(report.by_relation)),
        (
            "mappings used",
            ", ".join(
                f"{maps['name']} {maps['used']:,} of {maps['lines']:,}"
                for maps in kb.manifest.get("maps", ())
            ),
        ),
        ("left out", counted(built.removed)),
        ("ids of the one before", counted(kb.manifest.get("updated_from", {}).get("ids", {}))),
    ]
    always = {"concepts", "names", "skipped lines"}
    return table([(name, _number(value)) for name, value in rows if value or name in always])


def bad_line_report(bad_lines: "Sequence[BadLine]") -> Iterator[str]:
    """Report which lines were skipped and why, the first ten lines only."""
    for bad in bad_lines[:_BAD_LINES_SHOWN]:
        yield f"skipped {bad.path}, line {bad.line}: {bad.problem}"
    if len(bad_lines) > _BAD_LINES_SHOWN:
        yield f"... and {len(bad_lines) - _BAD_LINES_SHOWN:,} more lines"


def counted(counts: Mapping[str, int], most: int = _LABELS_SHOWN) -> str:
    """Write counts in a line, highest first: "en 41,498, de 12"."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{name or '(none)'} {count:,}" for name, count in ordered[:most]]
    more = len(ordered) - len(shown)
    return ", ".join([*shown, f"{more:,} more"] if more > 0 else shown)


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)

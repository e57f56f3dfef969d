"""Settings of an evaluation, of which `medlink evaluate` makes its options."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from ..retrieval.tier import known_tiers
from ..util import setting_types as types
from ..util.setting_types import flag, one_of, option, setting, whole

DICTIONARY = "dictionary"  # in place of a file of training mentions


def _depths(values: Sequence[int | str]) -> tuple[int, ...]:
    """Sort depths, lowest first. RAISES (ValueError): for anything but whole numbers from 1."""
    texts = list(map(str, values))
    if not texts or not all(text.isascii() and text.isdigit() and int(text) for text in texts):
        problem = f"{','.join(texts)!r} is not a list of whole numbers from 1, such as 1,5,25."
        raise ValueError(problem)
    return tuple(sorted({int(text) for text in texts}))


def _one_file(values: list[str]) -> list[str]:
    if len({*values} - {DICTIONARY}) > 1:
        raise ValueError("one file, and dictionary")
    return values


class Settings(types.Options):
    """The settings of an evaluation."""

    ks: Annotated[tuple[int, ...], BeforeValidator(_depths)] = option(
        (1, 5), "Depths of accuracy.", "--k"
    )
    tiers: tuple[Annotated[str, one_of(known_tiers)], ...] = option(
        (), "Use these tiers only: exact,ngram,dense."
    )
    each_tier: bool = option(False, "Also measure each tier alone.", "--all-tiers")
    protocol: Annotated[str, one_of(lambda: ("concepts", "names", "entries"))] = option(
        "concepts", "What a rank counts: concepts, or, as in the papers, names or entries."
    )
    composites: Annotated[str, one_of(lambda: ("any", "biosyn"))] = option(
        "any",
        "Mentions of several concepts: any (one of them is enough), or biosyn (each part must be "
        "right).",
    )
    resolve_identifiers: bool = option(
        True, "Use identifiers that documents have beside their mentions.", "--identifiers"
    )
    train: Annotated[list[str], types.Listed, AfterValidator(_one_file)] = option(
        [],
        "Training mentions: also measure without the mentions and codes that occur in them. "
        "`--train dictionary` means the names of the knowledge base.",
        metavar="FILE",
    )
    gold_scheme: str = option(
        "",
        "The gold ids are codes of this vocabulary, which the knowledge base maps.",
        metavar="VOCABULARY",
    )
    only_known: bool = option(
        False,
        "Leave out mentions whose concept is not in the knowledge base. By default they count as "
        "wrong.",
    )
    threshold: float | None = option(
        None, "Links with a lower probability become NIL.", least=0, most=1
    )
    baselines: bool = option(True, "Also measure exact look-up and n-grams, for comparison.")
    against: Path | None = option(
        None, "Metrics of another system, to test the difference.", metavar="FILE"
    )
    end_to_end: bool = option(
        False, "Find mentions in the raw text instead of using those of GOLD."
    )
    strict: bool = option(
        False,
        "Stop if a mention differs from the text at its offsets, or if two documents have the same "
        "id.",
    )
    with_text: bool = option(
        False,
        "Keep mentions and their context in the metrics, for the error browser of `medlink "
        "report`. The text may be private.",
    )
    resolve_abbreviations: bool = flag(True, "use the definitions of abbreviations in a document")
    lexicon: str | None = setting(
        "clinical", types.TEXT_RULE, "for undefined abbreviations, as that of `medical_linker`"
    )
    keep: int = whole(5, 0, types.MOST, "candidates of each mention in the metrics")

    @property
    def train_file(self) -> Path | None:
        """The file of training mentions."""
        return next((Path(name) for name in self.train if name != DICTIONARY), None)

"""Corrections: gold mentions that act at once, as rules of an overlay."""

from pathlib import Path

from ..errors import Errors, MedlinkError
from ..evaluation.gold_set import GoldSet
from ..kb.gold import read_gold
from ..kb.rules import MEANS, Rule, Rules, read_rules
from ..util.json_text import read_json

_KEYS = frozenset(("mention", "mentions"))


def read_overlay(path: Path) -> Rules:
    """Read a file of rules, or the mentions of a gold file as rules.

    For an abbreviation that its document defines, the long form is meant.
    RAISES (MedlinkError): E107, E105 as `read_rules`, E401 as `read_gold`.
    """
    if not (path.is_file() and is_gold(path)):
        return read_rules(path)
    try:
        documents = list(read_gold(path))
    except MedlinkError as error:
        if error.code != Errors.no_gold(path=path).code:
            raise
        documents = []
    rules = []
    for case in GoldSet(path, documents, {}).cases():
        text = " ".join((case.mention.long_form or case.gold.text).split())
        id, *others = case.gold.ids or ("",)
        rule = Rule(case.line, MEANS, text, id, case.lang, case.gold.type, tuple(others))
        rules.append(rule)
    return Rules(rules)


def is_gold(path: Path) -> bool:
    """Tell a gold file from one of rules, by its first line that is not empty.

    RAISES (OSError): when it cannot be read.
    """
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        first = next((line for line in file if line.strip()), "")
    try:
        data = read_json(first)
    except ValueError:
        return False
    return isinstance(data, dict) and not _KEYS.isdisjoint(data)

"""How a paper measures: a file of training/papers/layouts, one a paper."""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from thinc.api import Config

from spacy_medlink.errors import Errors
from spacy_medlink.evaluation import Settings
from spacy_medlink.evaluation.settings import COMPOSITES, DICTIONARY, PROTOCOLS

from .published import papers

_SECTION = "table"


@dataclass(frozen=True)
class Layout:
    """How a paper's table is made.

    paper (str): as published.tsv names it. title, note (str): of the table; the note says where the
        published figures and ours cannot be the same.
    ks (List[int]): depths. protocol, composites (str): as of `medlink evaluate`.
    pooling (str): of encoders that do not say their own.
    dictionary (bool): filter by the dictionary's names, too.
    by (str): a group that has a column of its own each, such as "lang"; "" for the parts.
    """

    paper: str
    title: str
    note: str = ""
    ks: tuple[int, ...] = (1, 5)
    protocol: str = "names"
    composites: str = "any"
    pooling: str = "cls"
    dictionary: bool = False
    by: str = ""

    def settings(self, train: str, tiers: tuple[str, ...], baselines: bool) -> Settings:
        """Make the settings of one evaluation.

        train (str): file of training mentions, "" for none.
        """
        return Settings(
            ks=self.ks,
            tiers=tiers,
            protocol=self.protocol,
            composites=self.composites,
            train=train,
            reference=DICTIONARY if self.dictionary else "",
            baselines=baselines,
        )

    def with_changes(self, pooling: str, note: str) -> "Layout":
        """Take another pooling, "" for the same, and say more under the table.

        RAISES (MedlinkError): E502 for a pooling that there is not.
        """
        if pooling:
            _check("pooling", pooling, {"pooling"})
        whole = " ".join(one for one in (self.note, note) if one)
        return replace(self, pooling=pooling or self.pooling, note=whole)


def read_layout(path: Path) -> Layout:
    """Read a layout.

    RAISES (MedlinkError): E107 without the file, E502 for a value that cannot be.
    """
    if not path.is_file():
        raise Errors.source_missing(path=path)
    try:
        given: dict[str, Any] = dict(Config().from_disk(path).get(_SECTION, {}))
    except ValueError as error:
        raise Errors.bad_value(
            key=path.name, value="", rule=f"it must be a config ({error})"
        ) from error
    known = {field.name for field in fields(Layout)}
    for key, value in given.items():
        _check(key, value, known)
    for key in ("paper", "title"):
        if key not in given:
            raise Errors.bad_value(key=f"{_SECTION}.{key}", value="", rule="it must be there")
    return Layout(**{**given, **({"ks": tuple(given["ks"])} if "ks" in given else {})})


def _check(key: str, value: Any, known: set[str]) -> None:
    allowed: dict[str, Any] = {
        "protocol": PROTOCOLS,
        "composites": COMPOSITES,
        "pooling": ("cls", "mean"),
        "paper": papers(),
    }
    if key not in known:
        rule = f"only {', '.join(sorted(known))} may be there"
        raise Errors.bad_value(key=f"{_SECTION}.{key}", value=value, rule=rule)
    if key in allowed and value not in allowed[key]:
        rule = f"it must be one of {', '.join(allowed[key])}"
        raise Errors.bad_value(key=f"{_SECTION}.{key}", value=value, rule=rule)
    if key == "ks" and not (value and all(isinstance(k, int) and k > 0 for k in value)):
        rule = "it must list depths from 1 on"
        raise Errors.bad_value(key=f"{_SECTION}.{key}", value=value, rule=rule)

"""The settings of `medical_mentions`: names, types, limits, defaults and what they mean."""

from typing import Annotated, Literal

from ...util.setting_types import (
    LIST_RULE,
    PATH_RULE,
    TEXT_RULE,
    Listed,
    Place,
    Settings,
    Text,
    Texts,
    flag,
    setting,
)
from ..names import LINKER

LABEL = "CONCEPT"
GROUP, TYPE = LABELLINGS = ("group", "type")  # labels of mentions: what their concepts are
COMMON, GENERAL, AMBIGUOUS, HEADINGS, FOREIGN, PARTS = LEAVE_OUT = (
    "common", "general", "ambiguous", "headings", "foreign", "parts",
)  # fmt: skip


class MentionSettings(Settings):
    """The settings of `medical_mentions`."""

    assets: Place | None = setting(
        None, PATH_RULE, "as for `medical_linker`; null for the built-in starter"
    )
    label: Text = setting(
        LABEL,
        TEXT_RULE,
        'label of the mentions; "group" or "type" for the semantic group (UMLS: DISO, CHEM) or the '
        f"type of their concept, and {LABEL} if it has none",
    )
    spans_key: Text | None = setting(
        None,
        TEXT_RULE,
        "write `doc.spans[spans_key]` instead of `doc.ents`, with overlapping mentions. If the "
        "linker has a hierarchy, a mention within a longer one is kept only if the longer one is a "
        'kind of it: "colitis" in "ulcerative colitis", but no "nevus" in "basal cell nevus"',
    )
    annotate_ents: bool = flag(
        False, "with `spans_key`, also write `doc.ents`: those that say most, without overlap"
    )
    overwrite: bool = flag(False, "replace existing entities that overlap with a mention")
    types: Texts | None = setting(
        None, LIST_RULE, "find only names of concepts of these types or semantic groups"
    )
    languages: Texts | None = setting(None, LIST_RULE, "find only names in these languages")
    within: Text | None = setting(
        None,
        TEXT_RULE,
        "find only names of concepts of this part of the hierarchy, as for `medical_linker`. "
        '"<< HP:0000118" finds phenotypic abnormalities, and no modifiers like "severe"',
    )
    stop: Texts | None = setting(
        None, LIST_RULE, "texts that are never mentions, in any inflection"
    )
    linker: Text | None = setting(
        LINKER,
        TEXT_RULE,
        "name of a linker with the same assets; the default stands for the only linker, whatever "
        "its name. Only names that pass its filters are found, unless it has "
        "`force_within_filter`. `types`, `languages` and `within` of this component override its "
        'own ([] and "" find all). Short forms of its lexicon are found, too, if their meaning is '
        "a name. null: no linker",
    )
    leave_out: Annotated[
        list[Literal["common", "general", "ambiguous", "headings", "foreign", "parts"]], Listed
    ] = setting(
        [*LEAVE_OUT],
        f"must be a list of some of {', '.join(LEAVE_OUT)}",
        'names that are no mentions. "common": ordinary words ("new", "shows"; lists for en, es, '
        'de and fr). "general": single words of concepts without a type of clinical interest '
        '(UMLS: "Spain", "Monday"), unless you ask for types or a part of the hierarchy. '
        '"ambiguous": single words that are names of more than 6 concepts. "headings": headings of '
        'sections ("ONCOLOGY", "Family history:"). "foreign": names in other languages than the '
        'pipeline\'s, unless `languages` is set or the pipeline is "xx". "parts": names that are '
        'only part of a phrase ("fever" in "yellow fever", "stroke" in "stroke unit"), or of a '
        'person or a place ("Dr. Graves"); in `doc.ents`, "bone pain" as a whole is a mention of '
        "pain",
    )


DEFAULT_CONFIG = MentionSettings.defaults()

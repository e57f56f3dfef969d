"""The settings of `medical_mentions`: names, types, limits, defaults and what they mean."""

from typing import Annotated, Literal

from ...util.setting_types import (
    LIST_RULE,
    MOST,
    PATH_RULE,
    TEXT_RULE,
    Listed,
    Place,
    Settings,
    Text,
    Texts,
    flag,
    setting,
    whole,
)

_TOKENS = 64  # of a match; the runs that are looked up grow with it, and no name has more words
COMMON, GENERAL, AMBIGUOUS, HEADINGS, FOREIGN, PARTS = LEAVE_OUT = (
    "common", "general", "ambiguous", "headings", "foreign", "parts",
)  # fmt: skip


class MentionSettings(Settings):
    """The settings of `medical_mentions`."""

    assets: Place | None = setting(
        None, PATH_RULE, "as for `medical_linker`; null for the built-in starter"
    )
    label: Text = setting("CONCEPT", TEXT_RULE, "label of the entities")
    label_by: Literal["group", "type"] | None = setting(
        None,
        "must be one of group, type, or null",
        'label entities by what their concept is instead: its semantic "group" (UMLS: DISO, CHEM) '
        'or its "type"; `label` is left to those that have none',
    )
    max_tokens: int = whole(8, 1, _TOKENS, "longest match, punctuation not counted")
    spans_key: Text | None = setting(
        None, TEXT_RULE, "write `doc.spans[spans_key]` (overlaps kept) instead of `doc.ents`"
    )
    overwrite: bool = flag(
        False, "drop existing entities that overlap with a match, instead of keeping them"
    )
    types: Texts | None = setting(
        None, LIST_RULE, "find only names of concepts of these types or semantic groups"
    )
    languages: Texts | None = setting(None, LIST_RULE, "find only names of these languages")
    deny: Texts | None = setting(None, LIST_RULE, "find no names of concepts with these ids")
    branches: Texts | None = setting(
        None,
        LIST_RULE,
        "find only names of concepts at or below these ids; such as "
        '["HP:0000118"], phenotypic abnormalities, since modifiers like "severe" are concepts too',
    )
    within: Text | None = setting(
        None,
        TEXT_RULE,
        "find only names of concepts of this part of the hierarchy, as for `medical_linker`",
    )
    stop: Texts | None = setting(
        None, LIST_RULE, "texts that are never mentions, however they are inflected"
    )
    max_concepts: int | None = whole(
        None,
        1,
        MOST,
        "leave out what is a name of more concepts than these, which says little: 1 "
        'leaves out all that is ambiguous; null: see "ambiguous" of `leave_out`',
    )
    any_order: bool = flag(
        False,
        "find names by their words in any order, too, and by words that say the same, as synonyms "
        'of the terminology show: "malformations of the kidney", "renal malformation" for "kidney '
        'malformation"',
    )
    coordinated: bool = flag(
        False,
        'find names that a coordination stands for: "palmar and plantar pits" is both '
        '"palmar pits", which `span._.reading` says and the linker links, and "plantar pits". In '
        "`doc.ents`, where they would overlap, only the latter",
    )
    nested: bool | Literal["kinds"] = setting(
        True,
        'must be true, false or "kinds"',
        'in `doc.spans`, keep what lies within a longer match; "kinds" keeps what the longer one '
        'is a kind of and ends with, by the hierarchy of the linker: "colitis" in "ulcerative '
        'colitis", not "nevus" in "basal cell nevus"',
    )
    linker: Text = setting(
        "medical_linker",
        TEXT_RULE,
        "name of the linker that is asked; it must have the same "
        "assets. The short forms of its lexicon are found, too, where what they mean is a name",
    )
    linker_filters: bool = flag(
        True,
        "find only what the filters of that linker let pass, as they are when a text is "
        "read, unless it has `force_within_filter` or other assets. `types`, `languages` and "
        '`within` of this component take the place of the linker\'s; [] and "" take all',
    )
    leave_out: Annotated[
        list[Literal["common", "general", "ambiguous", "headings", "foreign", "parts"]], Listed
    ] = setting(
        [*LEAVE_OUT],
        f"must be a list of some of {', '.join(LEAVE_OUT)}",
        'what is no mention, though a name. "common": words of general language ("new", "shows"; '
        'en, es, de and fr have lists). "general": single words of concepts without a type of '
        'clinical interest (UMLS: "Spain", "Monday"), where no types, branches or ids are asked '
        'for. "ambiguous": single words that are names of more than 6 concepts. "headings": '
        'headings of sections ("ONCOLOGY", "Family history:"). "foreign": names in other languages '
        'than the pipeline\'s, where `languages` are not given and it is not "xx". '
        '"parts": names that are only a part of a phrase, as "fever" in "yellow fever", "stroke" '
        'in "stroke unit", or of a person or a place ("Dr. Graves"); in `doc.ents`, "bone pain" is '
        "a mention of pain as a whole",
    )


DEFAULT_CONFIG = MentionSettings.defaults()

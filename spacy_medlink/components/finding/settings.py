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
        'label of the mentions; "group" or "type": what their concept is, its semantic group '
        f"(UMLS: DISO, CHEM) or its type, and {LABEL} where it has none",
    )
    spans_key: Text | None = setting(
        None,
        TEXT_RULE,
        "write `doc.spans[spans_key]` instead of `doc.ents`: all mentions, also those that share "
        "words. By the hierarchy of the linker, where there is one, of what lies in a longer "
        'mention only what this is a kind of: "colitis" in "ulcerative colitis", but no "nevus" '
        'in "basal cell nevus"',
    )
    annotate_ents: bool = flag(
        False, "with `spans_key`, write `doc.ents`, too: those that say most, without overlap"
    )
    overwrite: bool = flag(
        False, "drop existing entities that overlap with a mention, instead of keeping them"
    )
    types: Texts | None = setting(
        None, LIST_RULE, "find only names of concepts of these types or semantic groups"
    )
    languages: Texts | None = setting(None, LIST_RULE, "find only names of these languages")
    within: Text | None = setting(
        None,
        TEXT_RULE,
        "find only names of concepts of this part of the hierarchy, as for `medical_linker`; such "
        'as "<< HP:0000118", phenotypic abnormalities: modifiers like "severe" are concepts, too',
    )
    stop: Texts | None = setting(
        None, LIST_RULE, "texts that are never mentions, however they are inflected"
    )
    linker: Text | None = setting(
        LINKER,
        TEXT_RULE,
        "name of a linker with the same assets; the default stands for the only linker, whatever "
        "its name. Only what its filters let pass is found, as they are when a text is read, "
        "unless it has `force_within_filter`; `types`, `languages` and "
        '`within` of this component take the place of its own ([] and "" take all). The short '
        "forms of its lexicon are found, too, where what they mean is a name. null: none is asked",
    )
    leave_out: Annotated[
        list[Literal["common", "general", "ambiguous", "headings", "foreign", "parts"]], Listed
    ] = setting(
        [*LEAVE_OUT],
        f"must be a list of some of {', '.join(LEAVE_OUT)}",
        'what is no mention, though a name. "common": words of general language ("new", "shows"; '
        'en, es, de and fr have lists). "general": single words of concepts without a type of '
        'clinical interest (UMLS: "Spain", "Monday"), where no types or branches are asked '
        'for. "ambiguous": single words that are names of more than 6 concepts. "headings": '
        'headings of sections ("ONCOLOGY", "Family history:"). "foreign": names in other languages '
        'than the pipeline\'s, where `languages` are not given and it is not "xx". '
        '"parts": names that are only a part of a phrase, as "fever" in "yellow fever", "stroke" '
        'in "stroke unit", or of a person or a place ("Dr. Graves"); in `doc.ents`, "bone pain" is '
        "a mention of pain as a whole",
    )


DEFAULT_CONFIG = MentionSettings.defaults()

"""What the settings of `medical_mentions` may be."""

from typing import Literal

from ...util.setting_types import (
    LIST_RULE,
    PATH_RULE,
    TEXT_RULE,
    Limits,
    Place,
    Text,
    Texts,
    rule,
    share,
    whole,
)

_TOKENS = 64  # of a match; the runs that are looked up grow with it, and no name has more words
_FLAG = "must be true or false"


class MentionLimits(Limits):
    """Limits of the settings of MedicalMentions, which says what they mean."""

    assets: Place | None = rule(PATH_RULE)
    label: Text = rule(TEXT_RULE)
    label_by: Literal["group", "type"] | None = rule("must be one of group, type, or null")
    max_tokens: int = whole(1, _TOKENS)
    spans_key: Text | None = rule(TEXT_RULE)
    overwrite: bool = rule(_FLAG)
    types: Texts | None = rule(LIST_RULE)
    languages: Texts | None = rule(LIST_RULE)
    deny: Texts | None = rule(LIST_RULE)
    branches: Texts | None = rule(LIST_RULE)
    stop: Texts | None = rule(LIST_RULE)
    max_concepts: int | None = whole(1)
    any_order: bool = rule(_FLAG)
    coordinated: bool = rule(_FLAG)
    nested: bool = rule(_FLAG)
    propose: float | None = share()
    linker: Text = rule(TEXT_RULE)
    linker_filters: bool = rule(_FLAG)
    leave_out: Texts = rule(LIST_RULE)

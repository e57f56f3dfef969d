"""The settings of `medical_linker`: names, types, limits, defaults and what they mean."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator
from thinc.api import Model

from ...encoders.objectives.registered import BatchChoice
from ...errors import Errors
from ...retrieval.tier import known_tiers
from ...util.setting_types import (
    LIST_RULE,
    MOST,
    PATH_RULE,
    TEXT_RULE,
    Place,
    Settings,
    Text,
    TextLists,
    Texts,
    flag,
    setting,
    share,
    whole,
)

if TYPE_CHECKING:  # imported when something is linked: spaCy imports this with every `spacy.blank`
    from ...retrieval.filters import Filter

Network = Model[Any, Any]
_CANDIDATES = 10_000  # of a mention; memory and time grow with it
_MODEL = "must be a model of an architecture, or null"
_LABELS = "must be lists of types by label, in characters that can be written, or null"


def _or_none(value: str | None) -> str | None:
    return value or None


def _keys(value: str | list[str]) -> str | list[str]:
    if isinstance(value, list) and (not value or len(set(value)) < len(value)):
        raise ValueError("no keys, or the same twice")
    return value


ALLOW_RULE = "must be a list of one id or more, or null for all concepts"


def _some(value: list[str]) -> list[str]:
    if not value:
        raise ValueError("none")
    return value


def _tiers(value: list[str]) -> list[str]:
    if not value or set(value).difference(known_tiers()):
        raise ValueError("none, or an unknown one")
    return value


def _fusion(value: object) -> object:
    if value is not None and not (callable(value) and hasattr(value, "with_weights")):
        raise ValueError("no fusion")
    return value


class LinkerSettings(Settings):
    """The settings of `medical_linker`."""

    assets: Place | None = setting(
        None,
        PATH_RULE,
        "directory of assets, saved pipeline, or installed pipeline package; null "
        "for the built-in starter",
    )
    top_k: int = whole(5, 1, _CANDIDATES, "candidates kept for a mention")
    threshold: float | None = share(
        None,
        "links with a lower probability, or without a calibrator a lower score, are NIL; null for "
        "what the assets recommend (0 without a calibrator)",
    )
    cui_scheme: Annotated[Text | None, AfterValidator(_or_none)] = setting(
        None,
        TEXT_RULE,
        'vocabulary whose code `_.cui` holds, such as `"UMLS"`; null for the KB\'s own ids',
    )
    spans_key: Annotated[Text | Texts, AfterValidator(_keys)] | None = setting(
        None,
        "must be a key, or a list of different keys",
        "link `doc.spans[spans_key]` instead of `doc.ents`; a list links several groups",
    )
    tiers: Annotated[list[Text], AfterValidator(_tiers)] | None = setting(
        None,
        "must name at least one of exact, ngram, dense, or of the tiers of your packages",
        'any of "exact", "ngram", "dense", and tiers of your packages; null for all of the assets',
    )
    exact_first: bool | None = flag(
        None,
        "what to do if the mention equals a name. true: ask only the exact tier, which is much "
        "faster and gives no alternatives. null: skip the dense tier for a name of one concept, "
        "and the reranker if its gate says that it would hardly ever change the link. false: "
        "always ask all tiers and the reranker",
    )
    types: Texts | None = setting(
        None,
        LIST_RULE,
        "only concepts of these types or semantic groups may be answers; a mention that fits a "
        'concept outside better is NIL, with the reason "filtered"',
    )
    sources: Texts | None = setting(None, LIST_RULE, "only names from these sources")
    languages: Texts | None = setting(None, LIST_RULE, "only names in these languages")
    allow: Annotated[Texts, AfterValidator(_some)] | None = setting(
        None, ALLOW_RULE, "only the concepts with these ids"
    )
    deny: Texts | None = setting(None, LIST_RULE, "no concept with one of these ids")
    within: Text | None = setting(
        None,
        TEXT_RULE,
        "only concepts of this part of the hierarchy, an expression in the manner of SNOMED's ECL: "
        "`<< ID` (it and all below), `< ID`, `>> ID` and `> ID` (above), `ID`, `AND`, `OR`, "
        "`MINUS`, parentheses",
    )
    force_within_filter: bool = flag(
        False,
        "link a mention to the best concept within the filters, even if one outside fits better",
    )
    labels: TextLists | None = setting(
        None,
        _LABELS,
        "types or groups that mentions of an entity label may have, such as "
        '`{"DRUG": ["CHEM"]}`; other labels may have all types. The attribute is called '
        "`label_types`, since spaCy has another use for `labels`",
    )
    overlay: Place | None = setting(
        None,
        PATH_RULE,
        "file of curation rules (names to deny, force or add, concepts to retire) or corrections "
        "(gold mentions). It needs no build: changes take effect at the next call. It is saved "
        "with the component",
    )
    resolve_abbreviations: bool = flag(
        True,
        "look up abbreviations by the long form that the document defines, that another mention "
        "spells out, or that another component found (`doc._.abbreviations`)",
    )
    lexicon: Place | list[Place] | None = setting(
        "clinical",
        'must be "clinical", the path of a file, or a list of these, without half characters',
        'meanings of undefined abbreviations: "clinical" (the built-in lexicon for the language of '
        'the pipeline, if there is one), "clinical-de" (for another language), a file (saved with '
        "the component), or a list of these, in which later ones override earlier ones",
    )
    composite: bool = flag(False, 'link the parts of "breast and ovarian cancer" separately')
    labels_discard: Texts | None = setting(
        None, LIST_RULE, "labels of entities that are not linked"
    )
    merge: Literal["replace", "fill", "better", "leave"] | None = setting(
        None,
        "must be one of replace, fill, better, leave, or null",
        'what to do if another linker has set `kb_id`: "replace" it, "fill" it only if it is empty '
        'or NIL, keep the "better" one (by probability, or by score if one has none; the first of '
        'equals), or "leave" it. null: a linker with a `prefix` leaves it, one without replaces '
        "it. The other attributes are always written, under the prefix of each linker",
    )
    prefix: Text = setting(
        "", TEXT_RULE, "prefix of the attributes' names, for several linkers in one pipeline"
    )
    batch_size: int = whole(
        256, 1, MOST, "most documents whose mentions are encoded together in `pipe`"
    )
    n_threads: int = whole(
        0, 0, MOST, "most threads of torch, OpenMP, faiss and BLAS; 0 for no limit"
    )
    model: Network | None = setting(
        None,
        _MODEL,
        "an encoder in place of that of the assets, which makes the linker trainable: an "
        "architecture such as `spacy-medlink.TransformerBiEncoder.v1`, or "
        "`spacy-medlink.SharedBiEncoder.v1` for the pipeline's own transformer. It must be the one "
        "that made the index, unless `initialize` makes a new index. `name = null` is the encoder "
        "of the assets",
    )
    objective: BatchChoice | None = setting(
        None,
        "must be a spacy-medlink.BatchObjective.v1, or null",
        "what the encoder is trained for: `spacy-medlink.BatchObjective.v1`; null for SAP, the "
        "multi-similarity loss over hard pairs",
    )
    fusion: Annotated[Any, AfterValidator(_fusion)] = setting(
        None,
        "must be a fusion, such as spacy-medlink.WeightedFusion.v1, or null",
        "how the tiers' scores become one, a registered function such as "
        '`{"@misc": "spacy-medlink.ReciprocalRankFusion.v1"}`; null for as built',
    )
    calibrator: bool = flag(
        True,
        "use the calibrator of the assets, if there is one; it must have been fitted for these "
        "tiers, fusion and encoder",
    )
    rerank_top: int | None = whole(
        None,
        0,
        _CANDIDATES,
        "candidates that the reranker reads, which limits its time; null for as many as it was "
        "trained for, 0 turns it off",
    )
    copy_assets: bool = flag(
        True,
        "save the assets within the pipeline (as hard links if possible); false saves a reference "
        "to their place",
    )


DEFAULT_CONFIG = LinkerSettings.defaults()
FILTERS = ("types", "sources", "languages", "allow", "deny", "within")


def keys_of(spans_key: str | Sequence[str] | None) -> list[str] | None:
    """List the span groups that a setting names; None for `doc.ents`."""
    if spans_key is None or isinstance(spans_key, str):
        return None if spans_key is None else [spans_key]
    return list(spans_key)


def make_filter(values: Mapping[str, Sequence[str] | None]) -> "Filter | None":
    """Make a filter of settings, or of the arguments of a call; None of no values.

    RAISES (MedlinkError): E302 for a name that no filter has, text that is not in a list, or a list
        where `within` is a text.
    """
    if not values:
        return None
    from ...retrieval.filters import Filter

    for name, value in values.items():
        if name not in FILTERS:
            rule = f"a filter has only {', '.join(FILTERS)}"
            raise Errors.bad_setting(name=name, value=value, rule=rule)
        if value is not None and isinstance(value, str) != (name == "within"):
            rule = f"must be a {'text' if name == 'within' else 'list'}"
            raise Errors.bad_setting(name=name, value=value, rule=rule)
    allow = values.get("allow")
    if allow is not None and not allow:  # else a selection that came out empty would allow all
        raise Errors.bad_setting(name="allow", value=allow, rule=ALLOW_RULE)
    within = values.get("within")
    lists = {name: value for name, value in values.items() if name != "within"}
    return Filter.of(within=within if isinstance(within, str) else None, **lists)


def own_filter(settings: LinkerSettings) -> "Filter | None":
    """Make the filter of the current settings; None without any."""
    return make_filter({name: values for name in FILTERS if (values := getattr(settings, name))})

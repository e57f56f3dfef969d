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
        "links that are less probable, or without a calibrator score less, are NIL; null for "
        "what the assets recommend, which is 0 without a calibrator",
    )
    cui_scheme: Annotated[Text | None, AfterValidator(_or_none)] = setting(
        None,
        TEXT_RULE,
        'vocabulary whose code `_.cui` holds, such as `"UMLS"`; null for the KB\'s own ids',
    )
    spans_key: Annotated[Text | Texts, AfterValidator(_keys)] | None = setting(
        None,
        "must be a key, or a list of different keys",
        "link `doc.spans[spans_key]` instead of `doc.ents`; of several keys, each group",
    )
    tiers: Annotated[list[Text], AfterValidator(_tiers)] | None = setting(
        None,
        "must name at least one of exact, ngram, dense, or of the tiers of your packages",
        'of "exact", "ngram", "dense", and what packages bring; null for all that the assets have',
    )
    exact_first: bool | None = flag(
        None,
        "true: where a name equals the mention, do not ask the other tiers, which is much faster "
        "and leaves no alternatives among the candidates; null: do not ask the dense tier where "
        "the gate of the assets says that it would hardly ever change the link, nor the reranker "
        "where its gate says so; false: always ask all tiers and the reranker",
    )
    types: Texts | None = setting(
        None,
        LIST_RULE,
        "only concepts of these types or semantic groups may be answers; a "
        'mention that a concept outside says better is NIL, with the reason "filtered"',
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
        "link a mention that a concept outside the filters says better all the same, to the "
        "best concept within",
    )
    labels: TextLists | None = setting(
        None,
        _LABELS,
        "types or groups that mentions of an entity label may have, such as "
        '`{"DRUG": ["CHEM"]}`; labels that are not named may have all. The attribute is called '
        "`label_types`, since spaCy has another use for `labels`",
    )
    overlay: Place | None = setting(
        None,
        PATH_RULE,
        "file of rules (of a curation: names to deny, force or add, concepts to retire) or of "
        "corrections (gold mentions) that are in force without a build, from the next call on "
        "whenever the file changes; saved with the component",
    )
    resolve_abbreviations: bool = flag(
        True,
        "look up what the document defines an abbreviation to mean, what another mention "
        "spells out, or what another component found (`doc._.abbreviations`)",
    )
    lexicon: Place | list[Place] | None = setting(
        "clinical",
        'must be "clinical", the path of a file, or a list of these, without half characters',
        'what undefined abbreviations mean: "clinical", the lexicon of the package for the '
        'language of the pipeline, where it has one; "clinical-de", that of another language; a '
        "file, which is saved with the component; or a list of these, of which the later ones "
        "count more",
    )
    composite: bool = flag(False, 'link the parts of "breast and ovarian cancer" each by itself')
    labels_discard: Texts | None = setting(
        None, LIST_RULE, "labels of entities that are left as they are"
    )
    merge: Literal["replace", "fill", "better", "leave"] | None = setting(
        None,
        "must be one of replace, fill, better, leave, or null",
        'the `kb_id` of an entity that another linker has linked before: "replace" it, "fill" '
        'where there is none or NIL, take the "better" one (the more probable, or where one has no '
        'probability the higher score; of equals the first), or "leave" it; null: a linker with a '
        "`prefix` leaves what is there, NIL too, and one without replaces it. The attributes are "
        "written in any case, each linker's under its prefix",
    )
    prefix: Text = setting(
        "", TEXT_RULE, "put before the attributes' names, for several linkers in one pipeline"
    )
    batch_size: int = whole(
        256, 1, MOST, "documents whose mentions are encoded together in `pipe`, at most"
    )
    n_threads: int = whole(
        0, 0, MOST, "cap on the threads of torch, OpenMP, faiss and BLAS; 0 leaves them alone"
    )
    model: Network | None = setting(
        None,
        _MODEL,
        "the encoder, in place of that of the assets, which makes the linker trainable: an "
        "architecture, such as `spacy-medlink.TransformerBiEncoder.v1`, or for the pipeline's own "
        "transformer `spacy-medlink.SharedBiEncoder.v1`. It must be the one that made the index, "
        "but for `initialize`, which makes the index anew. `name = null` is that of the assets",
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
        "give probabilities by the calibrator of the assets, where they have one; it must "
        "have been fitted for these tiers, fusion and encoder",
    )
    rerank_top: int | None = whole(
        None,
        0,
        _CANDIDATES,
        "candidates that the reranker reads, a latency budget; null for as "
        "many as it was trained for, 0 leaves it out",
    )
    copy_assets: bool = flag(
        True,
        "save the assets within the pipeline (as hard links where that is possible); false "
        "saves a reference to the place where they are",
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

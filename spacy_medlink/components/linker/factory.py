"""The factory `medical_linker`."""

from typing import Any

from spacy.language import Language

from ..extensions import SPAN_ATTRIBUTES
from .component import MedicalLinker
from .scoring import SCORES
from .settings import DEFAULT_CONFIG


@Language.factory(
    "medical_linker",
    assigns=["doc.ents", "token.ent_kb_id"] + [f"span._.{name}" for name in SPAN_ATTRIBUTES],
    requires=["doc.ents"],
    default_config=DEFAULT_CONFIG,
    default_score_weights={"acc@1": 1.0, **dict.fromkeys(SCORES[1:], 0.0)},
)
def make_medical_linker(
    nlp: Language,
    name: str,
    assets: str | None,
    top_k: int,
    threshold: float | None,
    cui_scheme: str | None,
    spans_key: str | list[str] | None,
    tiers: list[str] | None,
    exact_first: bool,
    types: list[str] | None,
    sources: list[str] | None,
    languages: list[str] | None,
    allow: list[str] | None,
    deny: list[str] | None,
    force_within_filter: bool,
    labels: dict[str, list[str]] | None,
    favour: dict[str, list[str]] | None,
    source_order: list[str] | None,
    memory: bool,
    resolve_abbreviations: bool,
    resolve_identifiers: bool,
    lexicon: str | list[str] | None,
    composite: bool,
    backoff: bool,
    backoff_margin: float,
    labels_discard: list[str] | None,
    overwrite: bool,
    merge: str,
    prefix: str,
    batch_size: int,
    cache_size: int,
    n_threads: int,
    encoder: Any,
    use_gold_ents: bool,
    index: dict[str, int] | None,
    fusion: Any,
    calibrator: bool,
    ranker: bool,
    reranker: Any,
    rerank_top: int | None,
    copy_assets: bool,
) -> MedicalLinker:
    """Make a `medical_linker`; see MedicalLinker for the settings.

    RAISES (MedlinkError): E301, E302 for settings out of range, E308 for a prefix that another
        linker of the pipeline has.
    """
    given = {key: value for key, value in locals().items() if key in DEFAULT_CONFIG}
    linker = MedicalLinker(nlp.vocab, name, **given)
    linker.check_prefix(nlp)
    linker.set_home(nlp)
    return linker

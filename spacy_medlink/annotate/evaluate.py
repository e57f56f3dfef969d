"""evaluate: measures the links of assets or of a pipeline against gold mentions."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..components.pipelines import (
    STARTER,
    is_pipeline,
    linked_spans,
    linker_of,
    open_pipeline,
    spans_of_texts,
)
from ..components.sources import open_assets
from ..errors import Errors, MedlinkError, Warnings
from ..evaluation import GoldSet, Settings, load_gold, measure, measure_pipeline
from ..evaluation.char_iou import char_iou
from ..evaluation.end_to_end import NIL
from ..evaluation.report import compare_metrics, read_metrics
from ..kb.annotated_notes import TABLES, Annotation, read_annotations, sections_of
from ..kb.gold import GoldDocument, read_gold
from ..text.context import shipped_cues
from ..types import Data, Progress
from ..util.progress import no_progress
from ..util.telling import tell

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from ..assets import Assets

_SHOWN = 10  # of each oddity of a gold file


def evaluate(
    source: str,
    gold: str | Path,
    *,
    device: str = "cpu",
    progress: Progress = no_progress,
    **given: object,
) -> Data:
    """Measure linking against gold mentions.

    A pipeline is measured with the settings of its config: filters, lexicon, composite mentions,
    fusion and threshold. Assets are measured with the default settings.

    source (str): assets, a saved pipeline, an installed package, or "starter".
    gold (Path): file of gold mentions. given: the fields of `evaluation.Settings`.
    device (str): device of the networks.
    RETURNS (Dict[str, Any]): the metrics of `evaluation.measure`.
    RAISES (MedlinkError): E201-E204 for the source, E107 and E4xx for the gold mentions,
        E160, E411 for the other metrics.
    """
    settings = Settings.of(given)
    if (train := settings.train_file) is not None and not train.is_file():
        raise Errors.source_missing(path=train)
    against = settings.against
    other = read_metrics(against) if against is not None else None
    linker, discard = None, frozenset[str]()
    if is_pipeline(source):
        nlp = _pipeline(source, "en", device, settings.threshold, settings.tiers)
        component = linker_of(nlp)
        assets, linker = component.assets, component.linker
        if component.opened.is_shared:
            tell(Warnings.without_context.format(source=source))
        discard = frozenset(component.settings.labels_discard or ())
    else:
        assets = open_assets(
            None if source == STARTER and not Path(source).exists() else source, device
        )
    gold_set = load_gold(gold, assets.kb, settings.strict, settings.gold_scheme)
    _warn(gold_set, next(iter(assets.kb)).id, settings.only_known)
    metrics = measure(assets, gold_set, settings, progress, linker=linker, discard=discard)
    if other is not None and against is not None:
        metrics["against"] = compare_metrics(metrics, other, against)
    if settings.end_to_end:
        metrics["end_to_end"] = measure_pipeline(
            lambda lang, texts: spans_of_texts(
                _pipeline(source, lang, device, settings.threshold, settings.tiers), texts
            ),
            assets.kb,
            gold_set,
            progress,
        )
    return metrics


def evaluate_characters(
    source: str,
    gold: Path,
    *,
    threshold: float | None = None,
    device: str = "cpu",
    progress: Progress = no_progress,
) -> tuple[Data, list[Annotation]]:
    """Measure links by the character IoU of the SNOMED CT entity-linking challenge.

    Where the memory was learned from notes with sections, the label of each mention is its section.

    source (str): as for `evaluate`, or a `.csv` of annotations that a system made.
    gold (Path): gold mentions with texts; a table has the notes in another one beside it.
    RETURNS (Tuple): the scores of `char_iou`, and the annotations that were made.
    RAISES (MedlinkError): as `evaluate`; E401, E404 for a table of annotations, E407 without a
        text.
    """
    if source.endswith(TABLES):
        wanted = (
            read_annotations(gold) if gold.suffix in TABLES
            else _annotations(list(read_gold(gold)))
        )  # fmt: skip
        made = read_annotations(Path(source))
        return char_iou(wanted, made), made
    documents = [document for document in read_gold(gold) if document.text is not None]
    if not documents:
        raise Errors.nothing_there(
            path=gold, what="document with a text and offsets", remedy="Give a file of documents."
        )
    nlp = _pipeline(source, "en", device, threshold)
    made = list(_made(nlp, documents, progress))
    return char_iou(_annotations(documents), made), made


def _annotations(documents: Sequence[GoldDocument]) -> list[Annotation]:
    return [
        Annotation(document.doc_id, mention.start, mention.end, mention.ids[0])
        for document in documents
        for mention in document.mentions
        if mention.ids and mention.start >= 0
    ]


def _made(
    nlp: "Language", documents: Sequence[GoldDocument], progress: Progress
) -> Iterator[Annotation]:
    linker = linker_of(nlp)
    names = nlp.pipe_names
    later = names[names.index(linker.name) :]
    by_section = has_sections(linker.assets)
    docs = nlp.pipe((document.text or "" for document in documents), disable=later)
    read = (labelled_by_section(doc) if by_section else doc for doc in docs)
    linked = progress(linker.pipe(read), len(documents), "linking notes")
    for document, doc in zip(documents, linked, strict=True):
        for span in linked_spans(doc, linker.settings.spans_key):
            if span.kb_id_ and span.kb_id_ != NIL:
                yield Annotation(document.doc_id, span.start_char, span.end_char, span.kb_id_)


def has_sections(assets: "Assets") -> bool:
    """Tell whether the memory of assets was learned from notes with sections."""
    sections = {section.name for section in shipped_cues("en").sections.values()}
    return assets.memory is not None and not sections.isdisjoint(assets.memory.labels)


def labelled_by_section(doc: "Doc") -> "Doc":
    """Give each entity the section of its note as its label, which a memory may know."""
    from spacy.tokens import Span

    sections = sections_of(doc.text, [ent.start_char for ent in doc.ents], doc.lang_ or "en")
    doc.ents = [
        Span(doc, ent.start, ent.end, section or ent.label_, kb_id=ent.kb_id_)
        for ent, section in zip(doc.ents, sections, strict=True)
    ]
    return doc


def _pipeline(
    source: str, lang: str, device: str, threshold: float | None, tiers: Sequence[str] = ()
) -> "Language":
    """Open a pipeline; options of the command line replace its settings."""
    given: Data = {} if threshold is None else {"threshold": threshold}
    if tiers:
        given["tiers"] = list(tiers)
    try:
        return open_pipeline(source, lang, device, **given)
    except MedlinkError as error:
        if error.code != Errors.unknown_language.code:
            raise
        return open_pipeline(source, "xx", device, **given)


def _warn(gold: GoldSet, kb_id: str, only_known: bool) -> None:
    """Warn of oddities of the gold mentions, which the figures alone would hide."""
    for bad, message in (
        (gold.mismatches, Warnings.gold_mismatches),
        (gold.repeated, Warnings.repeated_docs),
    ):
        if bad:
            shown = "; ".join(f"line {line.line}: {line.problem}" for line in bad[:_SHOWN])
            tell(message.format(count=len(bad), path=gold.path, examples=shown))
    linked = [case for case in gold.cases() if case.gold.ids]
    if missing := [case for case in linked if not case.right]:
        message = Warnings.gold_unknown_left_out if only_known else Warnings.gold_not_in_kb
        counts = {"n": len(linked), "example": missing[0].gold.ids[0], "known": kb_id}
        tell(message.format(missing=len(missing), **counts))

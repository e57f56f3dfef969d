"""Settings of an evaluation: the options of `medlink evaluate`."""

from dataclasses import dataclass

PROTOCOLS = ("concepts", "names", "entries")
COMPOSITES = ("any", "biosyn")


@dataclass(frozen=True)
class Settings:
    """The settings of an evaluation.

    ks (Tuple[int, ...]): depths of accuracy and recall.
    tiers (Tuple[str, ...]): tiers to use; () for those that the linker asks.
    each_tier (bool): also measure each of them alone, not only those that need no training.
    protocol (str): ranks count "concepts", distinct "names", or "entries", names of a concept.
    threshold (Optional[float]): links with a lower score (a lower probability, if there is a
        calibrator) are NIL; None for what the assets recommend, 0 if they recommend nothing.
    resolve_abbreviations (bool): use the definitions of a document. resolve_identifiers (bool): use
        the identifiers beside its mentions. lexicon (Optional[str]): for undefined abbreviations,
        as the component's setting; a pipeline has its own.
    train (str): file of training mentions: filtered splits, unseen mentions and codes. "" for none.
    by_dictionary (bool): splits without mentions that are names of the knowledge base, too.
    composites (str): "any": one of several gold ids is enough; "biosyn": a mention that names
        several concepts is split, and all parts must be right.
    only_known (bool): leave out mentions whose gold concept the knowledge base lacks, instead of
        counting them as wrong.
    baselines (bool): also measure the tiers that need no training, each alone.
    keep (int): candidates of each mention in the metrics. with_text (bool): also the mentions'
        texts and their context.
    """

    ks: tuple[int, ...] = (1, 5)
    tiers: tuple[str, ...] = ()
    each_tier: bool = False
    protocol: str = "concepts"
    threshold: float | None = None
    resolve_abbreviations: bool = True
    resolve_identifiers: bool = True
    lexicon: str | None = "clinical"
    train: str = ""
    by_dictionary: bool = False
    composites: str = "any"
    only_known: bool = False
    baselines: bool = True
    keep: int = 5
    with_text: bool = False

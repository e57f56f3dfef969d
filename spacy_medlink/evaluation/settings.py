"""How to measure: everything that `medlink evaluate` lets one choose."""

from dataclasses import dataclass

DICTIONARY = "dictionary"
PROTOCOLS = ("concepts", "names")
COMPOSITES = ("any", "biosyn")


@dataclass(frozen=True)
class Settings:
    """How to measure.

    ks (Tuple[int, ...]): depths of accuracy and recall.
    tiers (Tuple[str, ...]): tiers to use; () for those that the linker asks.
    each_tier (bool): measure each of them alone too.
    protocol (str): "concepts" or "names", which the ranks count.
    threshold (Optional[float]): links that score less (whose probability is less, where there is a
        calibrator) are NIL; None for what the assets recommend, 0 where they do not.
    resolve_abbreviations (bool): expand what a document defines. resolve_identifiers (bool): heed
        what it writes beside its mentions. lexicon (Optional[str]): what undefined abbreviations
        mean, as the component's setting; a pipeline has its own.
    train (str): file of training mentions: filtered splits, unseen mentions and codes. "" for none.
    reference (str): "dictionary" filters by the knowledge base's names; a file stands for `train`.
    min_distance (float): of the second split, Levenshtein over length.
    composites (str): "any": one of several gold ids is enough; "biosyn": a mention that names
        several concepts is taken apart, and all parts must be right.
    only_known (bool): leave mentions out whose gold concept the knowledge base lacks, instead of
        counting them as wrong.
    baselines (bool): measure the baselines too. base (str): directory of an untrained encoder to
        be one of them.
    keep (int): candidates of each mention in the metrics. with_text (bool): the mentions' texts and
        their surroundings too.
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
    reference: str = ""
    min_distance: float = 0.2
    composites: str = "any"
    only_known: bool = False
    baselines: bool = True
    base: str = ""
    keep: int = 5
    with_text: bool = False

    @property
    def train_file(self) -> str:
        """The file of training mentions, however it was given."""
        return self.train or ("" if self.reference == DICTIONARY else self.reference)

    @property
    def by_dictionary(self) -> bool:
        """Whether to filter by the knowledge base's names."""
        return self.reference == DICTIONARY

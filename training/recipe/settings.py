"""What a recipe can say: one model a section, each key with its type, limits and default."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)

from spacy_medlink.encoders.objectives.registered import BatchChoice
from spacy_medlink.types import Name


def _none_or_several(value: int) -> int:
    if value == 1:
        raise ValueError("must be 0, or 2 up")
    return value


def _is_tried(weight: float | None) -> float | None:
    if weight is not None and weight not in WEIGHTS[1:]:
        raise ValueError(f"must be null, or one of {', '.join(map(str, WEIGHTS[1:]))}")
    return weight


def _layers_or_static(student: str) -> str:
    if student != "static" and not student.isdecimal():
        raise ValueError("must be a number of layers, or 'static'")
    return student


AtLeast2 = Annotated[int, Field(ge=2)]
Rate = Annotated[float, Field(ge=0, lt=1)]
Share = Annotated[float, Field(gt=0, le=1)]
Occurrences = Literal["root", "each", "once"]
TRADE_NAME = "TRADE"  # the term type that the UMLS reader gives to names of a substance's brands
_NEVER = 1_000_000_000  # steps
WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)
"""Weights of a reranker beside retrieval that are tried."""


class Section(BaseModel):
    """A section of a recipe; a value is what it says, and not what could be made of it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def as_dict(self) -> dict[str, Any]:
        """Write as plain dicts and lists, for JSON."""
        return self.model_dump()


class RecipeSettings(Section):
    """What a recipe is.

    kind (str): "pretrain" on the names of a knowledge base, "finetune" on annotated mentions,
    "distil" a smaller encoder of a larger one, or "rerank", a cross-encoder over candidates.
    base (str): a recipe beside this one, whose values hold where this one says nothing.
    """

    kind: Literal["pretrain", "finetune", "distil", "rerank"]
    base: str = ""


class DataSettings(Section):
    """Which names are trained on.

    pairs (str): "all" for each name with each, or "preferred" for the fully specified name, else
    the preferred one, with each of the others. pairs_per_concept (int): of a concept, at most.
    lower_case (bool): the encoder sees all texts lower-cased, in training and afterwards.
    languages (List[str]): languages to train on, [] for all; ["en"] for English only, ["es"] for
    one language, ["en", "es"] for English plus one. obsolete (bool): names marked so too.
    trade_names (bool): what the brands of a substance are called too, where the knowledge base has
    such names (of the UMLS: the release's MRREL says which brands there are).
    """

    pairs: Literal["all", "preferred"] = "all"
    pairs_per_concept: PositiveInt = 50
    lower_case: bool = True
    languages: tuple[str, ...] = ()
    obsolete: bool = True
    trade_names: bool = True

    def is_trainable(self, name: Name) -> bool:
        """Tell whether a name may be in pairs."""
        return (
            (not self.languages or name.lang in self.languages)
            and (self.obsolete or not name.obsolete)
            and (self.trade_names or name.tty != TRADE_NAME)
        )


class BitextSettings(Section):
    """What to do with the file of translations that `--text` names (pairs as pseudo-concepts).

    order (str): "none", "mixed" with the pairs of synonyms, or "alone", for another base.
    """

    order: Literal["none", "mixed", "alone"] = "none"


class HoldoutSettings(Section):
    """Which names are held out, and what they are looked for among.

    most (int): queries, at most, both halves together. among (int): names that they are looked for
    among, at most: those of the right concepts, and others drawn at random.
    """

    fraction: Annotated[float, Field(gt=0, le=0.5)] = 0.1
    most: AtLeast2 = 8000
    seed: int = 0
    among: AtLeast2 = 200_000


class SamplerSettings(Section):
    """What comes together in a batch.

    batch_pairs (int): pairs a batch; with the loss "all_names", which needs no pairs, half the
    number of names. Several ranks share a batch: it is as large with any number of them.
    names_per_concept (int): 0 for pairs; else names of a concept that come together, at most, as
    CODER has it (8), in batches of twice as many names as batch_pairs.
    """

    batch_pairs: PositiveInt = 256
    names_per_concept: Annotated[NonNegativeInt, AfterValidator(_none_or_several)] = 0


class MentionSettings(Section):
    """Batches of fine-tuning on annotated text.

    batch (int): mentions a batch; with a loss over the pairs of a batch, pairs of a mention and a
    name. occurrences (str): how often an epoch has a mention: the "root" of its count, if it is no
    name already; "each" time that it occurs; or "once" with each of its concepts.
    names (int): random names beside them, so that names are not forgotten, or as negatives.
    near (int): with a loss over all names, the nearest wrong names of each mention that learn to
    keep away, and with them a name of its concept; 0 for neither.
    """

    batch: PositiveInt = 64
    occurrences: Occurrences = "root"
    names: NonNegativeInt = 32
    near: NonNegativeInt = 1


class EncoderSettings(Section):
    """The encoder: how its vectors are made, and what of it stays as it is.

    pooling (str): of a `BiEncoder`, None for what the base has. max_length (int): in word pieces,
    None for what the base has. dropout (float): in training, 0 for none.
    freeze_layers (int): first layers that are not trained. freeze_embeddings (bool): always so
    when a layer is frozen.
    """

    pooling: Literal["mean", "mean_all", "cls", "pooler", None] = None
    max_length: Annotated[int, Field(ge=3)] | None = None
    dropout: Rate = 0.0
    freeze_embeddings: bool = False
    freeze_layers: NonNegativeInt = 0


class ObjectiveSettings(Section):
    """Miner and loss by name (`training.objectives.registered`), each with its own settings.

    learning_rate, weight_decay (float): of weights that start from nothing: what the objective
    itself learns (the weight of spelling, vectors of relations), and a reranker's head.
    The loss "all_names" (`training.objectives.memory`) compares with all names, not with those of
    the batch; it takes no miner.
    """

    miner: str = "hard_pairs"
    loss: str = "multi_similarity"
    miner_settings: Mapping[str, float] = {}
    loss_settings: Mapping[str, float] = {}
    learning_rate: PositiveFloat = 0.01
    weight_decay: NonNegativeFloat = 0.0

    def in_batch(self) -> BatchChoice:
        """Get miner and loss as the registered function makes them that `spacy train` has, too."""
        return BatchChoice(self.loss, self.miner, self.loss_settings, self.miner_settings)


class RelationSettings(Section):
    """A loss over the relations of the knowledge base, beside the other one (CODER, its task 2).

    loss (str): "transe", or "distmult", the similarity of term, relation and term of CODER's later
    version. weight (float): 0 for none. margin (float): of TransE, between true and corrupted tail.
    All concepts of a batch are drawn through relations, `sampler.names_per_concept` names of each.
    """

    loss: Literal["transe", "distmult"] = "transe"
    weight: NonNegativeFloat = 0.0
    margin: NonNegativeFloat = 1.0


class TypeSettings(Section):
    """A classifier of a name's semantic type, beside the other loss. weight (float): 0 for none."""

    weight: NonNegativeFloat = 0.0


class AdapterSettings(Section):
    """Few weights that are trained in place of the base's own.

    kind (str): "none"; "bottleneck" (Pfeiffer et al. 2021) or "mad_x" (2020, with an invertible
    adapter at the embeddings), saved beside the base; or "lora" (Hu et al. 2022), merged into it at
    the end. reduction (int): how many times narrower than its layer a bottleneck is. rank, alpha
    (int): of LoRA, whose change is scaled by alpha / rank.
    """

    kind: Literal["none", "bottleneck", "mad_x", "lora"] = "none"
    reduction: PositiveInt = 16
    rank: PositiveInt = 8
    alpha: PositiveInt = 16


class OptimizerSettings(Section):
    """AdamW with warm-up.

    warmup (float): part of the training in which the rate rises. decay (str): "linear" to zero at
    the end, or "constant". clip (float): longest gradient, 0 for no clipping.
    """

    learning_rate: PositiveFloat = 2e-5
    weight_decay: NonNegativeFloat = 0.01
    warmup: Rate = 0.05
    decay: Literal["linear", "constant"] = "linear"
    clip: NonNegativeFloat = 1.0


class TrainingSettings(Section):
    """The loop.

    epochs (float): passes over the pairs. names (int): names to train on, in place of epochs; 0
    leaves it to them. max_minutes (float): None, or a safety net: the learning rate reaches its end
    with whichever comes first, and the figures say that the clock has stopped the training.
    precision (str): "auto" (bf16 where the processor computes it natively), "fp32" or "bf16".
    sub_batches (int): parts, sorted by length, in which a batch is encoded. accumulation (int):
    batches a step; their gradients are averaged.
    eval_every, save_every (int): steps, 0 for once an epoch.
    patience (int): evaluations without a gain before training stops, 0 for no early stopping.
    """

    seed: int = 0
    epochs: PositiveFloat = 1.0
    names: NonNegativeInt = 0
    max_minutes: PositiveFloat | None = None
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    sub_batches: PositiveInt = 4
    accumulation: PositiveInt = 1
    eval_every: NonNegativeInt = 0
    save_every: NonNegativeInt = 0
    patience: NonNegativeInt = 0


class SelectionSettings(Section):
    """How the encoder to ship is chosen on `dev`.

    metric (str): what counts. interpolation (List[float]): parts of the trained weights, the rest
    being the base's (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models", section 3).
    min_gain (float): what the trained encoder must gain over its base, else the base is kept.
    shortlist (int): names a query that are compared while training; the final choice compares all.
    """

    metric: Literal["acc@1", "acc@5", "acc@20", "mrr"] = "acc@1"
    interpolation: Annotated[tuple[Share, ...], Field(min_length=1)] = (0.5, 1.0)
    min_gain: float = 0.0
    shortlist: PositiveInt = 50


class DistilSettings(Section):
    """What a smaller encoder learns from its teacher, and how much worse it may be.

    student (str): how many of the teacher's first layers, or "static". mutations (int): texts
    beside each name, which write it in another way.
    max_loss (float): points of the metric of [selection] on the held-out names of `dev` that the
    student may be below its teacher; one that loses more is not shipped.
    """

    student: Annotated[str, BeforeValidator(str), AfterValidator(_layers_or_static)] = "static"
    mutations: NonNegativeInt = 1
    max_loss: NonNegativeFloat = 2.0


class RerankSettings(Section):
    """What a reranker reads.

    top (int): candidates a mention. tiers (List[str]): that propose them, [] for those of the
    assets. context (int): word pieces on each side of the mention. max_length (int): of a pair, in
    word pieces. reads (str): of a candidate: the "name" that was found, the "concept" with
    preferred name and types, or its "definition" too.
    names (int): names of the knowledge base that play mentions, when there is no gold file; one of
    each concept first, then the others.
    beside (int): names that play mentions beside those of a gold file; they have no context.
    batch (int): mentions a step. pairs (bool): each candidate is learned by itself, so that a step
    has `batch` pairs of any mentions; for the loss "binary". min_cosine (float): wrong candidates
    that the dense tier scores lower are not learned from.
    layers (Optional[int]): only the first of the encoder's.
    weight (Optional[float]): of the reranker beside retrieval, whatever it gains; 1 is its order
    alone. None is the best on dev, where that gains beyond doubt.
    """

    top: PositiveInt = 25
    tiers: tuple[Literal["exact", "ngram", "dense"], ...] = ()
    context: NonNegativeInt = 16
    max_length: PositiveInt = 96
    reads: Literal["name", "concept", "definition"] = "concept"
    names: PositiveInt = 4000
    beside: NonNegativeInt = 0
    batch: PositiveInt = 8
    pairs: bool = False
    min_cosine: Annotated[float, Field(ge=-1, le=1)] = -1.0
    layers: PositiveInt | None = None
    weight: Annotated[float | None, AfterValidator(_is_tried)] = None


class Recipe(Section):
    """A recipe: its sections."""

    recipe: RecipeSettings
    data: DataSettings = DataSettings()
    bitext: BitextSettings = BitextSettings()
    holdout: HoldoutSettings = HoldoutSettings()
    sampler: SamplerSettings = SamplerSettings()
    mentions: MentionSettings = MentionSettings()
    encoder: EncoderSettings = EncoderSettings()
    adapter: AdapterSettings = AdapterSettings()
    objective: ObjectiveSettings = ObjectiveSettings()
    relations: RelationSettings = RelationSettings()
    types: TypeSettings = TypeSettings()
    distil: DistilSettings = DistilSettings()
    reranking: RerankSettings = RerankSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    training: TrainingSettings = TrainingSettings()
    selection: SelectionSettings = SelectionSettings()

    @property
    def chooses(self) -> bool:
        """Whether weights are chosen by what dev says, rather than those of the last step taken."""
        training, selection = self.training, self.selection
        is_last = training.eval_every >= _NEVER and not training.patience
        return not (is_last and selection.interpolation == (1.0,) and selection.min_gain <= -100)

    def decisive(self) -> dict[str, Any]:
        """Return what a checkpoint depends on; the rest may be new when a training is resumed."""
        values = self.as_dict()
        for section in ("optimizer", "training", "selection"):
            del values[section]
        for section, key in _FREE:
            del values[section][key]
        return {**values, "batches_a_step": self.training.accumulation}


_FREE = (
    ("recipe", "base"), ("objective", "learning_rate"), ("objective", "weight_decay"),
    ("distil", "max_loss"),
)  # fmt: skip

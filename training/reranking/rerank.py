"""Train a reranker for assets; it is left out where it does not beat retrieval."""

from collections.abc import Sequence
from pathlib import Path

from spacy_medlink.assets import Assets
from spacy_medlink.assets.manifest import ASSETS, ENCODER
from spacy_medlink.assets.reranker import leave_out_reranker, store_reranker
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings
from spacy_medlink.encoders.objectives.lists import LOSSES
from spacy_medlink.errors import Errors
from spacy_medlink.fitting.reranker import fit_rerank_gate
from spacy_medlink.kb.schema import kb_fingerprint
from spacy_medlink.linking.blending import remembered
from spacy_medlink.linking.reranking import CandidateTexts, Reranker
from spacy_medlink.types import Data
from spacy_medlink.util.devices import AUTO, CPU, find_device
from spacy_medlink.util.files import sha256_of
from spacy_medlink.util.outputs import check_output

from ..data.mentions import why_nothing
from ..kinds.encoder_training import Inputs, Say, made_with, silent
from ..loop.precision import Precision
from ..loop.trainer import Trainer
from ..recipe.settings import WEIGHTS, Recipe
from .choosing import by_weight, choose, figures
from .lists import RankedList, gold_lists, name_lists, unannotated_lists
from .task import ListTask

_DEV_SHARE = 0.25  # of the names that play mentions


def rerank(
    recipe: Recipe,
    inputs: Inputs,
    *,
    resume: bool = False,
    device: str = AUTO,
    say: Say = silent,
    overwrite: bool = False,
    if_any: bool = False,
) -> Assets:
    """Train a reranker, and write assets with it; or without one, and why.

    A recipe that gives a weight is measured at that weight, and its reranker is kept whatever it
    gains. Otherwise dev chooses the weight, and no reranker is kept where none helps.

    inputs (Inputs): without a gold file to train on, names of the knowledge base play mentions. The
        assets must not have learned from the one to choose by; without it, that is a fifth of the
        training documents, or nothing where the recipe chooses nothing.
    overwrite (bool): also delete other files in the output. if_any (bool): where a file has no
        mention that teaches, write the assets without a reranker and say so.
    RAISES (MedlinkError): E2xx for the assets, E4xx for the gold files, E5xx.
        (StoppedError): after Ctrl-C.
    """
    assets, output, train, dev = Path(inputs.base), inputs.output, inputs.train, inputs.dev
    check_output(output, ASSETS, [train, dev], improves=assets, overwrite=overwrite)
    made_from = Assets(assets, device=device)
    if made_from.manifest["encoder"] is None:
        raise Errors.tier_not_built(
            path=made_from.path, tier="dense", built=", ".join(made_from.tiers)
        )
    if why := why_nothing(made_from.kb, train, dev) if if_any else "":
        say(f"No reranker: {why}.")
        return leave_out_reranker(made_from, output, why, overwrite)
    training, held = lists_of(made_from, recipe, train, dev)
    encoder, content = _trained(recipe, made_from, training, held, inputs, resume, say)
    weight = recipe.reranking.weight
    if held:
        ranks = by_weight(encoder, made_from.kb, held, WEIGHTS)
        weight = choose(ranks, held) if weight is None else weight
        content["chosen_on"] = {
            "mentions": len(held),
            "mrr_by_weight": {str(tried): figures(of)["mrr"] for tried, of in ranks.items()},
            "retrieval": figures(ranks[0.0]),
            "reranked": figures(ranks[weight]),
            "file": (dev or train or made_from.kb.path).name,
        }
        say(f"Retrieval: {figures(ranks[0.0])}")
    if not weight:
        before = content["chosen_on"]["retrieval"]
        why = f"it did not help (acc@1 {before['acc@1']}, mrr {before['mrr']} without one)"
        say(f"No reranker: {why}.")
        return leave_out_reranker(made_from, output, why, overwrite)
    if held:
        say(f"Reranked:  {figures(ranks[weight])} (weight {weight})")
    if made_from.manifest["calibrator"] is not None:
        say("The calibrator is fitted anew, to names: those of other scores do not fit.")
    encoder = encoder.using(weight=weight)
    if recipe.reranking.weight is None:  # a wanted weight is an order that nothing else may change
        content["gate"] = gate = _gate(made_from, encoder, held, train is not None)
        sure = f"{gate['passing']:,} of {gate['mentions']:,} mentions"
        say(f"Gate: not read are {sure}, whose first candidate is {gate['margin']:.3f} ahead")
    encoder.move(CPU)
    return store_reranker(made_from, output, encoder, content, overwrite)


def _trained(
    recipe: Recipe,
    assets: Assets,
    training: Sequence[RankedList],
    held: Sequence[RankedList],
    inputs: Inputs,
    resume: bool,
    say: Say,
) -> tuple[CrossEncoder, Data]:
    """Train a cross-encoder that begins with the weights of the bi-encoder.

    RETURNS (Tuple[CrossEncoder, Dict]): with the best weights on dev, or those of the last step;
        and what the manifest says of it.
    """
    device, reads = find_device(assets.device), recipe.reranking
    base = BiEncoder.load(assets.path / ENCODER, device=device)
    settings = CrossSettings(
        reads.max_length, reads.context, reads.reads,
        LOSSES[recipe.objective.loss].activation, top=reads.top,
        kb=kb_fingerprint(assets.manifest["kb"]),
    )  # fmt: skip
    encoder = CrossEncoder.of(base, settings, reads.layers)
    encoder.base.pooling = recipe.encoder.pooling or base.pooling
    tried = WEIGHTS[1:] if reads.weight is None else (reads.weight,)

    def validate() -> dict[str, float]:
        ranks = by_weight(encoder, assets.kb, held, tried)
        best = max(ranks, key=lambda weight: float(ranks[weight].mean()))
        return {**figures(ranks[best]), "weight": best}

    hashes = list(map(sha256_of, inputs.files()))
    identity = made_with(recipe, assets.manifest["encoder"]["fingerprint"], settings.kb, *hashes)
    texts = CandidateTexts(assets.kb, reads.reads)
    task = ListTask(encoder, recipe, training, texts, validate, identity)
    if not task.lists or not (held or not _chooses(recipe)):
        why = "mentions without a right and a wrong candidate"
        raise Errors.nothing_there(
            path=inputs.train or assets.path,
            what=f"mention to train on (left out: {why})",
            remedy="Check that it is the gold file that belongs to this knowledge base.",
        )
    what = "pairs" if reads.pairs else "mentions"
    say(f"{len(task.lists):,} {what} to train on, {len(held):,} to choose by")
    trainer = Trainer(task, recipe, inputs.place, Precision(recipe.training.precision, device))
    trainer.train(resume)
    encoder.module.load_state_dict(trainer.best)
    encoder.refresh()
    return encoder, {"recipe": recipe.as_dict()}


def _gate(assets: Assets, encoder: CrossEncoder, held: Sequence[RankedList], ranker: bool) -> Data:
    retriever = assets.engine(calibrator=False, ranker=ranker, rerank_top=0)
    return fit_rerank_gate(
        Reranker(encoder, assets.kb),
        [ranked.mention for ranked in held],
        [ranked.candidates for ranked in held],
        assets.conditions(retriever),
    )


def _chooses(recipe: Recipe) -> bool:
    """Tell whether mentions are held out: to choose an epoch, or a weight that is not given."""
    return recipe.chooses or recipe.reranking.weight is None


def lists_of(
    assets: Assets, recipe: Recipe, train: Path | None, dev: Path | None
) -> tuple[list[RankedList], list[RankedList]]:
    """Look up the mentions to train on, and those to choose by.

    Training mentions are looked up as if they had not been annotated. The ranker orders the others,
    too, since a reranker must beat the assets without it. Where the recipe chooses nothing, nothing
    is withheld, and those of `dev` are only measured.
    """
    # With a reranker the gate is shut: all tiers are asked.
    settings, seed = recipe.reranking, recipe.training.seed
    tiers: list[str] | None = list(settings.tiers) or None
    engine = assets.engine(tiers, calibrator=False, rerank_top=0, exact_first=False)
    plain = engine.with_parts(memory=None, rescorer=None)
    names = settings.names if train is None else settings.beside
    lists = name_lists(assets.kb, plain, settings.top, names, seed) if names else []
    if train is None:
        held = round(len(lists) * _DEV_SHARE) if _chooses(recipe) else 0
        return lists[held:], lists[:held]
    rest, apart = unannotated_lists(train, assets, settings.top, tiers)
    if dev is None and _chooses(recipe):
        return [*rest, *lists], apart
    unknown = [ranked for ranked in apart if not remembered(ranked.candidates)]
    of_dev = gold_lists(dev, assets.kb, engine, settings.top) if dev else []
    return [*rest, *unknown, *lists], of_dev

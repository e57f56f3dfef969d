"""Train a reranker for assets; it is left out where it does not beat retrieval."""

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
from spacy_medlink.util.devices import AUTO, CPU, find_device
from spacy_medlink.util.files import sha256_of
from spacy_medlink.util.outputs import check_output

from ..data.mentions import why_nothing
from ..kinds.encoder_training import Say, made_with, silent
from ..loop.precision import Precision
from ..loop.trainer import Trainer
from ..recipe.settings import Recipe
from .choosing import by_weight, choose, figures
from .lists import RankedList, gold_lists, name_lists, unannotated_lists
from .task import ListTask

_DEV_SHARE = 0.25  # of the names that play mentions


def rerank(
    recipe: Recipe,
    *,
    assets: Path,
    train: Path | None,
    dev: Path | None,
    output: Path,
    run: Path,
    resume: bool = False,
    device: str = AUTO,
    say: Say = silent,
    overwrite: bool = False,
    if_any: bool = False,
) -> Assets:
    """Train a reranker, choose its weight, and write assets with it, or without and why.

    train (Optional[Path]): gold file; without one names of the knowledge base play mentions.
    dev (Optional[Path]): gold file that the assets have not learned from, to choose the weight by;
        without one a fifth of the training documents.
    output (Path): assets, replaced when all is done. run (Path): for checkpoint and log.
    overwrite (bool): lose what lies in OUTPUT besides assets. if_any (bool): where a file has no
        mention that teaches, write the assets without a reranker and say so.
    RAISES (MedlinkError): E2xx for the assets, E4xx for the gold files, E5xx.
        (StoppedError): after Ctrl-C.
    """
    check_output(output, ASSETS, [train, dev], improves=assets, overwrite=overwrite)
    torch_device = find_device(device)
    made_from = Assets(assets, device=device)
    if made_from.manifest["encoder"] is None:
        raise Errors.tier_not_built(
            path=made_from.path, tier="dense", built=", ".join(made_from.tiers)
        )
    if if_any and (why := why_nothing(made_from.kb, train, dev)):
        say(f"The reranker is left out: {why}.")
        return leave_out_reranker(made_from, output, why, overwrite)
    training, held = lists_of(made_from, recipe, train, dev)
    base = BiEncoder.load(made_from.path / ENCODER, device=torch_device)
    reads = recipe.reranking
    settings = CrossSettings(
        reads.max_length, reads.context, reads.reads,
        LOSSES[recipe.objective.loss].activation, top=reads.top,
        kb=kb_fingerprint(made_from.manifest["kb"]),
    )  # fmt: skip
    encoder = CrossEncoder.of(base, settings, reads.layers)

    def validate() -> dict[str, float]:
        ranks = by_weight(encoder, made_from.kb, held)
        best = max(ranks, key=lambda weight: float(ranks[weight].mean()))
        return {**figures(ranks[best]), "weight": best}

    texts = CandidateTexts(made_from.kb, reads.reads)
    files = [sha256_of(path) for path in (train, dev) if path is not None]
    identity = made_with(recipe, made_from.manifest["encoder"]["fingerprint"], settings.kb, *files)
    task = ListTask(encoder, recipe, training, texts, validate, identity)
    if not task.lists or not held:
        why = "mentions without a right and a wrong candidate"
        raise Errors.nothing_there(
            path=train or made_from.path,
            what=f"mention to train on (left out: {why})",
            remedy="Check that it is the gold file that belongs to this knowledge base.",
        )
    say(f"{len(task.lists):,} mentions to train on, {len(held):,} to choose by")
    trainer = Trainer(task, recipe, run, Precision(recipe.training.precision, torch_device))
    trainer.train(resume)
    encoder.module.load_state_dict(trainer.best)
    encoder.refresh()
    chosen = choose(by_weight(encoder, made_from.kb, held), held, reads.weight)
    chosen_on = dev or train
    content = {
        "chosen_on": {**chosen.figures, "file": chosen_on.name if chosen_on else None},
        "recipe": recipe.as_dict(),
    }
    before, after = chosen.figures["retrieval"], chosen.figures["reranked"]
    if not chosen.weight:
        measured = f"acc@1 {before['acc@1']}, mrr {before['mrr']}"
        why = f"it does not beat retrieval beyond doubt ({measured})"
        say(f"The reranker is left out: {why}.")
        return leave_out_reranker(made_from, output, why, overwrite)
    say(f"Retrieval: {before}\nReranked:  {after} (weight {chosen.weight})")
    if made_from.manifest["calibrator"] is not None:
        say("The calibrator is fitted anew, to names: those of other scores do not fit.")
    encoder = encoder.using(weight=chosen.weight)
    if reads.weight is None:  # a wanted weight is an order that nothing else may change
        retriever = made_from.engine(calibrator=False, ranker=train is not None, rerank_top=0)
        content["gate"] = gate = fit_rerank_gate(
            Reranker(encoder, made_from.kb),
            [ranked.mention for ranked in held],
            [ranked.candidates for ranked in held],
            made_from.conditions(retriever),
        )
        sure = f"{gate['passing']:,} of {gate['mentions']:,} mentions"
        say(f"Gate: not read are {sure}, whose first candidate is {gate['margin']:.3f} ahead")
    encoder.move(CPU)
    return store_reranker(made_from, output, encoder, content, overwrite)


def lists_of(
    assets: Assets, recipe: Recipe, train: Path | None, dev: Path | None
) -> tuple[list[RankedList], list[RankedList]]:
    """Look up the mentions to train on, and those that choose the weight.

    Training mentions are looked up as if they had not been annotated. The ranker orders the others,
    too, since a reranker must beat the assets without it.
    """
    # With a reranker the gate is shut: all tiers are asked.
    settings, seed = recipe.reranking, recipe.training.seed
    tiers: list[str] | None = list(settings.tiers) or None
    engine = assets.engine(tiers, calibrator=False, rerank_top=0, exact_first=False)
    plain = engine.with_parts(memory=None, rescorer=None)
    names = settings.names if train is None else settings.beside
    lists = name_lists(assets.kb, plain, settings.top, names, seed) if names else []
    if train is None:
        held = round(len(lists) * _DEV_SHARE)
        return lists[held:], lists[:held]
    rest, apart = unannotated_lists(train, assets, settings.top, tiers)
    if dev is None:
        return [*rest, *lists], apart
    unknown = [ranked for ranked in apart if not remembered(ranked.candidates)]
    return [*rest, *unknown, *lists], gold_lists(dev, assets.kb, engine, settings.top)

"""learn: fits all parts that annotated text allows, without training an encoder."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..assets import Assets
from ..assets.layout import CALIBRATOR, RANKER_FILE
from ..assets.manifest import ASSETS
from ..assets.variant import left_out, write_variant
from ..errors import Errors, MedlinkError
from ..evaluation import load_gold
from ..evaluation.gold_set import Case
from ..fitting.calibrate import TARGET_PRECISION, calibrate_assets, calibrate_on_names
from ..fitting.gate import fit_gate
from ..fitting.links import Links, links_of
from ..fitting.memory import key_of
from ..fitting.mention_names import add_mention_names
from ..fitting.ranker import check_top, fit_ranker
from ..linking.ranker import TOP
from ..types import Mention, Progress
from ..util.files import working_directory
from ..util.outputs import check_output
from ..util.progress import no_progress
from .build import build_assets

# Errors for too little text for a part, which is then left out.
_TOO_LITTLE = frozenset({"E407", "E413", "E530"})
_NOT_BETTER = "fitted to this text, they give fewer right links at the same precision"


class Learned(NamedTuple):
    """The result of `learn`. names (int): mentions that became names.

    assets (Assets): the new assets. left_out (Dict[str, str]): "ranker", "calibrator" or
    "reranker", with the reason. before, after (Links): of the mentions, by the earlier assets, and
    by what was learned from the other four fifths of the documents. kept (bool): the earlier
    ranker, calibrator and fusion stay, since those fitted to the text are not better.
    """

    assets: Assets
    names: int
    left_out: dict[str, str]
    before: Links
    after: Links
    kept: bool

    @property
    def facts(self) -> dict[str, Any]:
        """The facts for the manifest."""
        return dict(self.assets.manifest)


def learn(
    assets: Assets,
    out: str | Path,
    train: str | Path,
    *,
    new_concepts: bool = False,
    top: int = TOP,
    target_precision: float = TARGET_PRECISION,
    progress: Progress = no_progress,
    overwrite: bool = False,
) -> Learned:
    """Write assets that are fitted to annotated text.

    The mentions become names of their concepts, and entries of the memory. If no other text has
    chosen the fusion, they do, each as if it were new. Then the ranker and the calibrator are
    fitted to the same text, where each fold is looked up as if it had not been annotated. The
    encoder does not change, and only new names are encoded. Where these give fewer
    right links at the same precision than the earlier ranker, calibrator and fusion, those stay.

    out (Path): directory to write, which may be that of the assets. train (Path): gold mentions
        that the encoder was not fine-tuned on. new_concepts (bool): unknown ids become concepts.
        top (int): candidates that the ranker orders.
    target_precision (float): of the links above the threshold. overwrite (bool): delete other
        files in `out`.
    RAISES (MedlinkError): E107, E401-E404 for the file, E220 if the assets remember mentions that
        the file lacks, E302 for a top below 2, E109 for the disk, E120-E123 for files in `out`.
    """
    train, out = Path(train), Path(out)
    check_output(out, ASSETS, [train], improves=assets.path, overwrite=overwrite)
    check_top(top)
    cases = list(load_gold(train, assets.kb, nil_only=True).cases())
    _check_memory(assets, cases, train)
    with working_directory(out) as work:
        added = add_mention_names(work / "names.kb", assets.kb, [train], new_concepts)

        def build(place: str, dev: Path | None) -> Assets:
            return build_assets(
                work / place, added.kb.path, update=assets.path, memory=[train], dev=dev,
                calibrate=False, device=assets.device, progress=progress, resume=False,
            )  # fmt: skip

        built = build("built", None if _has_chosen(assets) else train)
        made, missing = _with_models(built, work, train, top, target_precision, progress)
        before, after = (_links_of(one, train, progress) for one in (assets, made))
        kept = bool(len(before.first)) and not after.is_better_than(before)
        if kept:
            made = _with_models_of(assets, build("again", None), work / "kept")
            after, missing = links_of(made, train, progress), {"models": _NOT_BETTER}
        if assets.manifest.get("reranker") is not None:
            missing["reranker"] = "scores have changed: train it again (python -m training.train)"
        reasons = dict(made.manifest.get("left_out") or {})
        for part, why in missing.items():
            reasons |= left_out(made, part, why)
        links = {"before": before.facts(), "after": after.facts()}
        facts = {"left_out": reasons, "gate": _gate(made, cases), "links": links}
        done = write_variant(made, out, facts, inputs=[train], overwrite=overwrite)
    return Learned(done, added.facts["names"], missing, before, after, kept)


def _links_of(assets: Assets, train: Path, progress: Progress) -> Links:
    """Count links as `links_of` does; none where all gold is NIL."""
    try:
        return links_of(assets, train, progress)
    except MedlinkError as error:
        if error.code != "E407":
            raise
        return Links._make([np.zeros(0, dtype=np.bool_)] * len(Links._fields))


def _with_models(
    built: Assets, work: Path, train: Path, top: int, target_precision: float, progress: Progress
) -> tuple[Assets, dict[str, str]]:
    """Fit ranker and calibrator. RETURNS: the assets, and why a part is missing."""
    missing: dict[str, str] = {}

    def rank() -> Assets:
        fitted = fit_ranker(
            built, work / "ranked", train, top=top, calibrate=False, progress=progress
        )
        if not fitted.kept:
            missing["ranker"] = fitted.assets.manifest["left_out"]["ranker"]
        return fitted.assets

    ranked = _or_without(rank, built, "ranker", missing)

    def calibrate() -> Assets:
        return calibrate_assets(
            ranked, work / "calibrated", train=train, target_precision=target_precision,
            progress=progress,
        ).assets  # fmt: skip

    made = _or_without(calibrate, ranked, "calibrator", missing)
    if missing.pop("calibrator", None) is not None:
        made = calibrate_on_names(ranked, work / "named", progress)
    return made, missing


def _with_models_of(assets: Assets, built: Assets, out: Path) -> Assets:
    """Write assets with the ranker and the calibrator of others, which score alike."""
    own = [name for name in (RANKER_FILE, CALIBRATOR) if name in assets.files]
    changes = {part: assets.manifest.get(part) for part in ("ranker", "calibrator")}

    def add(path: Path) -> None:
        for name in own:
            assets.put(name, path / name)

    return write_variant(built, out, changes, add=add)


def _gate(assets: Assets, cases: Sequence[Case]) -> dict[str, Any] | None:
    """Fit the gate to the new assets; the mentions are those of the memory."""
    linker = assets.engine(exact_first=False)
    gold = [Mention(one.mention.text, label=one.mention.label) for one in cases]
    return fit_gate(linker, assets.kb, assets.conditions(linker), gold)


def _or_without(
    fit: Callable[[], Assets], assets: Assets, part: str, missing: dict[str, str]
) -> Assets:
    """Fit a part; leave it out where there is too little text."""
    try:
        return fit()
    except MedlinkError as error:
        if error.code not in _TOO_LITTLE:
            raise
        missing[part] = error.message
        return assets


def _has_chosen(assets: Assets) -> bool:
    """Tell whether the fusion was chosen on other text than the memory's."""
    chosen_on = assets.manifest["fusion"].get("chosen_on") or {}
    memory = assets.manifest.get("memory") or {"sources": []}
    learned = {source["sha256"] for source in memory["sources"]}
    return "file" in chosen_on and chosen_on["sha256"] not in learned


def _check_memory(assets: Assets, cases: Sequence[Case], train: Path) -> None:
    """Refuse to shorten the memory: the file must have all of its mentions."""
    if assets.manifest.get("memory") is None:
        return
    said = set(map(key_of, cases))
    lost = sorted({line.key for line in assets.memory_lines} - said)
    if lost:
        raise Errors.memory_lost(path=assets.path, count=len(lost), train=train, example=lost[0])

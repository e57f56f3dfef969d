"""learn: fits all parts that annotated text allows, without training an encoder."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors, MedlinkError
from ..evaluation import load_gold
from ..evaluation.gold_set import Case, GoldSet
from ..fitting.calibrate import fit_on_gold, fit_on_names_of
from ..fitting.links import Links, links_of
from ..fitting.memory import key_of
from ..fitting.mention_names import add_mention_names
from ..fitting.ranker import fit_ranker
from ..types import Data, Progress
from ..util.files import replacing_directory, working_directory
from ..util.outputs import check_output
from ..util.progress import no_progress
from .assets import Assets
from .build import Build
from .manifest import ASSETS, CALIBRATOR, RANKER_FILE
from .settings import BuildSettings, LearnSettings
from .variant import add_calibrator, add_ranker, describe_anew

# Errors for too little text for a part, which is then left out.
_TOO_LITTLE = frozenset({"E407", "E530"})
_NOT_BETTER = "fitted to this text, they give fewer right links at the same precision"


class Learned(NamedTuple):
    """The result of `learn`. names (int): mentions that became names.

    assets (Assets): the new assets. left_out (Dict[str, str]): "ranker", "calibrator" or
    "reranker", with the reason. before, after (Links): of the mentions, by the earlier assets, and
    by what was learned from the other four fifths of the documents. kept (bool): the earlier
    ranker and calibrator stay, since those fitted to the text are not better.
    """

    assets: Assets
    names: int
    left_out: dict[str, str]
    before: Links
    after: Links
    kept: bool

    @property
    def manifest(self) -> Data:
        """The manifest of the new assets."""
        return dict(self.assets.manifest)


def learn(
    assets: Assets,
    out: str | Path,
    train: str | Path,
    *,
    progress: Progress = no_progress,
    overwrite: bool = False,
    **settings: object,
) -> Learned:
    """Write assets that are fitted to annotated text.

    The mentions become names of their concepts, and entries of the memory. Then the ranker and the
    calibrator are fitted to the same text, where each fold is looked up as if it had not been
    annotated. The encoder does not change, and only new names are encoded. Where these give fewer
    right links at the same precision than the earlier ranker and calibrator, those stay.

    out (Path): directory to write, which may be that of the assets. train (Path): gold mentions
        that the encoder was not fine-tuned on. overwrite (bool): delete other files in `out`.
        settings: the fields of `LearnSettings`.
    RAISES (MedlinkError): E107, E401-E404 for the file, E220 if the assets remember mentions that
        the file lacks, E302 for settings, E109 for the disk, E120-E123 for files in `out`.
    """
    given = LearnSettings.of(settings)
    train, out = Path(train), Path(out)
    check_output(out, ASSETS, [train], improves=assets.path, overwrite=overwrite)
    gold = load_gold(train, assets.kb, nil_only=True)
    cases = list(gold.cases())
    _check_memory(assets, cases, train)
    source = assets.path
    with (
        working_directory(out) as work,
        replacing_directory(out, ASSETS, [train], improves=source, overwrite=overwrite) as path,
    ):
        added = add_mention_names(work / "names.kb", assets.kb, [gold], given.new_concepts)
        named = gold.over(added.kb)
        build = Build(
            added.kb, assets, BuildSettings(calibrate=False), memory=[named],
            device=assets.device, progress=progress,
        )  # fmt: skip
        build.write(path)
        built = Assets(path, device=assets.device)
        made, missing = _with_new_models(path, built, named, given, progress)
        before, after = links_of(assets, gold, progress), links_of(made, named, progress)
        kept = bool(len(before.first)) and not after.is_better_than(before)
        if kept:
            made, missing = _with_models_of(assets, path, built), {"models": _NOT_BETTER}
            after = links_of(made, named, progress)
        if assets.manifest.get("reranker") is not None:
            missing["reranker"] = "scores have changed: train it again (python -m training.train)"
        links = {"before": before.facts(), "after": after.facts()}
        entries = {"left_out": missing, "links": links}
        describe_anew(made, path, entries, (RANKER_FILE, CALIBRATOR))
    done = Assets(out, device=assets.device)
    return Learned(done, added.entry["names"], missing, before, after, kept)


def _with_new_models(
    path: Path, built: Assets, gold: GoldSet, settings: LearnSettings, progress: Progress
) -> tuple[Assets, dict[str, str]]:
    """Fit ranker and calibrator. RETURNS: the assets, and why a part is missing."""
    missing: dict[str, str] = {}
    made = built
    try:
        ranked = fit_ranker(built, gold, settings.top, progress)
    except MedlinkError as error:
        missing["ranker"] = _too_little(error)
    else:
        if ranked.ranker is not None:
            made = add_ranker(path, built, ranked)
        else:
            missing["ranker"] = ranked.why_not
    try:
        fit = fit_on_gold(
            made, gold, as_if_unannotated=True, target_precision=settings.target_precision,
            progress=progress,
        )  # fmt: skip
    except MedlinkError as error:
        _too_little(error)
        return add_calibrator(path, made, fit_on_names_of(made, progress)), missing
    return add_calibrator(path, made, fit), missing


def _too_little(error: MedlinkError) -> str:
    """Say why there is too little text for a part; raise what is wrong otherwise."""
    if error.code not in _TOO_LITTLE:
        raise error
    return error.message


def _with_models_of(assets: Assets, path: Path, built: Assets) -> Assets:
    """Write ranker and calibrator of the earlier assets in place of new ones."""
    for name in (RANKER_FILE, CALIBRATOR):
        (path / name).unlink(missing_ok=True)
        if name in assets.files:
            assets.put(name, path / name)
    return built.refitted({part: assets.manifest.get(part) for part in ("ranker", "calibrator")})


def _check_memory(assets: Assets, cases: Sequence[Case], train: Path) -> None:
    """Refuse to shorten the memory: the file must have all of its mentions."""
    if assets.manifest.get("memory") is None:
        return
    keys = set(map(key_of, cases))
    lost = sorted({line.key for line in assets.memory_lines} - keys)
    if lost:
        raise Errors.memory_lost(path=assets.path, count=len(lost), train=train, example=lost[0])

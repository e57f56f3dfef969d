"""learn: all that annotated text teaches without training an encoder, in one go."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ..assets import Assets
from ..errors import Errors, MedlinkError
from ..files import sha256_of
from ..progress import no_progress
from ..ranking.model import TOP
from ..types import Progress
from .build import build_assets
from .calibrate import TARGET_PRECISION, calibrate_assets
from .mention_names import add_mention_names
from .ranker import fit_ranker
from .variant import left_out, write_variant

# What says that there is too little text for a part, which is then left out.
_TOO_LITTLE = frozenset({"E413", "E414", "E530"})


class Learned(NamedTuple):
    """assets (Assets): what was written. names (int): mentions that became names.

    left_out (Dict[str, str]): "ranker" or "calibrator", and why it is not there.
    """

    assets: Assets
    names: int
    left_out: dict[str, str]

    @property
    def facts(self) -> dict[str, Any]:
        """What the manifest says of them."""
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
) -> Learned:
    """Write assets that know what annotated text says.

    Its mentions become names of their concepts, and the memory of corrections; then the ranker and
    the calibrator are fitted to the same text, each fifth of the documents looked up as if it had
    not been annotated. The encoder stays as it is, and only new names are encoded.

    out (Path): directory to write, which may be that of the assets. train (Path): gold mentions
        that the encoder was not fine-tuned on. new_concepts (bool): ids that the knowledge base
        lacks become concepts. top (int): candidates that the ranker orders.
    target_precision (float): of the links above the threshold.
    RAISES (MedlinkError): E107, E401-E404, E407 for the file, E302 where the assets remember
        another file, which they would forget, E109 the disk.
    """
    train, out = Path(train), Path(out)
    _check_memory(assets, train)
    out.parent.mkdir(parents=True, exist_ok=True)
    missing: dict[str, str] = {}
    # Beside the place where all will be, so that files are linked and not copied.
    with TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as place:
        work = Path(place)
        added = add_mention_names(work / "names.kb", assets.kb, [train], new_concepts)
        made = build_assets(
            work / "built", added.kb.path, update=assets.path, memory=[train], progress=progress
        )

        def rank() -> Assets:
            fitted = fit_ranker(made, work / "ranked", train, top=top, progress=progress)
            if not fitted.kept:
                missing["ranker"] = fitted.assets.manifest["left_out"]["ranker"]
            return fitted.assets

        made = _or_without(rank, made, "ranker", missing)

        def calibrate() -> Assets:
            return calibrate_assets(
                made, work / "calibrated", train=train, target_precision=target_precision,
                progress=progress,
            ).assets  # fmt: skip

        made = _or_without(calibrate, made, "calibrator", missing)
        reasons = dict(made.manifest.get("left_out") or {})
        for part, why in missing.items():
            reasons |= left_out(made, part, why)
        done = write_variant(made, out, {"left_out": reasons})
    return Learned(done, added.facts["names"], missing)


def _or_without(
    fit: Callable[[], Assets], assets: Assets, part: str, missing: dict[str, str]
) -> Assets:
    """Fit a part; without it where there is too little text to learn it from."""
    try:
        return fit()
    except MedlinkError as error:
        if error.code not in _TOO_LITTLE:
            raise
        missing[part] = error.message
        return assets


def _check_memory(assets: Assets, train: Path) -> None:
    memory = assets.manifest.get("memory")
    others = [
        source["name"] for source in (memory["sources"] if memory else ())
        if source["sha256"] != sha256_of(train)
    ]  # fmt: skip
    if others:
        rule = f"the assets remember {', '.join(others)}, too: give one file that has it all"
        raise Errors.bad_setting(name="train", value=str(train), rule=rule)

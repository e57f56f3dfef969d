"""Putting a reranker into assets, or noting there why it was left out."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..assets import CALIBRATOR, RERANKER, Assets, write_manifest
from ..files import link_or_copy, replacing_directory

if TYPE_CHECKING:
    from ..encoders.cross_encoder import CrossEncoder

_OWN = ("schema", "files")  # that writing a manifest sets itself


def store_reranker(
    assets: Assets, out: str | Path, encoder: "CrossEncoder", facts: dict[str, Any]
) -> Assets:
    """Write the assets with a reranker, in place of one that they have.

    Their calibrator is left out: it was fitted to other scores.

    out (Path): directory to write, which may be that of the assets. facts (Dict): for the manifest.
    RAISES (MedlinkError): E217 when it was made for others, E109 the disk.
    """
    assets.check_reranker(encoder, Path(out) / RERANKER)
    about = {"fingerprint": encoder.fingerprint(), "top": encoder.settings.top,
             "weight": encoder.settings.weight, **facts}  # fmt: skip
    return _write(assets, Path(out), encoder, about, "")


def leave_out_reranker(assets: Assets, out: str | Path, why: str) -> Assets:
    """Write the assets without a reranker; the manifest's "left_out" says why."""
    return _write(assets, Path(out), None, None, why)


def _write(
    assets: Assets,
    out: Path,
    encoder: "CrossEncoder | None",
    about: dict[str, Any] | None,
    why: str,
) -> Assets:
    had_one = assets.manifest.get("reranker") is not None
    kept = {name: fact for name, fact in assets.manifest.items() if name not in _OWN}
    left_out = {k: v for k, v in (kept.get("left_out") or {}).items() if k != RERANKER}
    if why:
        left_out[RERANKER] = why
    scores_change = about is not None or had_one
    if scores_change and kept.get("calibrator") is not None:
        kept["calibrator"] = None
    with replacing_directory(out) as path:
        for name in assets.files[1:]:
            if name.split("/")[0] == RERANKER or (scores_change and name == CALIBRATOR):
                continue
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(assets.path / name, path / name)
        if encoder is not None:
            (path / RERANKER).mkdir()
            encoder.save(path / RERANKER)
        write_manifest(path, {**kept, RERANKER: about, "left_out": left_out})
    return Assets(out)

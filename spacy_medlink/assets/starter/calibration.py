"""The calibrator of the starter assets, which is fitted once and shipped.

Fitting takes seconds, and the assets are built anew in each process. Write it again when the
terminology, the features or the examples change:
`python -m spacy_medlink.assets.starter.calibration`.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from ...types import Data
from .. import Assets
from ..manifest import CALIBRATOR

FITTED = Path(__file__).with_name("calibrator.json")


def with_calibrator(assets: Assets, out: Path) -> Assets:
    """Write the starter assets with their calibrator."""
    from ..variant import write_variant

    fitted = json.loads(FITTED.read_text(encoding="utf-8"))

    def add(path: Path) -> None:
        (path / CALIBRATOR).write_text(json.dumps(fitted["calibrator"]), encoding="utf-8")

    return write_variant(assets, out, {"calibrator": fitted["facts"]}, add=add)


def fit_starter() -> Data:
    """Fit the calibrator. RETURNS: `facts` for the manifest, and `calibrator` for its file."""
    from .. import build_assets
    from . import build_starter_kb

    with TemporaryDirectory() as directory:
        kb = build_starter_kb(Path(directory))
        assets = build_assets(Path(directory) / "assets", kb)
        calibrator = json.loads((assets.path / CALIBRATOR).read_text(encoding="utf-8"))
        return {"facts": assets.manifest["calibrator"], "calibrator": calibrator}


if __name__ == "__main__":
    FITTED.write_text(json.dumps(fit_starter(), indent=1, sort_keys=True) + "\n", encoding="utf-8")

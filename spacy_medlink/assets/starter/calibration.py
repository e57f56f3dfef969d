"""The calibrator of the starter assets, which is fitted once and shipped.

Fitting takes seconds, and the assets are built anew in each process. Write it again when the
terminology, the features or the examples change:
`python -m spacy_medlink.assets.starter.calibration`.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from ...types import Data
from ..manifest import CALIBRATOR
from . import FITTED, build_starter_kb


def fit_starter() -> Data:
    """Fit the calibrator. RETURNS: `facts` for the manifest, and `calibrator` for its file."""
    from .. import build_assets

    with TemporaryDirectory() as directory:
        kb = build_starter_kb(Path(directory))
        assets = build_assets(Path(directory) / "assets", kb)
        calibrator = json.loads((assets.path / CALIBRATOR).read_text(encoding="utf-8"))
        return {"facts": assets.manifest["calibrator"], "calibrator": calibrator}


if __name__ == "__main__":
    FITTED.write_text(json.dumps(fit_starter(), indent=1, sort_keys=True) + "\n", encoding="utf-8")

"""Reference: where the assets of a saved linker are, when they are not within it."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import Errors, MedlinkError
from ...util.outputs import read_json

if TYPE_CHECKING:  # spaCy imports this module with every `spacy.blank`
    from ...assets import Assets

REFERENCE = "reference.json"


@dataclass(frozen=True)
class Reference:
    """Shared assets, and how to know that they are the same ones.

    path (str): the directory, absolute. relative (str): from the saved component to the directory,
        so that both can move together; "" where there is no such way. manifest (str): SHA-256 of
        the manifest, which itself has that of every file.
    """

    path: str
    relative: str
    manifest: str

    @classmethod
    def to(cls, assets: "Assets", saved: Path | None = None) -> "Reference":
        """Refer to assets. saved (Optional[Path]): directory of the component that refers."""
        path = assets.path.resolve()
        return cls(str(path), _way(saved, path), assets.build)

    @classmethod
    def is_in(cls, path: Path) -> bool:
        """Tell whether a file holds a reference."""
        found = read_json(path)
        return isinstance(found, dict) and found.keys() == {"path", "relative", "manifest"}

    @classmethod
    def parse(cls, text: str, saved: str | Path) -> "Reference":
        """Read what `dump` wrote.

        RAISES (MedlinkError): E202 for anything else.
        """
        try:
            return cls(**json.loads(text))
        except (TypeError, ValueError) as error:
            raise Errors.assets_incomplete(path=saved, problem=f"{REFERENCE}: {error}") from error

    def dump(self) -> str:
        """Write as JSON."""
        return json.dumps(asdict(self), indent=2) + "\n"

    def open(self, saved: Path | None, source: str | None) -> "Assets":
        """Open the assets: where they were, where they should have moved to, or at `source`.

        saved (Optional[Path]): directory of the component that refers; None for bytes.
        source (Optional[str]): what the config calls `assets`.
        RAISES (MedlinkError): E309 when they are nowhere to be found, or others.
        """
        from ..sources import open_assets

        places = [self.path]
        if saved is not None and self.relative:
            places.append(os.path.normpath(saved.resolve() / self.relative))
        places += [source] if source is not None else []
        problems = []
        for place in dict.fromkeys(places):
            try:
                assets = open_assets(place)
            except MedlinkError as error:
                problems.append(f"{place} holds none that can be opened, {error.code}")
                continue
            if assets.build == self.manifest:
                return assets
            problems.append(f"{place} holds others, whose manifest.json is another")
        raise Errors.reference_lost(path=saved or "these bytes", problems="; ".join(problems))


def _way(saved: Path | None, path: Path) -> str:
    if saved is None:
        return ""
    try:
        return Path(os.path.relpath(path, saved.resolve())).as_posix()
    except ValueError:  # another drive
        return ""

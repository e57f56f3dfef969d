"""Reads a manifest by its schema: types, bounds, and facts that must agree with each other.

Other facts may be added freely; code relies only on the facts in this file.
"""

import json
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

from ..errors import Errors
from ..retrieval.tier import DENSE, EXACT
from ..types import Data
from .manifest import (
    FACTS,
    KB_FILE,
    MANIFEST,
    NAME_CONCEPT,
    SCHEMA,
    files_of_tier,
)

_MANY = 1 << 32  # limit of numbers in arrays
_SHOWN = 40  # characters of a value
_OF_EXACT = tuple(f"{EXACT}/{name}.npy" for name in ("hash", "start", "row", "check"))

Count = Annotated[StrictInt, Field(ge=0, lt=_MANY)]
Weight = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
_Free = dict[StrictStr, Any]
Tier = Annotated[str, Field(strict=True, pattern=r"^[a-z][a-z0-9_-]{0,39}$")]


class _Facts(BaseModel):
    model_config = ConfigDict(extra="allow")


class FileFacts(_Facts):
    """Size of a file in bytes, and its checksum."""

    size: Annotated[StrictInt, Field(ge=0, lt=1 << 63)]
    sha256: Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{64}$")]


class KBFacts(_Facts):
    """Facts from the knowledge base's own manifest."""

    concepts: Count
    names: Count


class RuntimeFacts(_Facts):
    """The runtime of an exported encoder."""

    name: Literal["onnx"]
    precision: StrictStr


class EncoderFacts(_Facts):
    """The encoder. static (bool): it has no layers, and needs neither torch nor an export."""

    fingerprint: StrictStr
    dim: Annotated[StrictInt, Field(ge=1, le=1 << 16)]
    max_length: Annotated[StrictInt, Field(ge=1, le=1 << 20)]
    pooling: StrictStr
    source: StrictStr
    static: bool = False
    runtime: RuntimeFacts | None = None


class IndexFacts(_Facts):
    """The vector index."""

    spec: StrictStr
    names: Count


class FusionFacts(_Facts):
    """The function that combines the tiers' scores."""

    function: StrictStr | None = None
    weights: dict[Tier, Weight]


class CalibratorFacts(_Facts):
    """The calibrator; the calibrator itself checks its threshold."""

    threshold: Annotated[float, Field(strict=True, allow_inf_nan=False)] = 0.0


class RerankGateFacts(_Facts):
    """The gate of the reranker: which mentions it need not read."""

    margin: Weight
    fitted_for: _Free


class RerankerFacts(_Facts):
    """The reranker."""

    fingerprint: StrictStr
    gate: RerankGateFacts | None = None


class ManifestFacts(_Facts):
    """The whole manifest."""

    kb: KBFacts
    tiers: Annotated[list[Tier], Field(min_length=1, max_length=40)]
    encoder: EncoderFacts | None
    fusion: FusionFacts
    files: dict[StrictStr, FileFacts]
    index: IndexFacts | None = None
    left_out: dict[StrictStr, StrictStr] | None = None
    memory: _Free | None = None
    calibrator: CalibratorFacts | None = None
    ranker: _Facts | None = None
    reranker: RerankerFacts | None = None
    update: _Free | None = None
    versions: _Free | None = None

    @model_validator(mode="after")
    def _agrees(self) -> "ManifestFacts":
        for name in self.files:
            if not _is_inside(name):
                raise ValueError(f"the file {name!r} would lie outside")
        needed = [KB_FILE, f"{NAME_CONCEPT}.npy"]
        needed += [*(_OF_EXACT if EXACT in self.tiers else ()), *self._first_files()]
        if absent := [name for name in needed if name not in self.files]:
            raise ValueError(f"no checksum of {', '.join(absent)}")
        if DENSE in self.tiers and self.encoder is None:
            raise ValueError("vectors without an encoder")
        if self.index is not None and self.index.names != self.kb.names:
            raise ValueError(
                f"an index of {self.index.names} names for a knowledge base of {self.kb.names}"
            )
        return self

    def _first_files(self) -> list[str]:
        """Name a file of each tier; where there is none, a place that it could have."""
        first = []
        for tier in self.tiers:
            begins = files_of_tier(tier)[0]
            own = (name for name in self.files if name.startswith(begins))
            first.append(next(own, f"{begins}*" if begins.endswith("/") else begins))
        return first


def parse_manifest(path: Path, text: bytes) -> Data:
    """Read the manifest of the assets at `path`, and check it as a whole.

    RAISES (MedlinkError): E202 a damaged manifest, E103 another schema.
    """
    try:
        manifest: Data = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Errors.assets_incomplete(path=path, problem=f"{MANIFEST}: {error}") from error
    if not isinstance(manifest, dict):
        raise Errors.assets_incomplete(path=path, problem=f"{MANIFEST} is not an object")
    schema = manifest.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        raise Errors.other_schema(path=path, found=_short(schema), expected=SCHEMA, verb="build")
    if absent := [fact for fact in FACTS if fact not in manifest]:
        problem = f"{MANIFEST} lacks {', '.join(absent)}"
        raise Errors.assets_incomplete(path=path, problem=problem)
    if problem := _problem_of(manifest):
        raise Errors.assets_incomplete(path=path, problem=f"{MANIFEST}: {problem}")
    return manifest


def _problem_of(manifest: Data) -> str:
    """Describe the first problem of a manifest; "" where there is none."""
    try:
        ManifestFacts.model_validate(manifest)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        at = ".".join(map(str, first["loc"]))
        return f"{at}: {first['msg']}" if at else str(first["msg"])
    except RecursionError:
        return "it is nested too deeply"
    return ""


def _is_inside(name: str) -> bool:
    """Tell whether a file name stays within the directory, on any system."""
    parts = PurePosixPath(name).parts
    plain = name == "/".join(parts) and not {"\\", ":", "\0"} & set(name)
    return bool(parts) and plain and parts[0] != "/" and ".." not in parts


def _short(value: object) -> str:
    if isinstance(value, int) and abs(value) >> 64:
        return "a huge number"
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."

"""Assets: the directory of one linker (knowledge base, tiers, encoder), and its manifest.

manifest.json      schema, checksums, and the inputs of the build
kb.sqlite          the knowledge base
name_concept.npy   concept row of every name row, int32
exact/ ngram/      arrays of these tiers
facets/            arrays by which names are filtered and ties broken
memory/            the concepts of annotated mentions, when there is any annotated text
ranker.json        a small model that orders candidates anew, when `medlink learn` fitted one
calibrator.json    turns scores into probabilities; fitted to names by the build, or to gold
dense.faiss        the vector index, when there is an encoder
encoder/           a Hugging Face directory
runtime/           the same network for a runtime without torch, when the build exported it
reranker/          a cross-encoder with its head and settings, when one was worth its time
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, MedlinkError
from ..kb import KnowledgeBase
from ..kb.schema import kb_fingerprint
from ..linking import Linker, LinkSettings, open_linker
from ..linking.calibrator import RankingCalibrator
from ..linking.opening import OF_ASSETS
from ..linking.ranker import CandidateRanker
from ..retrieval.added import AddedNames
from ..retrieval.exact import ExactIndex
from ..retrieval.facets import Facets
from ..retrieval.filters import NameFilters
from ..retrieval.memory import MentionMemory, Remembered, read_memory
from ..retrieval.tier import DENSE, EXACT, Tier, tier_of_names
from ..retrieval.word_ngram import WordNgramIndex
from ..types import Calibrator, Data, Encoder, Facts
from ..util.extras import missing
from ..util.files import replacing_directory, sha256_of
from ..util.locks import ForkSafeLock
from . import parts
from .build_files import open_build, states_of
from .manifest import (
    ASSETS,
    CALIBRATOR,
    FACETS,
    MANIFEST,
    MEMORY,
    RANKER_FILE,
    RERANKER,
    files_of_tier,
)

if TYPE_CHECKING:  # faiss and torch are loaded where there is a dense tier or a reranker
    from ..encoders.cross_encoder import CrossEncoder
    from ..retrieval.dense import DenseIndex

Part = TypeVar("Part")
AnyAssets = TypeVar("AnyAssets", bound="Assets")
_NOT_LOADED = object()
_SETTINGS = frozenset(field.name for field in fields(LinkSettings))


def loaded_once(load: Callable[[AnyAssets], Part]) -> Callable[[AnyAssets], Part]:
    """Load a part when it is first asked for; every problem with its files has a code."""
    name = load.__name__

    @wraps(load)
    def part_of(assets: AnyAssets) -> Part:
        assets = cast(AnyAssets, assets.holder(name))
        part: Any = assets.parts.get(name, _NOT_LOADED)  # which `move` may take out at any time
        if part is _NOT_LOADED:
            with assets.lock:
                part = assets.parts.get(name, _NOT_LOADED)
                if part is _NOT_LOADED:
                    part = assets.parts[name] = _with_codes(load, assets)
        return cast(Part, part)

    return part_of


def _with_codes(load: Callable[[AnyAssets], Part], assets: AnyAssets) -> Part:
    try:
        with assets.held.reading():
            part = load(assets)
            assets.check_unchanged()
            return part
    except MedlinkError:
        raise
    except ImportError as error:
        raise missing(error, f"{load.__name__} of {assets.path}") from error
    except Exception as error:
        problem = f"{load.__name__} cannot be opened: {type(error).__name__}: {error}"
        raise Errors.assets_incomplete(path=assets.path, problem=problem) from error


class Assets:
    """One build of a directory of assets; each part is loaded when first asked for.

    The directory is held open. A build that replaces it later is seen only by assets that are
    opened after that (`reload`), in any thread or forked child. If its files are changed otherwise,
    parts that are not loaded yet are refused. Unpickled assets need the same build at the path.

    path (Path): a directory that `medlink build` wrote.
    verify (bool): compare every file with its checksum; otherwise only presence and size count.
    device (str): for encoder and reranker: "cpu", "cuda", "cuda:1", "mps", or "auto" for
        a GPU where there is one. Unpickled assets use the same device.
    RAISES (MedlinkError): E201 no directory, E202 parts missing or damaged, E103 another schema,
        E204 parts that do not belong together, or another build when unpickled.
    """

    def __init__(self, path: str | Path, verify: bool = False, device: str = parts.CPU) -> None:
        self.path, self.device = Path(path), device
        self.held, self.manifest, self.build, self._states = open_build(self.path)
        self.keep_alive: object = None
        self.parts: Data = {}
        self.lock = ForkSafeLock()
        if verify:
            self.verify()

    def __getstate__(self) -> Data:
        return {"path": self.path, "build": self.build, "device": self.device}

    def __setstate__(self, state: Facts) -> None:
        # Unpickling opens the directory again.
        Assets.__init__(self, state["path"], device=state.get("device", parts.CPU))
        if self.build != state["build"]:
            problem = "another build has taken the place of the one that was pickled"
            raise Errors.assets_mismatch(path=self.path, problem=problem)

    def reload(self) -> "Assets":
        """Open the current assets at the path; they differ if a build has replaced these.

        These assets do not change for other users.
        RAISES (MedlinkError): E201-E204, as for opening.
        """
        if self.keep_alive is not None:  # a directory of its own, which nobody replaces
            return self
        return Assets(self.path, device=self.device)

    def refitted(self, entries: Facts) -> "Assets":
        """Make assets with other models over scores, whose files have just been written.

        entries (Mapping): of the manifest, to replace; the manifest itself is written later.
        """
        made = Assets.__new__(Assets)
        every = self.manifest["files"].items()
        files = {name: entry for name, entry in every if name not in (RANKER_FILE, CALIBRATOR)}
        made.__dict__.update(self.__dict__, manifest={**self.manifest, **entries, "files": files})
        made.parts = {k: v for k, v in self.parts.items() if k not in ("ranker", "calibrator")}
        made._states = states_of(self.held.source, files)
        return made

    def move(self, device: str) -> "Assets":
        """Run networks on another device from now on. RETURNS itself.

        Linkers that were made before keep their device.
        """
        if device != self.device:
            with self.lock:
                self.device = device
                for name in ("encoder", "reranker", "dense"):
                    self.parts.pop(name, None)
        return self

    def holder(self, part: str) -> "Assets":
        """Get the assets that hold a part: these."""
        return self

    def verify(self) -> None:
        """Compare every file with its checksum.

        RAISES (MedlinkError): E202 for the first file with another checksum.
        """
        for name, expected in self.manifest["files"].items():
            try:
                actual = sha256_of(self.file(name))
            except OSError as error:
                problem = f"{name}: {error.strerror or error}"
                raise Errors.assets_incomplete(path=self.path, problem=problem) from error
            if actual != expected["sha256"]:
                problem = f"{name} has a wrong checksum"
                raise Errors.assets_incomplete(path=self.path, problem=problem)

    def check_unchanged(self) -> None:
        """Check that nobody has changed files in place: another build comes as a new directory.

        RAISES (MedlinkError): E202 for a missing file, E204 for another one.
        """
        if states_of(self.held.source, self.manifest["files"]) != self._states:
            problem = "its files were changed in place since they were opened"
            raise Errors.assets_mismatch(path=self.path, problem=problem)

    def __repr__(self) -> str:
        counts = self.manifest["kb"]
        return f"Assets({str(self.path)!r}, {counts['concepts']:,} concepts, tiers {self.tiers})"

    @property
    def tiers(self) -> list[str]:
        """The tiers that were built, such as "exact", "ngram" and "dense"."""
        return list(self.manifest["tiers"])

    @property
    def used_tiers(self) -> list[str]:
        """The tiers that add something; a linker asks these by default."""
        return [tier for tier in self.tiers if self.weights.get(tier)]

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each tier in the fused score."""
        return dict(self.manifest["fusion"]["weights"])

    @cached_property
    def size(self) -> int:
        """Size of all files together, in bytes."""
        return sum(entry["size"] for entry in self.manifest["files"].values())

    def size_of(self, tiers: Iterable[str]) -> int:
        """Sum the sizes of the files of tiers, in bytes; the encoder belongs to the dense tier."""
        starts = tuple(start for tier in tiers for start in files_of_tier(tier))
        files = self.manifest["files"]
        return sum(entry["size"] for name, entry in files.items() if name.startswith(starts))

    @property
    def files(self) -> list[str]:
        """The files of the directory, relative to it, the manifest first."""
        return [MANIFEST, *self.manifest["files"]]

    # The parts

    @property
    @loaded_once
    def kb(self) -> KnowledgeBase:
        """The knowledge base."""
        return parts.open_kb(self.held, self.manifest)

    @property
    @loaded_once
    def name_concept(self) -> NDArray[np.int32]:
        """Concept row of every name row: (n_names,), ascending."""
        return parts.open_rows(self.held.source, self.manifest)

    @property
    @loaded_once
    def exact(self) -> ExactIndex:
        """The exact tier."""
        return ExactIndex.load(self.file(EXACT), self.manifest["kb"]["names"], self.kb.texts_at)

    @property
    @loaded_once
    def ngram(self) -> WordNgramIndex:
        """The n-gram tier."""
        return cast(WordNgramIndex, self._open_tier("ngram"))

    @property
    @loaded_once
    def dense(self) -> "DenseIndex":
        """The dense tier."""
        return parts.open_dense(self.held.source, self.manifest, self.device)

    @property
    @loaded_once
    def encoder(self) -> Encoder:
        """The encoder that made the dense tier's vectors, in torch or as an exported network."""
        return parts.open_encoder(self.held, self.manifest, self.device)

    def tier(self, name: str) -> Tier:
        """Open a tier beside the exact one. RAISES (MedlinkError): E108 where no package has it."""
        if name in ("ngram", DENSE):
            tier: Tier = getattr(self, name)
            return tier
        with self.lock:
            if (key := f"tier {name}") not in self.parts:
                self.parts[key] = self._open_tier(name)
            return cast(Tier, self.parts[key])

    def _open_tier(self, name: str) -> Tier:
        return tier_of_names(name).load(self.file(name), self.manifest["kb"]["names"])

    @property
    @loaded_once
    def facets(self) -> Facets:
        """The properties by which names and concepts are filtered and ordered."""
        counts = self.manifest["kb"]
        return Facets.load(self.file(FACETS), counts["names"], counts["concepts"])

    @property
    @loaded_once
    def filters(self) -> NameFilters:
        """The filters of searches."""
        return NameFilters(self.kb, self.facets, self.name_concept)

    @property
    @loaded_once
    def memory_lines(self) -> list[Remembered]:
        """The lines of the memory of corrections; [] where there is none."""
        return read_memory(self.file(MEMORY)) if self.has("memory") else []

    @property
    @loaded_once
    def memory(self) -> MentionMemory | None:
        """The memory of corrections; None when the build was given no annotated text."""
        return parts.make_memory(self.memory_lines, self.kb) if self.has("memory") else None

    @property
    @loaded_once
    def reranker(self) -> "CrossEncoder | None":
        """The cross-encoder that orders candidates anew; None where there is none.

        RAISES (MedlinkError): E206 when it is damaged, E214 when it was made for other assets.
        """
        return self._open_reranker() if self.has("reranker") else None

    @property
    @loaded_once
    def ranker(self) -> CandidateRanker | None:
        """The small model that orders candidates anew; None where none was worth it.

        RAISES (MedlinkError): E202 when it is damaged, E214 for another version.
        """
        if not self.has("ranker"):
            return None
        return parts.open_ranker(
            self.held.source, self.manifest, self.kb, self.name_concept, self.memory_lines
        )

    @property
    @loaded_once
    def calibrator(self) -> RankingCalibrator | None:
        """The calibrator, with its recommended threshold; None where there is none.

        RAISES (MedlinkError): E202 when it is damaged, E214 for another version, E302 for a
            threshold outside 0..1.
        """
        if not self.has("calibrator"):
            return None
        return parts.open_calibrator(self.held.source, self.manifest, self.kb, self.name_concept)

    def has(self, part: str) -> bool:
        """Tell whether the build has a part that not every build has."""
        return self.manifest.get(part) is not None

    def beginning(self, text: str, k: int) -> list[tuple[int, int]]:
        """Find names whose words begin as those of a text, in any order, or are a letter away.

        RETURNS (List[Tuple[int, int]]): at most k rows of names, each with that of its concept.
        """
        rows = self.ngram.beginning(text, self.exact.vocabulary.near_one, k)
        return [(row, int(self.name_concept[row])) for row in rows]

    def added_names(self) -> AddedNames | None:
        """Make the index of names added after the build: None, there are no such names."""
        return None

    def check_reranker(self, encoder: "CrossEncoder", path: Path) -> None:
        """Check that a reranker was made for these assets.

        path (Path): of the reranker, for the message.
        RAISES (MedlinkError): E214 for other assets.
        """
        made_by = self.manifest["encoder"]
        is_other = made_by is None or encoder.settings.encoder != made_by["fingerprint"]
        if is_other or encoder.settings.kb != kb_fingerprint(self.manifest["kb"]):
            what = "encoder" if is_other else "knowledge base"
            raise Errors.model_mismatch(
                model="reranker", path=path,
                problem=f"it was made for another {what} than that of these assets",
                how="`python -m training.train`", without="`rerank_top = 0`",
            )  # fmt: skip

    def engine(
        self,
        tiers: list[str] | None = None,
        *,
        memory: MentionMemory | bool = True,
        calibrator: Calibrator | bool | None = None,
        **given: Any,
    ) -> Linker:
        """Make a linker over these assets: `linking.open_linker` with settings by name.

        memory (Union[MentionMemory, bool]): another memory, that of the assets (True), or none.
        calibrator (Union[Calibrator, bool, None]): another one, or a value as in `LinkSettings`.
        given: further fields of `LinkSettings`, and arguments of `open_linker`.
        RAISES (MedlinkError): as `open_linker`.
        """
        settings = {name: given.pop(name) for name in _SETTINGS & given.keys()}
        flag = calibrator if isinstance(calibrator, bool) else None
        return open_linker(
            self,
            LinkSettings(tiers=tiers, memory=memory is not False, calibrator=flag, **settings),
            calibrator=None if isinstance(calibrator, bool) else calibrator,
            memory=OF_ASSETS if isinstance(memory, bool) else memory,
            **given,
        )

    def conditions(self, linker: Linker) -> Data:
        """List the conditions on which the scores of a linker over these assets depend."""
        return linker.parts.conditions(self.manifest["encoder"])

    def copy_to(self, target: str | Path) -> None:
        """Copy into another directory, whole or not at all; files are hard-linked where possible.

        Files of a build never change in place, so that sharing them is safe.
        """
        with replacing_directory(Path(target), ASSETS, improves=self.path) as temporary:
            for name in self.files:
                self.put(name, temporary / name)

    def put(self, name: str, destination: Path) -> None:
        """Copy one file, hard-linked where possible.

        RAISES (OSError): when the disk is full.
        """
        destination.parent.mkdir(parents=True, exist_ok=True)
        self.held.put(destination, name)

    def file(self, name: str) -> Path:
        """Get a path by which one of the files is read, as long as these assets are there."""
        return self.held.source / name

    @contextmanager
    def directory(self, part: str) -> Iterator[Path]:
        """Give the directory of a part, as it was opened, while the `with` block lasts.

        RAISES (MedlinkError): E204 if it was replaced and the system cannot reach the old one.
        """
        try:
            with self.held.reading() as path:
                yield path / part
        except OSError as error:
            raise Errors.assets_mismatch(path=self.path, problem=f"{part}: {error}") from error

    def _open_reranker(self) -> "CrossEncoder":
        from ..encoders.cross_encoder import CrossEncoder

        with self.directory(RERANKER) as path:
            encoder = CrossEncoder.load(path, parts.torch_device(self.device))
        self.check_reranker(encoder, self.path / RERANKER)
        if encoder.fingerprint() != self.manifest["reranker"]["fingerprint"]:
            problem = "reranker/ does not match the manifest"
            raise Errors.assets_mismatch(path=self.path, problem=problem)
        return encoder

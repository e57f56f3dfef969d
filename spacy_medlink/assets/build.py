"""build_assets: builds the assets of a linker from a knowledge base and an encoder."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import MedlinkError
from ..evaluation import load_gold
from ..evaluation.gold_set import GoldSet
from ..evaluation.provenance import describe_versions
from ..fitting.calibrate import fit_on_gold, fit_on_names, is_remembered
from ..fitting.memory import Learned, carry_over, learn_memory
from ..fitting.ranker import fit_ranker_on_names
from ..fitting.retrieved import RetrievedExamples
from ..kb import KnowledgeBase
from ..linking import Linker, Parts
from ..retrieval.arrays import save_arrays
from ..retrieval.exact import ExactIndex
from ..retrieval.facets import Facets
from ..retrieval.filters import NameFilters
from ..retrieval.fusion import WeightedFusion, normalised, usual_weights
from ..retrieval.index_size import default_spec
from ..retrieval.memory import write_memory
from ..retrieval.tier import DENSE, EXACT, Tier, tiers_of_names
from ..types import Data, Facts, Progress
from ..util.files import replacing_directory
from ..util.outputs import check_output
from ..util.progress import no_progress
from .assets import Assets
from .dense import DenseBuild
from .dictionary import word_forms
from .manifest import (
    ASSETS,
    CALIBRATOR,
    ENCODER,
    FACETS,
    KB_FILE,
    MEMORY,
    NAME_CONCEPT,
    RANKER_FILE,
    RUNTIME,
    write_manifest,
)
from .parts import CPU, torch_device
from .settings import TORCH, BuildSettings
from .shares import Share, encode_together
from .update import Update
from .variant import add_calibrator, describe_anew
from .vector_store import KnownVectors, known_beside
from .vectors import NameVectors, keeping

if TYPE_CHECKING:  # torch and transformers are not needed to build the starter's tiers
    from ..encoders.bi_encoder import BiEncoder


def build_assets(
    out: str | Path,
    kb: str | Path,
    encoder: str | Path | None = None,
    *,
    device: str = CPU,
    progress: Progress = no_progress,
    overwrite: bool = False,
    **settings: object,
) -> Assets:
    """Build the assets of a linker; assets at `out` are replaced when all is done.

    out (Path): directory to write. kb (Path): a file that `medlink kb build` wrote.
    encoder (Optional[str]): directory or Hub name of a transformer; None takes the encoder of
        `update`, and builds no dense tier without one.
    device (str): device of the networks of the build and of the new assets, see `Assets`.
        Where torchrun has started several processes, all of them encode (see `shares`).
    progress (Progress): shows the progress of encoding. overwrite (bool): delete other files in
        `out`. settings: the fields of `BuildSettings`.
    RETURNS (Assets): the new assets, opened.
    RAISES (MedlinkError): E101-E103 for the knowledge base, E201-E204 for the old assets, E205-E209
        for encoder and index, E228 for the export, E302 for settings, E4xx for the gold files,
        E508 for an unknown device, E109 for the disk, E120-E123 for other files in `out`.
    """
    given = BuildSettings.of({"encoder": encoder and str(encoder), **settings})
    inputs = [kb, encoder, *given.memory, given.dev]
    check_output(out, ASSETS, inputs, improves=given.update, overwrite=overwrite)
    knowledge = KnowledgeBase(kb)
    build = Build(
        knowledge,
        Assets(given.update) if given.update is not None else None,
        given,
        memory=[load_gold(path, knowledge, nil_only=True) for path in given.memory],
        dev=load_gold(given.dev, knowledge, nil_only=True) if given.dev is not None else None,
        device=device,
        progress=progress,
    )
    with (
        keeping(build.vectors if given.resume else None, Path(out)),
        replacing_directory(
            Path(out), ASSETS, inputs, improves=given.update, overwrite=overwrite
        ) as path,
    ):
        build.write(path)
    return Assets(out, device=device)


class Build:
    """One build of assets: what it starts from, and the steps that make the parts.

    kb (KnowledgeBase): its names are indexed. old (Optional[Assets]): what they update.
    memory (Sequence[GoldSet]), dev (Optional[GoldSet]): over `kb`, in place of the files that the
    settings name.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        old: Assets | None,
        settings: BuildSettings,
        *,
        memory: Sequence[GoldSet] = (),
        dev: GoldSet | None = None,
        device: str = CPU,
        progress: Progress = no_progress,
    ) -> None:
        self.kb, self.old, self.dev, self.settings = kb, old, dev, settings
        self.device, self.progress = device, progress
        self.encoder, self.source = _open_encoder(settings, old, device)
        self.spec = settings.index or _spec_of(old, kb, self.encoder)
        self.reuse: Update | None = None
        self.vectors: NameVectors | None = None
        if self.encoder is not None:
            self.reuse = Update(old, self.encoder, self.spec) if old is not None else None
            own = [Path(settings.encoder)] if settings.encoder else []
            known = _known(self.encoder, self.reuse, [*settings.vectors, *own])
            self.vectors = NameVectors(self.encoder, kb, known)
        self.memory = _memory(memory, old, kb)
        self.runtime = settings.runtime or _runtime_of(old)
        if self.encoder is not None and self.encoder.is_static:
            self.runtime = TORCH  # there is nothing to export: it links without torch as it is

    def write(self, path: Path) -> None:
        """Write all parts into an empty directory, and the manifest last."""
        self.kb.held.put(path / KB_FILE)
        if self.vectors is not None and self.reuse is None:
            encode_together(self.vectors, self.progress)
        self._write_memory(path)
        trained = self.reuse.trained if self.reuse is not None else None
        dense = DenseBuild(self.vectors, self.spec, trained)
        tiers = self._build_tiers(path, dense)
        names = cache(partial(RetrievedExamples.of, tiers, self.kb, self.progress))
        weights = self._weights(tiers.parts.tier_names)
        manifest = self._facts(tiers, dense, weights)
        linker = _default_linker(tiers, weights)
        self._export(path, linker, manifest)
        if linker.parts.asks_vectors and self.settings.weights is None:
            linker = self._with_ranker(path, linker, names, manifest)
        if self.settings.calibrate:
            fitted_for = linker.parts.conditions(manifest["encoder"])
            manifest["calibrator"] = self._fit_to_names(
                path, names().of_tiers(fitted_for["tiers"]).asking(linker), fitted_for
            )
        write_manifest(path, manifest)
        if self.settings.calibrate and self.dev is not None:
            self._fit_to_gold(path, self.dev)

    def _write_memory(self, path: Path) -> None:
        if self.memory is not None:
            write_memory(path / MEMORY, self.memory.lines)

    def _build_tiers(self, path: Path, dense: DenseBuild) -> Linker:
        """Build and write the tiers. RETURNS (Linker): over all of them."""
        kb = self.kb
        facets = Facets.of(kb)
        facets.save(path / FACETS)
        # These tiers take most memory, so what is larger than facets is not held before them.
        others: dict[str, Tier] = {}
        for name, tier in tiers_of_names().items():
            built = others[name] = tier.build(kb.iter_texts())
            built.save(path / name)
        names = kb.iter_texts()
        exact = ExactIndex.build(kb.lookup_table(), names, kb.texts_at, word_forms(kb))
        exact.save(path / EXACT)
        name_concept = kb.name_concepts()
        save_arrays(path, {NAME_CONCEPT: name_concept})
        index = dense.build(path, self.progress)
        parts = Parts(
            name_concept,
            exact=exact,
            others=others if index is None else {**others, DENSE: index},
            encoder=self.encoder,
            facets=facets,
            filters=NameFilters(kb, facets, name_concept),
            fusion=WeightedFusion({}),
        )
        return Linker.of(parts)

    def _weights(self, tiers: Sequence[str]) -> dict[str, float]:
        """Get the weights of the tiers: the stated ones, those of the old assets, or the usual."""
        if (weights := self.settings.weights) is not None:
            return normalised(weights)
        if self.old is not None and self.old.tiers == list(tiers):
            return self.old.weights
        return usual_weights(tiers)

    def _facts(self, tiers: Linker, dense: DenseBuild, weights: Facts) -> Data:
        reuse, encoder, vectors = self.reuse, self.encoder, self.vectors
        return {
            "kb": self.kb.manifest,
            "tiers": tiers.parts.tier_names,
            "encoder": _describe(encoder, self.source) if encoder is not None else None,
            "index": dense.entry,
            "memory": self.memory.entry if self.memory is not None else None,
            "update": reuse.as_manifest(vectors) if reuse and vectors else None,
            "fusion": {"weights": weights},
            "ranker": None,
            "calibrator": None,
            "versions": describe_versions(),
        }

    def _export(self, path: Path, linker: Linker, manifest: Data) -> None:
        """Export the encoder to a runtime."""
        if self.encoder is None or self.runtime == TORCH or not linker.parts.asks_vectors:
            return
        from .export import export

        manifest["encoder"]["runtime"] = export(
            self.encoder, linker, self.kb, path / RUNTIME, path / ENCODER
        )

    def _with_ranker(
        self,
        path: Path,
        linker: Linker,
        names: Callable[[], RetrievedExamples],
        manifest: Data,
    ) -> Linker:
        """Fit a ranker to names, write it if it helps, and let the linker rank by it."""
        fitted_for = linker.parts.conditions(manifest["encoder"])
        of_tiers = names().of_tiers(fitted_for["tiers"]).asking(linker)
        fit = fit_ranker_on_names(of_tiers, self.kb, fitted_for)
        if fit.ranker is None:
            return linker
        fit.ranker.save(path / RANKER_FILE)
        manifest["ranker"] = fit.entry
        return linker.with_parts(rescorer=fit.ranker)

    def _fit_to_names(self, path: Path, names: RetrievedExamples, fitted_for: Facts) -> Data | None:
        """Fit a calibrator to names, as the default linker ranks them, and write it."""
        fit = fit_on_names(names, self.kb, fitted_for)
        if fit is None:
            return None
        fit.calibrator.save(path / CALIBRATOR)
        return fit.entry

    def _fit_to_gold(self, path: Path, dev: GoldSet) -> None:
        """Fit the calibrator to gold mentions, unless these are too few or too hard."""
        made = Assets(path, device=self.device)
        # Mentions in the memory from the same file would look more certain than new text.
        is_learned = is_remembered(made, dev)
        try:
            fit = fit_on_gold(made, dev, as_if_unannotated=is_learned, progress=self.progress)
        except MedlinkError as error:
            if error.code != "E530":
                raise
            return
        describe_anew(add_calibrator(path, made, fit), path, {}, [CALIBRATOR])


def _runtime_of(assets: Assets | None) -> str:
    made_by = assets.manifest["encoder"] if assets is not None else None
    return str(((made_by or {}).get("runtime") or {}).get("name", TORCH))


def _default_linker(tiers: Linker, weights: Facts) -> Linker:
    """Make the linker of tiers that have a weight."""
    parts = tiers.parts
    others = {name: tier for name, tier in parts.others.items() if weights.get(name)}
    exact = parts.exact if weights.get(EXACT) else None
    return tiers.with_parts(fusion=WeightedFusion(weights), exact=exact, others=others)


def _memory(files: Sequence[GoldSet], old: Assets | None, kb: KnowledgeBase) -> Learned | None:
    if files:
        return learn_memory(files, kb)
    entry = old.manifest.get("memory") if old is not None else None
    if old is None or entry is None:
        return None
    return carry_over(old.memory_lines, entry, kb)


def _open_encoder(
    settings: BuildSettings, old: Assets | None, device: str
) -> tuple["BiEncoder | None", str]:
    """Load the encoder; the encoder of the old assets keeps the name of its source."""
    source, pooling = settings.encoder, settings.pooling
    if source is None and (old is None or old.manifest["encoder"] is None):
        return None, ""
    from ..encoders.bi_encoder import BiEncoder

    place = torch_device(device)
    if source is not None or old is None:
        return BiEncoder.load(str(source), pooling, device=place), Path(str(source)).name
    with old.directory(ENCODER) as path:
        loaded = BiEncoder.load(path, pooling, device=place)
    return loaded, old.manifest["encoder"]["source"]


def _known(
    encoder: "BiEncoder", reuse: Update | None, directories: Sequence[Path]
) -> list[KnownVectors]:
    """List where vectors of the encoder may be: in the assets to update, and beside encoders.

    Where torchrun has started several processes, none is asked: each makes a share of all names.
    """
    if Share.of_process().processes > 1:
        return []
    updated = [reuse.known] if reuse is not None and reuse.known is not None else []
    return [*updated, *known_beside(encoder, directories)]


def _spec_of(old: Assets | None, kb: KnowledgeBase, encoder: "BiEncoder | None") -> str:
    made = old.manifest["index"] if old is not None else None
    if made is None:
        return default_spec(kb.n_names, encoder.dim if encoder is not None else 0)
    return str(made["spec"])


def _describe(encoder: "BiEncoder", source: str) -> Data:
    from ..util.devices import describe

    return {
        "source": source,
        "fingerprint": encoder.fingerprint(),
        "pooling": encoder.pooling,
        "max_length": encoder.max_length,
        "dim": encoder.dim,
        "static": encoder.is_static,
        "device": describe(encoder.device),
    }

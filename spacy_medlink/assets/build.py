"""build_assets: builds the assets of a linker from a knowledge base and an encoder."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import MedlinkError
from ..evaluation import load_gold
from ..evaluation.gold_set import GoldSet
from ..evaluation.provenance import describe_versions
from ..fitting.calibrate import fit_on_gold, fit_on_names, is_remembered
from ..fitting.gate import fit_gate
from ..fitting.memory import Learned, carry_over, learn_memory
from ..fitting.retrieved import RetrievedExamples
from ..fitting.weights import DEFAULT_WEIGHTS, choose_weights, normalised
from ..kb import KnowledgeBase
from ..linking import Linker, Parts
from ..linking.language_weights import LanguageWeights
from ..retrieval.arrays import save_arrays
from ..retrieval.exact import ExactIndex
from ..retrieval.facets import Facets
from ..retrieval.filters import NameFilters
from ..retrieval.fusion import WeightedFusion, fusion_of, used_tiers
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
from .fits import KeptFits, count_changed, kept_fusion
from .kept import KeptVectors, keeping
from .manifest import (
    ASSETS,
    CALIBRATOR,
    ENCODER,
    FACETS,
    KB_FILE,
    MEMORY,
    NAME_CONCEPT,
    RUNTIME,
    write_manifest,
)
from .parts import CPU, torch_device
from .shares import Share, encode_together
from .update import Update
from .variant import add_calibrator

if TYPE_CHECKING:  # torch and transformers are not needed to build the starter's tiers
    from ..encoders.bi_encoder import BiEncoder
    from ..encoders.stored import StoredVectors
    from ..retrieval.tuning import SearchSettings

# Above this, the n-gram tier does not compare with all names: in a million names a mention takes
# 20 to 50 ms and the build 1.2 GB, and both grow with the number.
TORCH = "torch"


def build_assets(
    out: str | Path,
    kb: str | Path,
    encoder: str | Path | None = None,
    *,
    index: str | None = None,
    pooling: str | None = None,
    runtime: str | None = None,
    update: str | Path | None = None,
    memory: Sequence[str | Path] = (),
    dev: str | Path | None = None,
    search: "SearchSettings | None" = None,
    training_sample: int = 0,
    calibrate: bool = True,
    device: str = CPU,
    progress: Progress = no_progress,
    overwrite: bool = False,
    resume: bool = True,
    vectors: Sequence[Path] = (),
    weights: Mapping[str, float] | None = None,
) -> Assets:
    """Build the assets of a linker; assets at `out` are replaced when all is done.

    out (Path): directory to write. kb (Path): a file that `medlink kb build` wrote.
    encoder (Optional[str]): directory or Hub name of a transformer; None takes the encoder of
        `update`, and builds no dense tier without one.
    index (Optional[str]): faiss factory string; default: that of `update`, else by the number of
        names, see `default_spec`.
    pooling (Optional[str]): as of a `BiEncoder`; default: as saved with the encoder, else "mean".
    runtime (Optional[str]): "onnx" to export the encoder, so that linking needs no
        torch; "torch" for no export; default: that of `update`.
    update (Optional[Path]): assets built before. If the encoder is the same, their vectors are
        reused; the manifest's "update" lists the reused parts. Calibrator, gate, export and an
        index of refined lists stay until a tenth of the names has changed since they were made.
    memory (Sequence[Path]): gold mentions for the memory; without any, the memory of `update`.
    dev (Optional[Path]): 50 or more gold mentions on which the fusion is chosen and the calibrator
        fitted; names from these mentions count as new. Without them, what `update` has stays, or
        examples made of names are used.
    search (Optional[SearchSettings]): how far a search of the index goes; 0 takes the default.
    training_sample (int): vectors to train an index that needs training; 0 takes 262,144.
    calibrate (bool): fit a calibrator and a threshold to names of the knowledge base, so that
        improbable links become NIL.
    device (str): device of the networks of the build and of the new assets, see `Assets`.
        Where torchrun has started several processes, all of them encode (see `shares`).
    progress (Progress): shows the progress of encoding.
    overwrite (bool): delete other files in `out`. resume (bool): keep vectors beside `out` until
        it is whole, so that an interrupted build can continue.
    vectors (Sequence[Path]): directories of trained encoders, beside which vectors of this encoder
        may lie.
    weights (Optional[Mapping[str, float]]): of the tiers in the fused score, for a protocol that
        states them; None chooses them.
    RETURNS (Assets): the new assets, opened.
    RAISES (MedlinkError): E101-E103 for the knowledge base, E201-E204 for the old assets, E205-E209
        for encoder and index, E228 for the export, E4xx for the gold files, E508 for an
        unknown device, E109 for the disk, E120-E123 for other files in `out`.
    """
    inputs = [kb, encoder, *memory, dev]
    check_output(out, ASSETS, inputs, improves=update, overwrite=overwrite)
    knowledge = KnowledgeBase(kb)
    build = Build(
        knowledge,
        Assets(update) if update is not None else None,
        encoder,
        pooling=pooling,
        index=index,
        runtime=runtime,
        memory=[load_gold(path, knowledge, nil_only=True) for path in memory],
        dev=load_gold(dev, knowledge, nil_only=True) if dev is not None else None,
        vectors=vectors,
        weights=weights,
        device=device,
        progress=progress,
    )
    with (
        keeping(Path(out), build.made_by if resume else None, knowledge.n_names) as shards,
        replacing_directory(
            Path(out), ASSETS, inputs, improves=update, overwrite=overwrite
        ) as path,
    ):
        build.write(path, search, training_sample, shards, calibrate)
    return Assets(out, device=device)


class Build:
    """One build of assets: what it starts from, and the steps that make the parts.

    kb (KnowledgeBase): its names are indexed. old (Optional[Assets]): what they update.
    memory (Sequence[GoldSet]), dev (Optional[GoldSet]): over `kb`. The other arguments are those
    of `build_assets`.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        old: Assets | None = None,
        encoder: str | Path | None = None,
        *,
        pooling: str | None = None,
        index: str | None = None,
        runtime: str | None = None,
        memory: Sequence[GoldSet] = (),
        dev: GoldSet | None = None,
        vectors: Sequence[Path] = (),
        weights: Mapping[str, float] | None = None,
        device: str = CPU,
        progress: Progress = no_progress,
    ) -> None:
        self.kb, self.old, self.dev, self.weights = kb, old, dev, weights
        self.device, self.progress = device, progress
        self.encoder, self.source = _open_encoder(encoder, pooling, old, device)
        self.spec = index or _spec_of(old, kb, self.encoder)
        # Counted while no tier and no vector is held: it takes 40 bytes a name.
        self.changed = count_changed(old.kb, kb) if old is not None else 0
        self.reuse: Update | None = None
        if old is not None and self.encoder is not None:
            self.reuse = Update(old, self.encoder, self.spec, kb.n_names, self.changed)
        beside = [*vectors, *([Path(encoder)] if encoder else [])]
        is_known = self.reuse is not None and self.reuse.known is not None
        self.stored = None if is_known else _stored(self.encoder, beside, kb.n_names)
        self.memory = _memory(memory, old, kb)
        self.runtime = runtime or _runtime_of(old)
        if self.encoder is not None and self.encoder.is_static:
            self.runtime = TORCH  # there is nothing to export: it links without torch as it is

    @property
    def made_by(self) -> str | None:
        """The fingerprint of the encoder; None without one."""
        return self.encoder.fingerprint() if self.encoder is not None else None

    def write(
        self,
        path: Path,
        search: "SearchSettings | None" = None,
        training_sample: int = 0,
        shards: KeptVectors | None = None,
        calibrate: bool = True,
    ) -> None:
        """Write all parts into an empty directory, and the manifest last."""
        self.kb.held.put(path / KB_FILE)
        self._encode_with_others(shards)
        self._write_memory(path)
        dense = DenseBuild(
            self.encoder, self.spec, self.reuse, self.stored, search, training_sample, shards,
        )  # fmt: skip
        tiers = self._build_tiers(path, dense)
        names = cache(partial(RetrievedExamples.of, tiers, self.kb, self.progress))
        fusion = self._choose_fusion(tiers, names)
        manifest = self._facts(tiers, dense, fusion)
        linker, fitted_for = _default_linker(tiers, fusion, manifest["encoder"])
        fits = self._kept_fits(path, manifest, fitted_for)
        self._export(path, linker, fits, manifest)
        if calibrate:
            manifest["calibrator"] = fits.calibrator() or self._fit_to_names(
                path, names().of_tiers(fitted_for["tiers"]).asking(linker), fitted_for
            )
            manifest["gate"] = fits.gate() or fit_gate(linker, self.kb, fitted_for)
        write_manifest(path, manifest)
        if calibrate and self.dev is not None:
            self._fit_to_gold(path, self.dev)

    def _encode_with_others(self, shards: KeptVectors | None) -> None:
        """Encode the share of this process, where torchrun has started several."""
        if shards is not None and self.encoder is not None and self.reuse is None:
            encode_together(self.encoder, self.kb, shards, self.progress)

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
        index = dense.build(path, kb, self.progress)
        parts = Parts(
            name_concept,
            exact=exact,
            others=others if index is None else {**others, DENSE: index},
            encoder=dense.encoder,
            facets=facets,
            filters=NameFilters(kb, facets, name_concept),
            fusion=WeightedFusion().with_weights(DEFAULT_WEIGHTS),
        )
        return Linker.of(parts)

    def _choose_fusion(self, tiers: Linker, names: Callable[[], RetrievedExamples]) -> Data:
        """Choose how the scores of the tiers are fused, or keep the earlier choice."""
        if self.weights is not None:
            return {"weights": normalised(self.weights), "chosen_on": None}
        kept = kept_fusion(self.old, self.reuse, tiers.parts.tier_names)
        return choose_weights(tiers, self.kb, self.dev, kept, names)

    def _facts(self, tiers: Linker, dense: DenseBuild, fusion: Data) -> Data:
        reuse, encoder = self.reuse, self.encoder
        return {
            "kb": self.kb.manifest,
            "tiers": tiers.parts.tier_names,
            "encoder": _describe(encoder, self.source) if encoder is not None else None,
            "index": dense.entry,
            "memory": self.memory.entry if self.memory is not None else None,
            "update": reuse.as_manifest(self.kb.n_names) if reuse is not None else None,
            "fusion": fusion,
            "calibrator": None,
            "gate": None,
            "versions": describe_versions(),
        }

    def _kept_fits(self, path: Path, manifest: Facts, fitted_for: Facts) -> KeptFits:
        """Find what was fitted to the names of the old assets, where it still holds."""
        alike = self.dev is None and self.runtime == _runtime_of(self.old)
        return KeptFits(self.old if alike else None, self.changed, path, manifest, fitted_for)

    def _export(self, path: Path, linker: Linker, fits: KeptFits, manifest: Data) -> None:
        """Export the encoder to a runtime, or keep the export."""
        if self.encoder is None or self.runtime == TORCH or not linker.parts.asks_vectors:
            return
        from .export import export

        manifest["encoder"]["runtime"] = fits.export(self.runtime) or export(
            self.encoder, linker, self.kb, path / RUNTIME, path / ENCODER
        )

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
        add_calibrator(path, made, fit)


def _runtime_of(assets: Assets | None) -> str:
    made_by = assets.manifest["encoder"] if assets is not None else None
    return str(((made_by or {}).get("runtime") or {}).get("name", TORCH))


def _default_linker(tiers: Linker, fusion: Facts, encoder: Facts | None) -> tuple[Linker, Data]:
    """Make the default linker of these assets, and the conditions on which its scores depend."""
    by_language, facets = fusion.get("languages"), tiers.parts.facets
    used, parts = used_tiers(fusion), tiers.parts
    others = {name: tier for name, tier in parts.others.items() if name in used}
    exact = parts.exact if EXACT in used else None
    languages = None
    if by_language and facets is not None:
        languages = LanguageWeights(facets.lang, facets.langs, by_language)
    linker = tiers.with_parts(
        fusion=fusion_of(fusion), languages=languages, exact=exact, others=others
    )
    return linker, linker.parts.conditions(encoder)


def _memory(files: Sequence[GoldSet], old: Assets | None, kb: KnowledgeBase) -> Learned | None:
    if files:
        return learn_memory(files, kb)
    entry = old.manifest.get("memory") if old is not None else None
    if old is None or entry is None:
        return None
    return carry_over(old.memory_lines, entry, kb)


def _open_encoder(
    source: str | Path | None, pooling: str | None, old: Assets | None, device: str
) -> tuple["BiEncoder | None", str]:
    """Load the encoder; the encoder of the old assets keeps the name of its source."""
    if source is None and (old is None or old.manifest["encoder"] is None):
        return None, ""
    from ..encoders.bi_encoder import BiEncoder

    place = torch_device(device)
    if source is not None or old is None:
        return BiEncoder.load(str(source), pooling, device=place), Path(str(source)).name
    with old.directory(ENCODER) as path:
        loaded = BiEncoder.load(path, pooling, device=place)
    return loaded, old.manifest["encoder"]["source"]


def _stored(
    encoder: "BiEncoder | None", directories: Sequence[Path], names: int
) -> "StoredVectors | None":
    """Find vectors beside encoders, if they cover half of the names or more.

    With fewer, the look-ups cost more time than they save. Several processes encode all names, and
    each waits for the others at the end of its share.
    """
    if encoder is None or Share.of_process().processes > 1:
        return None
    from ..encoders.stored import StoredVectors

    stored = StoredVectors.find(encoder, directories)
    return stored if stored is not None and 2 * len(stored) >= names else None


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

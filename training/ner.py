"""Train an NER on annotated text: `python -m training.ner gold/train.jsonl --assets ASSETS`.

It sees what the dictionary of the assets finds, so that it learns when a name is a mention.
`spacy train` does the rest.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import spacy
import typer
from sklearn.decomposition import PCA
from spacy.tokens import Doc, DocBin
from spacy.util import filter_spans, load_config
from spacy.vectors import Vectors  # type: ignore[import-not-found]  # compiled, no stubs

from spacy_medlink.assets import Assets
from spacy_medlink.assets.manifest import ENCODER
from spacy_medlink.components.pipelines import blank
from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.gold import read_gold
from spacy_medlink.util.devices import AUTO, prefer_for_spacy
from spacy_medlink.util.files import replacing_directory
from spacy_medlink.util.outputs import DirectoryKind, check_output

from .data.mentions import known_types
from .recipe.reading import parse_overrides
from .verbs import Device, Overwrite, Set, run_verb

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_medlink.types import Encoder

NER = DirectoryKind("a trained NER")
PIPELINE = "model-best"  # as `spacy train` calls it
CONFIGS = Path(__file__).parent / "configs"
_LABEL = "CONCEPT"
_APART = 10  # every tenth document chooses the weights
_DIM = 128
_LONGEST = 40  # characters of a word
_NAMES = 2  # least number of names with a word that is in no text


def gold_docs(nlp: "Language", path: Path, kb: KnowledgeBase) -> list[Doc]:
    """Read annotated documents; mentions of types that the knowledge base has not are left out.

    RAISES (MedlinkError): E107, E401-E404 for the file, E407 without a text.
    """
    documents = [document for document in read_gold(path) if document.text]
    if not documents:
        raise Errors.nothing_there(
            path=path, what="document with a text and offsets", remedy="Give a file of documents."
        )
    linkable = known_types(
        ((mention.type, mention.ids) for document in documents for mention in document.mentions),
        kb,
    )
    docs = []
    for document in documents:
        doc = nlp.make_doc(document.text or "")
        spans = [
            doc.char_span(mention.start, mention.end, label=_LABEL)
            for mention in document.mentions
            if mention.type in linkable and mention.start >= 0
        ]
        doc.set_ents(filter_spans([span for span in spans if span is not None]))
        docs.append(doc)
    return docs


def names_in(assets: Assets, lang: str) -> list[str]:
    """List the names of assets in a language, and those without one."""
    kb = assets.kb
    rows = np.unique(assets.exact.rows).astype(np.int64).tolist()
    return [name.text for name in map(kb.name_at, rows) if name.lang in ("", lang)]


def write_word_vectors(
    nlp: "Language", encoder: "Encoder", texts: Iterable[str], names: Iterable[str], path: Path
) -> None:
    """Write a blank pipeline with the vectors of all words of texts, and of frequent ones of names.

    The letter case of words does not count. Of longer vectors 128 principal components are kept.
    nlp (Language): whose tokenizer says what a word is. path (Path): directory, new.
    """
    counts: Counter[str] = Counter()
    for name in names:
        counts.update({token.lower_ for token in nlp.make_doc(name)})
    distinct = {word for word, count in counts.items() if count >= _NAMES}
    for text in texts:
        distinct.update(token.lower_ for token in nlp.make_doc(text))
    words = sorted(
        word for word in distinct if len(word) <= _LONGEST and any(map(str.isalpha, word))
    )
    data = encoder.encode(words)
    if min(data.shape) > _DIM:
        data = PCA(_DIM, random_state=0).fit_transform(data)
    data = data / np.maximum(np.linalg.norm(data, axis=1, keepdims=True), 1e-9)
    words_only = spacy.blank(nlp.lang or "xx")
    for word in words:
        words_only.vocab.strings.add(word)
    words_only.vocab.vectors = Vectors(
        strings=words_only.vocab.strings, data=data.astype(np.float32), keys=words, attr="LOWER"
    )
    words_only.to_disk(path)


def train(
    train_docs: list[Doc],
    dev_docs: list[Doc],
    config: Path,
    output: Path,
    values: dict[str, object],
) -> None:
    """Write both parts and the config into a directory, and run `spacy train`.

    values (Dict[str, object]): of the config, by "section.key".
    """
    from spacy.cli.train import train as spacy_train

    paths: dict[str, object] = {}
    for name, docs in (("train", train_docs), ("dev", dev_docs)):
        paths[f"paths.{name}"] = str(output / f"{name}.spacy")
        DocBin(docs=docs).to_disk(output / f"{name}.spacy")
    spacy_config = load_config(config, overrides={**paths, **values})
    if not spacy_config["paths"].get("vectors"):
        _without_vectors(spacy_config)
    spacy_config.to_disk(output / "config.cfg")
    spacy_train(output / "config.cfg", output)


def _without_vectors(config: dict[str, object]) -> None:
    """Switch off static vectors in the networks of a config."""
    for key, value in config.items():
        if isinstance(value, dict):
            _without_vectors(value)
        elif key == "include_static_vectors":
            config[key] = False


def main(
    gold: Annotated[Path, typer.Argument(help="Annotated text.")],
    assets: Annotated[Path, typer.Option(help="Assets of the linker.")] = Path("models/assets"),
    output: Annotated[
        Path, typer.Option(help="Directory for the data, the config and the pipeline.")
    ] = Path("models/ner"),
    dev: Annotated[
        Path | None,
        typer.Option(help="Gold file to choose the weights by. By default, a tenth of GOLD."),
    ] = None,
    config: Annotated[
        Path, typer.Option(help="Config for `spacy train`; training/configs has two.")
    ] = CONFIGS / "ner.cfg",
    lang: Annotated[str, typer.Option(help="Language of the text.")] = "en",
    set_: Set = None,
    device: Device = AUTO,
    overwrite: Overwrite = False,
) -> None:
    """Train an NER on annotated text; it sees what the dictionary finds.

    RAISES (MedlinkError): E107, E401-E407 for annotated text, E604 for the language, E201-E204,
        E201 for the assets, E120-E123 for the output.
    """
    prefer_for_spacy(device)
    inputs = [assets, gold, dev, config]
    check_output(output, NER, inputs, overwrite=overwrite)
    opened = Assets(assets)
    nlp = blank(lang)
    paths = load_config(config)["paths"]
    given = {"nlp.lang": lang, "paths.assets": str(assets), **parse_overrides(set_)}
    if "transformer" in paths:
        given.setdefault("paths.transformer", str(opened.path / ENCODER))
    docs = gold_docs(nlp, gold, opened.kb)
    apart = gold_docs(nlp, dev, opened.kb) if dev else docs[::_APART]
    with replacing_directory(output, NER, inputs, overwrite=overwrite) as path:
        if "vectors" in paths and "dense" in opened.tiers:
            given["paths.vectors"] = str(path / "vectors")
            texts = [doc.text for doc in (*docs, *apart)]
            names = names_in(opened, lang)
            write_word_vectors(nlp, opened.encoder, texts, names, path / "vectors")
        train([doc for doc in docs if doc not in apart], apart, config, path, given)
    typer.echo(f"{output / PIPELINE}: a spaCy pipeline that finds {_LABEL}")


if __name__ == "__main__":
    run_verb(main)

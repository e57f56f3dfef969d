"""Make a pipeline of assets, ready for `spacy package`.

`python -m training.package ASSETS pipelines/medlink_hpo --lang en --cui-scheme UMLS`
"""

from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.ty import InitializableComponent

from spacy_medlink import __version__
from spacy_medlink.assets import Assets
from spacy_medlink.components.pipelines import blank
from spacy_medlink.types import Data
from spacy_medlink.util.files import replacing_directory
from spacy_medlink.util.outputs import DirectoryKind, check_output

from .verbs import Overwrite, run_verb

SPANS_KEY = "medical"  # the group of all mentions
PIPELINE = DirectoryKind("a packaged pipeline")


def requirement(assets: Assets) -> str:
    """Name what a pipeline over assets needs to be installed with, as pip reads it."""
    encoder = assets.manifest["encoder"] if "dense" in assets.used_tiers else None
    if encoder is None or encoder.get("static"):
        return f"spacy-medlink>={__version__}"
    runtime = encoder.get("runtime") or {"name": "torch"}
    return f"spacy-medlink[{runtime['name']}]>={__version__}"


def main(
    assets: Annotated[Path, typer.Argument(help="Assets that `medlink build` wrote.")],
    output: Annotated[Path, typer.Argument(help="Directory for the pipeline.")],
    lang: Annotated[str, typer.Option(help="Language of the pipeline.")] = "en",
    cui_scheme: Annotated[str, typer.Option(help="What `_.cui` holds; empty: the KB's ids.")] = "",
    name: Annotated[str, typer.Option(help="Name of the package.")] = "medlink",
    version: Annotated[str, typer.Option(help="Version of the package.")] = "0.1.0",
    ner: Annotated[
        Path | None,
        typer.Option(help="Pipeline that finds the mentions, in place of the dictionary."),
    ] = None,
    branch: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID", help="Find concepts at or below these only; repeatable; empty: all."
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Save a pipeline with `medical_linker` over assets, after what finds its mentions.

    Without an NER that is `medical_mentions`, which writes `doc.ents` and a group "medical".
    RAISES (MedlinkError): E201-E204 when the assets are not whole, E106, E224 for a bad branch,
        E120-E123 for what is at `output`, E604 a language that has no tokenizer.
    """
    within = " OR ".join(f"<< {concept_id}" for concept_id in branch or () if concept_id) or None
    inputs = [assets, ner]
    check_output(output, PIPELINE, inputs, overwrite=overwrite)
    nlp = spacy.load(ner) if ner is not None else blank(lang)
    nlp.meta.update({"name": name, "version": version, "license": "see the terminology's licence"})
    made, spans_key = [], SPANS_KEY if ner is None else None
    if ner is None:
        finding = {"spans_key": spans_key, "annotate_ents": True, "within": within}
        made.append(nlp.add_pipe("medical_mentions", config=finding))
    config: Data = {"cui_scheme": cui_scheme or None, "spans_key": spans_key}
    opened = Assets(assets)
    if "dense" in opened.used_tiers:  # so that the encoder can be trained on
        config["model"] = {"@architectures": "spacy-medlink.TransformerBiEncoder.v1", "name": None}
    made.append(nlp.add_pipe("medical_linker", config=config))
    # The directory is needed only now: the pipeline carries its own copy and never looks for it.
    for component in made:
        assert isinstance(component, InitializableComponent)
        component.initialize(lambda: [], nlp=nlp, assets=assets)
    nlp.meta["requirements"] = [*nlp.meta.get("requirements", []), requirement(opened)]
    with replacing_directory(output, PIPELINE, inputs, overwrite=overwrite) as path:
        nlp.to_disk(path)
    typer.echo(f"{output}: a spaCy pipeline over {assets}")


if __name__ == "__main__":
    run_verb(main)

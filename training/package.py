"""Make a pipeline of assets, ready for `spacy package`.

`python -m training.package ASSETS pipelines/medlink_hpo --lang en --cui-scheme UMLS`
"""

from pathlib import Path
from typing import Annotated

import spacy
import typer

from spacy_medlink.files import replacing_directory

from .verbs import run


def make_pipeline(
    assets: Path, output: Path, *, lang: str, cui_scheme: str | None, name: str, version: str
) -> None:
    """Save a blank pipeline with `medical_mentions` and `medical_linker` over assets.

    lang (str): language code. cui_scheme (Optional[str]): what `_.cui` holds.
    name, version (str): for the package's metadata.
    RAISES (MedlinkError): E201-E204 when the assets are not whole.
    """
    nlp = spacy.blank(lang)
    nlp.meta.update({"name": name, "version": version, "license": "see the terminology's licence"})
    mentions = nlp.add_pipe("medical_mentions")
    linker = nlp.add_pipe("medical_linker", config={"cui_scheme": cui_scheme})
    # The directory is needed only now: the pipeline carries its own copy and never looks for it.
    for component in (mentions, linker):
        component.initialize(lambda: [], nlp=nlp, assets=assets)  # type: ignore[attr-defined]
    with replacing_directory(output) as path:
        nlp.to_disk(path)


def main(
    assets: Annotated[Path, typer.Argument(help="Assets that `medlink build` wrote.")],
    output: Annotated[Path, typer.Argument(help="Directory for the pipeline.")],
    lang: Annotated[str, typer.Option(help="Language of the pipeline.")] = "en",
    cui_scheme: Annotated[str, typer.Option(help="What `_.cui` holds; empty: the KB's ids.")] = "",
    name: Annotated[str, typer.Option(help="Name of the package.")] = "medlink",
    version: Annotated[str, typer.Option(help="Version of the package.")] = "0.1.0",
) -> None:
    """Make a pipeline of assets."""
    make_pipeline(
        assets, output, lang=lang, cui_scheme=cui_scheme or None, name=name, version=version
    )
    typer.echo(f"{output}: a spaCy pipeline over {assets}")


if __name__ == "__main__":
    run(main)

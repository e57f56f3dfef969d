"""Make a pipeline of assets, ready for `spacy package`.

`python -m training.package ASSETS pipelines/medlink_hpo --lang en --cui-scheme UMLS`
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.ty import InitializableComponent

from spacy_medlink import __version__
from spacy_medlink.assets import Assets
from spacy_medlink.util.files import replacing_directory
from spacy_medlink.util.outputs import DirectoryKind, check_output

from .verbs import Overwrite, run_verb

PIPELINE = DirectoryKind("a packaged pipeline")


def make_pipeline(
    assets: Path,
    output: Path,
    *,
    lang: str,
    cui_scheme: str | None,
    name: str,
    version: str,
    ner: Path | None = None,
    mentions: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Save a pipeline with `medical_linker` over assets, after what finds its mentions.

    lang (str): language code. cui_scheme (Optional[str]): what `_.cui` holds.
    name, version (str): for the package's metadata.
    ner (Optional[Path]): a pipeline that finds mentions; None for `medical_mentions` alone.
    mentions (Optional[Mapping]): settings of `medical_mentions`. overwrite (bool): lose what lies
        in the pipeline's directory besides.
    RAISES (MedlinkError): E201-E204 when the assets are not whole, E302 for a bad setting, E106 for
        a branch that there is not, E120-E123 for what is at `output`.
    """
    inputs = [assets, ner]
    check_output(output, PIPELINE, inputs, overwrite=overwrite)
    nlp = spacy.load(ner) if ner is not None else spacy.blank(lang)
    nlp.meta.update({"name": name, "version": version, "license": "see the terminology's licence"})
    made = []
    if ner is None:
        made.append(nlp.add_pipe("medical_mentions", config=dict(mentions or {})))
    made.append(nlp.add_pipe("medical_linker", config={"cui_scheme": cui_scheme}))
    # The directory is needed only now: the pipeline carries its own copy and never looks for it.
    for component in made:
        assert isinstance(component, InitializableComponent)
        component.initialize(lambda: [], nlp=nlp, assets=assets)
    nlp.meta["requirements"] = [*nlp.meta.get("requirements", []), requirement(Assets(assets))]
    with replacing_directory(output, PIPELINE, inputs, overwrite=overwrite) as path:
        nlp.to_disk(path)


def requirement(assets: Assets) -> str:
    """Name what a pipeline over assets needs to be installed with, as pip reads it."""
    encoder = assets.manifest["encoder"] if "dense" in assets.used_tiers else None
    runtime = (encoder or {}).get("runtime") or {"name": "torch"}
    extra = "" if encoder is None else f"[{runtime['name']}]"
    return f"spacy-medlink{extra}>={__version__}"


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
    any_order: Annotated[
        bool, typer.Option("--any-order", help="Find the words of a name in any order.")
    ] = False,
    coordinated: Annotated[
        bool, typer.Option("--coordinated", help='Read "A and B disease" as "A disease", too.')
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Make a pipeline of assets."""
    make_pipeline(
        assets,
        output,
        lang=lang,
        cui_scheme=cui_scheme or None,
        name=name,
        version=version,
        ner=ner,
        mentions={
            "branches": [one for one in branch or () if one] or None,
            "any_order": any_order,
            "coordinated": coordinated,
        },
        overwrite=overwrite,
    )
    typer.echo(f"{output}: a spaCy pipeline over {assets}")


if __name__ == "__main__":
    run_verb(main)

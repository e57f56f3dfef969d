"""Settings of a mapping, of which `medlink map` makes its options."""

from pathlib import Path
from typing import Annotated

from ...util.setting_types import Options, one_of, option

FORMATS = ("csv", "usagi", "omop", "fhir", "sssom")


class MapSettings(Options):
    """What is mapped, and how it is written."""

    vocabulary: str = option(
        "",
        "Vocabulary of the codes, such as ICD10CM. Concepts that have the code are preferred. By "
        "default the output names the file.",
    )
    form: Annotated[str, one_of(lambda: FORMATS)] | None = option(
        None, f"What to write: {', '.join(FORMATS)}.", "--as"
    )
    reviewed: Path | None = option(
        None,
        "Earlier decisions: a .csv or .xlsx that this command wrote, or Usagi's.",
        exists=True,
        dir_okay=False,
    )
    approved: bool = option(False, "Write only mappings that are APPROVED in --reviewed.")
    lang: str = option(
        "",
        "Language of the terms, or several: de,en. Of a knowledge base, only names in these "
        "languages are mapped.",
    )

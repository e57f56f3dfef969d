"""Settings of bulk annotation, of which `medlink annotate` makes its options."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator

from ..types import Data
from ..util.setting_types import MOST, Options, one_of, option, setting, whole
from .formats import FORMAT_HELP

PART_DOCUMENTS = 500


def _columns(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        name, equals, column = value.partition("=")
        if not (equals and (column or name == "id") and name in ("text", "id")):
            raise ValueError(f"{value!r} is not of the form text=COLUMN or id=COLUMN.")
    return values


class AnnotateSettings(Options):
    """How documents are read, linked and written."""

    format: str = option("", FORMAT_HELP, "--as", metavar="FORMAT")
    columns: Annotated[tuple[str, ...], AfterValidator(_columns)] = option(
        (),
        "Columns or fields of IN with unusual names: text=NOTE,id=KEY; id= numbers the documents.",
    )
    lang: str = option("en", "Language of the texts, for assets: en, es.")
    threshold: float | None = option(
        None, "Links with a lower probability become NIL.", least=0, most=1
    )
    candidates: int = option(0, "Number of candidates to write with each link.", least=0)
    keep_text: bool = option(False, "Also write the texts of the documents.")
    engine: Annotated[str, one_of(lambda: ("local", "ray"))] = option(
        "local", "local, or ray (a cluster)."
    )
    n_process: int = option(1, "Number of processes.", least=1)
    linker: Mapping[str, object] = setting({}, "must be settings by name", "of the linker")
    part_size: int = whole(PART_DOCUMENTS, 1, MOST, "documents linked and written together")

    def of_linker(self) -> Data:
        """List the settings of the linker."""
        given = {"top_k": max(self.candidates, 1), "threshold": self.threshold, **self.linker}
        return {name: value for name, value in given.items() if value is not None}

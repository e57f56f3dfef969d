"""Layout: the protocol and table of a paper, a file of training/papers/layouts."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PositiveInt

from spacy_medlink.evaluation import Settings
from spacy_medlink.evaluation.settings import DICTIONARY

from ..recipe.reading import read_sections
from ..recipe.settings import Section
from .published import papers


def _is_published(paper: str) -> str:
    if paper not in papers():
        raise ValueError(f"must be one of {', '.join(papers())}")
    return paper


class Layout(Section):
    """The settings of a paper's table.

    paper (str): as published.tsv names it. title, note (str): of the table; the note says where the
        published figures and ours cannot be the same.
    ks (List[int]): depths. protocol, composites (str): as of `medlink evaluate`.
    pooling (str): of encoders that do not say their own.
    dictionary (bool): filter by the dictionary's names, too.
    by (str): a group that has a column of its own each, such as "lang"; "" for the parts.
    """

    paper: Annotated[str, AfterValidator(_is_published)]
    title: str
    note: str = ""
    ks: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (1, 5)
    protocol: Literal["concepts", "names"] = "names"
    composites: Literal["any", "biosyn"] = "any"
    pooling: Literal["cls", "mean"] = "cls"
    dictionary: bool = False
    by: str = ""

    def settings(self, train: str, tiers: tuple[str, ...], baselines: bool) -> Settings:
        """Make the settings of one evaluation.

        train (str): file of training mentions, "" for none.
        """
        return Settings(
            ks=self.ks,
            tiers=tiers,
            protocol=self.protocol,
            composites=self.composites,
            train=train,
            reference=DICTIONARY if self.dictionary else "",
            baselines=baselines,
        )


class LayoutFile(Section):
    """A file, with its one section."""

    table: Layout


def read_layout(path: Path, note: str = "") -> Layout:
    """Read a layout.

    note (str): more to say under the table. RAISES (MedlinkError): as `read_sections` does.
    """
    layout = read_sections(path, LayoutFile).table
    return layout.model_copy(update={"note": f"{layout.note} {note}".strip()})

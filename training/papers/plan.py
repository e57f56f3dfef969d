"""Plan: all steps to a paper's tables (plans/). Layout: how a paper measures (layouts/)."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import srsly
from pydantic import (
    AfterValidator,
    Field,
    NonNegativeInt,
    PositiveInt,
    ValidationError,
    model_validator,
)

from spacy_medlink.errors import Errors
from spacy_medlink.evaluation import Settings
from spacy_medlink.evaluation.settings import DICTIONARY

from ..recipe.reading import parse_overrides, read_sections
from ..recipe.settings import Section
from .published import papers

Pooling = Literal["cls", "mean", "mean_all", "pooler"]
_Systems = Iterator[tuple[str, dict[str, Any]]]
_Named = list[tuple[str, Mapping[str, object]]]
_PROJECT = Path(__file__).parent / "project.yml"
_VARIABLE = re.compile(r"\$\{vars\.(\w+)\}")


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
    abbreviations (bool): expand those that a document defines, as BioSyn does.
    by (str): a group that has a column of its own each, such as "lang"; "" for the parts.
    averages (Mapping[str, List[str]]): columns of means over groups, [] for all.
    f1 (bool): F1 of the first candidate, where a mention may have several ids (CODER, section 4.2).
    """

    paper: Annotated[str, AfterValidator(_is_published)]
    title: str
    note: str = ""
    ks: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (1, 5)
    protocol: Literal["concepts", "names", "entries"] = "names"
    composites: Literal["any", "biosyn"] = "any"
    pooling: Pooling = "cls"
    dictionary: bool = False
    abbreviations: bool = False
    by: str = ""
    averages: Mapping[str, tuple[str, ...]] = {}
    f1: bool = False

    def settings(self, train: str, tiers: tuple[str, ...], baselines: bool) -> Settings:
        """Make the settings of one evaluation.

        train (str): file of training mentions, "" for none.
        """
        return Settings(
            ks=self.ks,
            tiers=tiers,
            protocol=self.protocol,
            composites=self.composites,
            train=[*filter(None, [train]), *[DICTIONARY] * self.dictionary],
            baselines=baselines,
            resolve_abbreviations=self.abbreviations,
            resolve_identifiers=False,
            lexicon=None,
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


class Dictionary(Section):
    """Names to link to, or to learn from; as the options of `medlink kb build` say.

    format (str): one of these, or "coder-folds" (`training.corpora.coder`).
    sources (Tuple[str]): files or directories of one format. obsolete (bool): obsolete names too.
    columns (Mapping[str, str]): of a table.
    """

    sources: tuple[str, ...]
    format: str
    languages: tuple[str, ...] = ()
    vocabularies: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    obsolete: bool = False
    columns: Mapping[str, str] = {}
    lang: str = ""


class Corpus(Section):
    """What systems are measured on, and what they may learn from.

    task (str): "linking"; "mcsm", of the dictionary alone; "relations", of a table of triplets;
        "similarities", of the pairs of a batch; "names", of concepts in the plane; "languages", of
        `concept` in `dictionary`; or "weights", which counts what a training changes.
    published (str): as published.tsv names it, "" for the key. reader (str): a converter of
        training.corpora, or "gold" for files as they are. source (str): what the converter reads.
    dictionary (str): mentions are learned with it. measured (Tuple[str]): dictionaries to link to,
        each a table, the published figures beside the first; () for `dictionary`.
    train, dev, test (Tuple[str]): splits, or files; test () is all. Without dev a tenth of train
        is set apart. folds (int): splits are of so many folds, called "fold-0.train".
    type, lang (str): mentions of these alone. types (Tuple[str]): that mcsm asks for.
    systems (Tuple[str]): measured on it, () for all. layout (str): "" for the plan's.
    epochs (Mapping[str, float]): of systems that learn from it. pooling (str): of all systems, in
        the place of their own; "" for theirs.
    """

    task: Literal[
        "linking", "mcsm", "relations", "similarities", "names", "languages", "weights"
    ] = "linking"
    published: str = ""
    reader: str = "gold"
    source: str = ""
    dictionary: str = ""
    measured: tuple[str, ...] = ()
    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    folds: NonNegativeInt = 0
    type: str = ""
    lang: str = ""
    types: tuple[str, ...] = ()
    concept: str = ""
    pooling: Pooling | Literal[""] = ""
    systems: tuple[str, ...] = ()
    layout: str = ""
    epochs: Mapping[str, float] = {}


class Bitext(Section):
    """Translations: files of one format of `training.corpora.translations`, of some languages."""

    format: str
    sources: tuple[str, ...]
    languages: tuple[str, ...] = ()


class System(Section):
    """A row of the tables.

    name (str): as published.tsv has it. encoder (str): directory, or name on the Hub, taken as it
        is, or assets, measured with all their tiers; without one, base (str): the system that it
        starts from, which stands above it.
    recipe (str): file, relative to training/papers; "" measures the base otherwise.
    settings (Mapping): other values in it. of (str): the dictionary whose names a recipe that
        pre-trains learns, or the corpus of other recipes; "" is the corpus that is measured on.
    bitext (Tuple[str]): translations to learn, those of `lang`. pooling (str): "" for what is
        saved with it. tune (bool): on relations, the encoder learns along. corpora (Tuple[str]):
        measured on these alone. shown (bool): false for what only others start from. lang (str):
        measured on mentions of this language alone; systems of one name, one a language, are a row.
    """

    name: str
    encoder: str = ""
    base: str = ""
    of: str = ""
    recipe: str = ""
    settings: Mapping[str, object] = {}
    bitext: tuple[str, ...] = ()
    pooling: Pooling | Literal[""] = ""
    tune: bool = False
    corpora: tuple[str, ...] = ()
    shown: bool = True
    lang: str = ""


class Plan(Section):
    """A file. Variables of project.yml stand in its texts as ${vars.NAME}."""

    layout: str
    note: str = ""
    dictionaries: Mapping[str, Dictionary]
    corpora: Mapping[str, Corpus]
    bitexts: Mapping[str, Bitext] = {}
    systems: Mapping[str, System]

    @model_validator(mode="after")
    def _refer_to_what_there_is(self) -> "Plan":
        for key, system in self.systems.items():
            if not system.encoder and not system.base:
                raise ValueError(f"system {key} has neither an encoder nor a base")
            learned = {**self.dictionaries, **self.corpora}
            named: _Named = [(system.base, self.systems), (system.of, learned)]
            named += [(name, self.corpora) for name in system.corpora]
            named += [(name, self.bitexts) for name in system.bitext]
            _check(key, named)
        for key, corpus in self.corpora.items():
            _check(
                key, [(name, self.dictionaries) for name in (corpus.dictionary, *corpus.measured)]
            )
            _check(key, [(name, self.systems) for name in (*corpus.epochs, *corpus.systems)])
        return self


def _check(key: str, named: _Named) -> None:
    for name, there in named:
        if name and name not in there:
            raise ValueError(f"{key} refers to {name}, which is not there")


def variables() -> dict[str, str]:
    """Read the variables of project.yml, each with its default."""
    config = srsly.read_yaml(_PROJECT)
    return {name: str(value) for name, value in config["vars"].items()}


def read_plan(path: Path, overrides: Mapping[str, object] | None = None) -> Plan:
    """Read a plan.

    overrides (Mapping): values by dotted key, such as "vars.umls" or "corpora.ncbi.source".
    RAISES (MedlinkError): E107 no such file, E160 for what is not a plan.
    """
    if not path.is_file():
        raise Errors.source_missing(path=path)
    try:
        config = {"vars": variables(), **srsly.yaml_loads(path.read_text("utf-8"))}
        config["systems"] = dict(_each_alone(config["systems"]))
        for key, value in (overrides or {}).items():
            _replace(config, key.split("."), value)
        config = _filled(config, {name: str(value) for name, value in config.pop("vars").items()})
        for system in config["systems"].values():
            system["settings"] = parse_overrides(
                [f"{key}={_said(value)}" for key, value in system.get("settings", {}).items()]
            )
        return Plan.model_validate_json(json.dumps(config))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        problem = f"{'.'.join(map(str, fault['loc']))} {fault['msg']}".strip()
        raise _bad_plan(path, problem) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _bad_plan(path, error) from error


def _each_alone(systems: Mapping[str, Any]) -> _Systems:
    """Write a system with `each`, a list of languages, as one for each: {lang} stands for it."""
    for key, system in systems.items():
        languages = system.pop("each", None)
        if languages is None:
            yield key, system
        for lang in languages or ():
            text = json.dumps({**system, "lang": lang}).replace("{lang}", lang)
            yield f"{key}_{lang}", json.loads(text)


def _replace(config: dict[str, Any], keys: list[str], value: object) -> None:
    *sections, last = keys
    section = config
    for key in sections:
        section = section[key]
    if sections == ["vars"] and last not in section:
        raise ValueError(f"there is no variable {last}")
    section[last] = value


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    """Put values in the places of variables."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda variable: values[variable[1]], value)
    if isinstance(value, dict):
        return {key: _filled(inner, values) for key, inner in value.items()}
    return [_filled(inner, values) for inner in value] if isinstance(value, list) else value


def _bad_plan(path: Path, problem: object) -> Exception:
    expected = "a plan as those beside the recipes are"
    return Errors.wrong_file(
        path=path, what="a plan of a paper's tables", problem=problem, expected=expected
    )

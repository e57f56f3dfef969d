"""Opening the pipeline that a user names: a saved pipeline, a package, or assets."""

from collections.abc import Iterable, Iterator, Sequence
from configparser import Error as ConfigParserError
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..errors import Errors, MedlinkError
from ..text.context import shipped_cues
from ..types import Data
from ..util.extras import is_processor
from ..util.json_text import is_storable, read_json
from .names import CONTEXT, LINKER, MENTIONS

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

    from .linker import MedicalLinker

_LONGEST_REASON = 500  # characters
STARTER = "starter"
_STORABLE = "must have whole characters, finite numbers, and integers of at most 64 bits"


def is_pipeline(source: str) -> bool:
    """Tell a spaCy pipeline (directory or installed package) from a directory of assets."""
    path = Path(source)
    if path.is_dir():
        return (path / "config.cfg").is_file() or any(path.glob("*/config.cfg"))
    from spacy.util import is_package

    return not path.exists() and is_package(source)


def open_pipeline(
    source: str, lang: str = "en", device: str | None = None, **settings: object
) -> "Language":
    """Make the pipeline that finds and links mentions.

    source (str): a saved pipeline or an installed package; or assets, or "starter". For these a
        blank pipeline gets `medical_mentions`, `medical_linker` and, in a language with cues,
        `medical_context`.
    lang (str): of the blank pipeline. settings: of the linker, such as `top_k`.
    device (Optional[str]): device of the networks, "auto" for a GPU where there is one; None for
        spaCy's device. spaCy's own networks use it too, if spaCy can use the GPU.
    RAISES (MedlinkError): E201-E204 for the assets, E603 for a pipeline without a linker,
        E604 for a language that spaCy cannot tokenise, E302 for settings out of range and a
        pipeline that spaCy cannot load, E508 for a device that is not there.
    """
    from .linker.settings import LinkerSettings

    LinkerSettings.of(settings)  # checked here, since spaCy's errors have no code
    if device is not None and not is_processor(device):
        from ..util.devices import prefer_for_spacy

        prefer_for_spacy(device)
    nlp = _opened(source, lang, settings)
    if device is not None:
        for name in _linkers(nlp):
            cast("MedicalLinker", nlp.get_pipe(name)).use_device(device)
    return nlp


def blank(lang: str) -> "Language":
    """Make a pipeline without components, with the tokenizer of `use_tokenizer`.

    RAISES (MedlinkError): E604 for a language that spaCy has no tokenizer for, or none installed.
    """
    import spacy

    from .tokenizer import use_tokenizer

    try:
        return use_tokenizer(spacy.blank(lang))
    except ImportError as error:
        reason = str(error).strip().partition("\n")[0]
        raise Errors.unknown_language(lang=lang, reason=reason) from error


def _opened(source: str, lang: str, settings: Data) -> "Language":
    import spacy

    if not is_pipeline(source):
        nlp = blank(lang)
        assets = None if source == STARTER and not Path(source).exists() else source
        nlp.add_pipe(MENTIONS, config={"assets": assets})
        nlp.add_pipe(LINKER, config={"assets": assets, **settings})
        if shipped_cues(lang).phrases:
            nlp.add_pipe(CONTEXT, config={"spans_key": settings.get("spans_key")})
        return nlp
    try:
        _check_config(source)
        nlp = spacy.load(pipeline_directory(source))
    except MedlinkError:
        raise
    except (ValueError, TypeError, LookupError, ImportError, ConfigParserError) as error:
        reason = " ".join(str(error).partition("\n{")[0].split())  # without the whole config
        reason = reason.encode(errors="backslashreplace").decode()[:_LONGEST_REASON]
        rule = f"spaCy cannot load it: {reason}"
        raise Errors.bad_setting(name="The pipeline", value=source, rule=rule) from error
    if not _linkers(nlp):
        raise Errors.no_linker(source=source)
    linker_of(nlp).configure(**settings)
    return nlp


def _check_config(source: str) -> None:
    """Refuse a saved config with values that spaCy's JSON cannot hold; one ends the process.

    RAISES (MedlinkError): E302 for the first setting with half of a surrogate pair, NaN, infinity
        or an integer of more than 64 bits.
    """
    from spacy.util import get_package_path, load_config

    path = Path(source) if Path(source).is_dir() else get_package_path(source)
    file = Path(pipeline_directory(str(path))) / "config.cfg"
    meta = file.with_name("meta.json")
    try:
        read_json(meta.read_text(encoding="utf-8") if meta.is_file() else "{}")
    except ValueError as error:
        raise Errors.bad_setting(name="meta.json", value=str(error), rule=_STORABLE) from error
    components = load_config(file, interpolate=False).get("components", {})
    for name, settings in components.items():
        for key, value in settings.items() if isinstance(settings, dict) else ():
            if not is_storable(value):
                raise Errors.bad_setting(name=f"{name}.{key}", value=value, rule=_STORABLE)


def linker_of(nlp: "Language") -> "MedicalLinker":
    """Get the linker whose links end up in `kb_id_`: the last that does not leave it alone."""
    linkers = [cast("MedicalLinker", nlp.get_pipe(name)) for name in _linkers(nlp)]
    writing = [linker for linker in linkers if not _leaves_ids(linker)]
    return (writing or linkers[:1])[-1]


def linked_spans(doc: "Doc", spans_key: str | Sequence[str] | None) -> "list[Span]":
    """List the spans that a linker with this `spans_key` has linked."""
    if spans_key is None:
        return list(doc.ents)
    keys = [spans_key] if isinstance(spans_key, str) else spans_key
    return [span for key in keys if key in doc.spans for span in doc.spans[key]]


def spans_of_texts(nlp: "Language", texts: Iterable[str]) -> "Iterator[list[Span]]":
    """Run a pipeline over texts, and list the spans of each that its linker has linked."""
    spans_key = linker_of(nlp).settings.spans_key
    return (linked_spans(doc, spans_key) for doc in nlp.pipe(texts))


def pipeline_directory(source: str) -> "str | Path":
    """Find the directory that spaCy loads: the inner directory of a package, else the source."""
    path = Path(source)
    if not path.is_dir() or (path / "config.cfg").is_file():
        return source
    return next(path.glob("*/config.cfg")).parent


def _linkers(nlp: "Language") -> list[str]:
    return [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory == LINKER]


def _leaves_ids(linker: "MedicalLinker") -> bool:
    """Tell whether a linker does not change the `kb_id` that another one wrote."""
    settings = linker.settings
    return settings.merge == "leave" or (settings.merge is None and bool(settings.prefix))

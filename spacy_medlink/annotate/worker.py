"""PartWorker: links the documents of a part and writes them, for every engine."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..components.pipelines import linker_of, open_pipeline
from ..components.reading import make_doc
from ..errors import MedlinkError
from ..types import Data, Facts
from ..util.files import replacing_file
from ..util.outputs import PRIVATE
from .documents import Document, Done, Part
from .journal import ASIDE, COUNTS, LINKED, part_file
from .records import Where, record_of, rejection_of, use_umls_codes

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_TOGETHER = 50  # documents whose mentions are linked in one batch
_MISREAD = (
    "spaCy reads other words in it, which have the same hash: an earlier document may have been "
    "crafted for that; annotate this one in a run of its own"
)


@dataclass(frozen=True)
class Job:
    """The data that a process needs to link parts; it is sent instead of a pipeline.

    source (str): assets, a saved pipeline, an installed package, or "starter", by path.
    settings (Mapping): of the linker, such as `threshold`. directory (Path): of the parts.
    candidates, with_text: as of `record_of`.
    device (Optional[str]): device of the networks; None for spaCy's device.
    """

    source: str
    directory: Path
    lang: str = "en"
    settings: Facts = field(default_factory=dict)
    candidates: int = 0
    with_text: bool = False
    device: str | None = None


def check(job: Job) -> None:
    """Open the pipeline without its large parts, to find errors before processes start.

    RAISES (MedlinkError): what `open_pipeline` raises.
    """
    _ = linker_of(open_pipeline(job.source, job.lang, job.device, **job.settings)).assets


class PartWorker:
    """A linker of parts, with a pipeline (`nlp`) that it opens itself.

    RAISES (MedlinkError): what `open_pipeline` raises.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self.nlp = open_pipeline(job.source, job.lang, job.device, **job.settings)
        linker = linker_of(self.nlp)
        if "cui_scheme" not in job.settings:
            use_umls_codes(linker)
        _ = linker.engine  # bad assets raise here, before any document is read
        self._where = Where(linker.settings.spans_key, linker.settings.prefix)

    def link(self, part: Part) -> Done:
        """Link a part as `steps` does, in one step."""
        return next(filter(None, self.steps(part)))

    def steps(self, part: Part) -> Iterator[Done | None]:
        """Link a part and write its file, whole or not at all: None for each document, then Done.

        RAISES (MedlinkError): E109 when it cannot be written; errors of the assets.
        """
        set_aside = mentions = links = 0
        candidates, with_text = self._job.candidates, self._job.with_text
        with (
            self.nlp.memory_zone(),  # spaCy would keep every new word of the documents
            replacing_file(part_file(self._job.directory, part.number), PRIVATE) as temporary,
            temporary.open("w", encoding="utf-8") as file,
        ):
            for document, doc, problem in self._linked(part.documents):
                if doc is None:
                    set_aside += 1
                    _write(file, ASIDE, rejection_of(document, problem))
                else:
                    record = record_of(document, doc, self._where, candidates, with_text)
                    mentions += len(record["mentions"])
                    links += sum(bool(mention["ids"]) for mention in record["mentions"])
                    _write(file, LINKED, record)
                yield None
            _write(file, COUNTS, {"mentions": mentions, "links": links})
        linked = len(part.documents) - set_aside
        yield Done(part.number, linked, set_aside, mentions, links)

    def _linked(self, documents: list[Document]) -> Iterator[tuple[Document, "Doc | None", str]]:
        """Link documents: each with its Doc, or with its problem."""
        limit = self.nlp.max_length
        problems = [document.problem or _too_long(document.text, limit) for document in documents]
        pairs = list(zip(documents, problems, strict=True))
        docs = linked_docs(self.nlp, [document.text for document, problem in pairs if not problem])
        for document, problem in pairs:
            doc, linking_problem = (None, problem) if problem else next(docs)
            yield document, doc, linking_problem


def linked_docs(
    nlp: "Language", texts: Sequence[str], filters: Facts | None = None
) -> "Iterator[tuple[Doc | None, str]]":
    """Link texts together; if that fails, one by one, so that only the bad texts fail.

    filters (Optional[Facts]): of the linker, for these texts alone.
    """
    linker = linker_of(nlp) if filters else None
    settings_by_name = {name: filters or {} for name, pipe in nlp.pipeline if pipe is linker}
    settings = {name: {**given} for name, given in settings_by_name.items()}  # spaCy adds to them
    done = 0
    try:
        made = (make_doc(nlp, text) for text in texts)
        for doc in nlp.pipe(made, batch_size=_TOGETHER, component_cfg=settings):
            yield _as_read(doc, texts[done])
            done += 1
    except MedlinkError:
        raise  # the assets or the settings are at fault, not a document
    except Exception:
        for text in texts[done:]:
            yield _doc(nlp, text, settings_by_name)


def _doc(nlp: "Language", text: str, settings: Mapping[str, Facts]) -> "tuple[Doc | None, str]":
    """Link a text, component by component; hide the text of errors, which may quote a note."""
    at = "tokenizer"
    try:
        doc = make_doc(nlp, text)
        for name, component in nlp.pipeline:
            at = name
            doc = component(doc, **settings.get(name, {}))
    except MedlinkError:
        raise
    except Exception as error:
        return None, f"{type(error).__name__} in the component {at!r}"
    return _as_read(doc, text)


def _as_read(doc: "Doc", text: str) -> "tuple[Doc | None, str]":
    """Check that spaCy has read the text correctly: it confuses words with the same 64-bit hash.

    White space is ignored, since some tokenizers do not keep it.
    """
    read = doc.text
    is_same = read == text or "".join(read.split()) == "".join(text.split())
    return (doc, "") if is_same else (None, _MISREAD)


def _too_long(text: str, limit: int) -> str:
    if len(text) <= limit:
        return ""
    return f"{len(text)} characters, more than the {limit} that the pipeline takes"


def _write(file: TextIO, mark: str, record: Data) -> None:
    file.write(mark + json.dumps(record, ensure_ascii=False) + "\n")

"""E3C (Magnini et al. 2020): clinical cases in English, Spanish, French, Italian, Basque, UMLS.

UIMA XMI, a file a document. Only clinical entities (CLINENTITY) have ids; events, actors and body
parts are skipped. The layers are the splits: "layer1" was annotated by hand, "layer2" by machine
and partly by hand.
"""

from collections.abc import Iterator
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Mention
from spacy_medlink.exchange.ids import cuis_in, either
from spacy_medlink.exchange.uima import Feature, read_xmi

from .layout import files_of
from .tally import Tally

_EXPECTED = "data_annotation of a checkout of hltfbk/E3C-Corpus"
_ENTITY, _ABOUT = "custom:CLINENTITY", "custom:METADATA"
_LANGUAGES = {"english": "en", "spanish": "es", "french": "fr", "italian": "it", "basque": "eu"}


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents."""
    for path in files_of(source, r".*\.xml", "e3c", _EXPECTED):
        xmi = read_xmi(path, {_ENTITY, _ABOUT})
        if xmi is None:
            tally.fault("files without a text", path)
            continue
        mentions = []
        about: dict[str, str] = {}
        for feature in xmi.features:
            if feature.tag == _ABOUT:
                about = feature.attributes
            elif feature.span is None:
                tally.fault("mentions without offsets", path)
            else:
                mentions.append(_mention(feature, feature.span, tally))
        folders = [part.lower() for part in path.parts]
        lang = about.get("docLanguage", "")[:2].lower() or _language(folders)
        layer = next((part for part in reversed(folders) if part.startswith("layer")), "")
        doc_id = about.get("docName", "") or path.stem
        yield Document(doc_id, xmi.text, tuple(mentions), path, lang, layer)


def _language(folders: list[str]) -> str:
    return next((_LANGUAGES[part] for part in reversed(folders) if part in _LANGUAGES), "en")


def _mention(feature: Feature, span: tuple[int, int], tally: Tally) -> Mention:
    flag = {key.lower(): value for key, value in feature.attributes.items()}.get("discontinuous")
    if (flag or "").lower() in {"true", "1", "yes"}:
        tally.note("mentions that are marked as one of several pieces, by themselves")
    link = either(*cuis_in(feature.attributes.get("entityID", "")))
    return Mention("", (span,), link, "CLINENTITY")

"""Writing documents of a corpus as lines of gold mentions, with checked offsets."""

from spacy_medlink.exchange.documents import (
    Document,
    Mention,
    Span,
    fitted,
    is_same,
    joined,
    merged,
)
from spacy_medlink.types import Data

from .tally import Tally


def to_record(document: Document, tally: Tally) -> Data:
    """Make the record of a document; counts go into the tally.

    A mention has offsets only where `text[start:end]` is the mention. A mention in several pieces
    is written as the pieces joined by spaces, with their offsets in "spans". If offsets point at
    other text, the mention keeps its text and loses the offsets.

    RETURNS (Dict): a document, or a bare mention, as `spacy_medlink.kb.gold` reads them. "split" is
        the publisher's; of a mention, "spans" are the places of its pieces, "composite" says that
        its ids belong together, and "parts" has a text for each of them.
    """
    text = fitted(document)
    whole = document._replace(text=text)
    made = (_mention(whole, mention, tally) for mention in document.mentions)
    mentions = [mention for mention in made if mention is not None]
    tally.documents += 1
    tally.splits[document.split] += 1
    tally.mentions += len(mentions)
    tally.nil += sum(not mention["ids"] for mention in mentions)
    record: Data = {"doc_id": document.doc_id} if document.doc_id else {}
    record["lang"] = document.lang
    if document.split:
        record["split"] = document.split
    if text is not None:
        record["text"] = text
    elif not document.doc_id and len(mentions) == 1:
        return {**record, **mentions[0]}  # a bare mention
    return {**record, "mentions": mentions}


def _mention(document: Document, mention: Mention, tally: Tally) -> Data | None:
    text_and_offsets = _place(document, mention, tally)
    if text_and_offsets is None:
        return None
    record: Data = {
        **text_and_offsets,
        "ids": list(mention.link.ids),
        "type": mention.type,
    }
    if mention.link.composite:
        record["composite"] = True
        tally.note("composite mentions: all ids, with a mark")
        if mention.parts:
            record["parts"] = list(mention.parts)
    return record


def _place(document: Document, mention: Mention, tally: Tally) -> Data | None:
    """Return text and offsets of a mention; None when it has no text."""
    text, spans, mention_text = document.text, mention.spans, mention.said
    if text is None:
        single = len(spans) == 1 and spans[0][0] < spans[0][1]
        place: Data = {"start": spans[0][0], "end": spans[0][1]} if single else {}
        return _kept({**place, "mention": mention_text}, document, mention, tally)
    if spans:
        spans = merged(text, spans)
        if all(0 <= start < end <= len(text) for start, end in spans):
            there = joined(text, spans)
            if not (there.strip() or mention_text.strip()):
                return _kept({}, document, mention, tally)
            if not mention_text or is_same(there, mention_text):
                return _found(there, spans, tally)
            if is_same(there.casefold(), mention_text.casefold()):
                tally.note("mentions that the text has in another case, as it has them")
                return _found(there, spans, tally)
            where = f"offsets {_shown(spans)}"
            quoted = f"{mention_text[:60]!r}, but the text has {there[:60]!r}"
            tally.fault(
                "mentions whose offsets point at something else, kept without offsets",
                document.path, mention.line, f"document {document.doc_id}, {where}", quoted,
            )  # fmt: skip
        else:
            tally.fault(
                "mentions whose offsets lie outside the text, kept without offsets",
                document.path, mention.line,
                f"document {document.doc_id}, offsets {_shown(spans)} of {len(text)}",
            )  # fmt: skip
    elif mention_text.strip():
        tally.note("mentions whose place in the text is not known, without offsets")
    return _kept({"mention": mention_text}, document, mention, tally)


def _found(there: str, spans: tuple[Span, ...], tally: Tally) -> Data:
    if len(spans) == 1:
        (start, end), *_ = spans
        return {"start": start, "end": end, "mention": there}
    tally.note("mentions in several pieces: joined by spaces, places in 'spans'")
    return {"mention": there, "spans": [list(span) for span in spans]}


def _kept(record: Data, document: Document, mention: Mention, tally: Tally) -> Data | None:
    if mention.said.strip():
        return record
    problem = "mentions without a text, dropped"
    tally.fault(problem, document.path, mention.line, f"document {document.doc_id}")
    return None


def _shown(spans: tuple[Span, ...]) -> str:
    return ";".join(f"{start}-{end}" for start, end in spans[:5])

"""Weak labels: labels by a dictionary and a linker for text without annotations.

After the distant supervision of PhenoTagger (Luo et al. 2021): names of the knowledge base are
mentions, unknown text is not. Where the linker is unsure, tokens have no label, and nothing is
learned from them.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import spacy
from spacy.tokens import Doc, Span, Token
from spacy.util import filter_spans

from spacy_medlink.components.finding.proposals import Heads
from spacy_medlink.errors import Errors
from spacy_medlink.text.normalisation import is_short_form, upright

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_medlink.components.linker.component import MedicalLinker
    from spacy_medlink.components.mentions import MedicalMentions

SPANS_KEY = "sc"  # where spaCy's span categoriser looks
_SHORTEST = 4  # letters of a word that the linker is asked about
_MOST_WORDS = 6  # of a name that takes the place of another one
_TOGETHER = 128  # documents whose words are ranked together
_NAMES, _NEAR = "names", "near"  # span groups while a document is labelled


class Labeller:
    """A labeller of text, with the dictionary and the linker of assets.

    assets (Path): of the linker. label (str): of all mentions. lang (str): of the text.
    branches (Sequence[str]): ids; only names at or below them are mentions.
    sure (float): probability from which a word that is no name, but ends as names do, is a mention.
    unsure (float): probability from which a word that ends as names do has no label, as others from
        `sure`; and the similarity from which a run of words has none, with an encoder.
    RAISES (MedlinkError): E201-E204, E305 for the assets, E604 for the language, E106 for a branch,
        E302 for bad probabilities.
    """

    def __init__(
        self,
        assets: str | Path,
        label: str,
        lang: str = "en",
        branches: Sequence[str] = (),
        *,
        sure: float = 0.8,
        unsure: float = 0.7,
    ) -> None:
        if not 0 < unsure <= sure <= 1:
            rule = "must lie between 0 and the probability of a sure one"
            raise Errors.bad_setting(name="unsure", value=unsure, rule=rule)
        try:
            self.nlp = spacy.blank(lang)
        except ImportError as error:
            reason = str(error).partition("\n")[0]
            raise Errors.unknown_language(lang=lang, reason=reason) from error
        self.label, self.sure, self.unsure = label, sure, unsure
        place = {"assets": str(assets)}
        own = {**place, "any_order": True, "label": label, "branches": list(branches) or None}
        self._finder = cast("MedicalMentions", self.nlp.add_pipe("medical_mentions", config=own))
        self._linker = cast("MedicalLinker", self.nlp.add_pipe("medical_linker", config=place))
        self.assets = self._linker.assets
        self._threshold = unsure if self._linker.engine.parts.dense is not None else None
        self._heads = Heads(self.assets.kb.iter_texts())
        self._probabilities: dict[str, float] = {}

    def pipe(self, texts: Iterable[str]) -> Iterator[Doc]:
        """Make a labelled Doc of each text.

        Its entities are the longest sure mentions, `doc.spans["sc"]` all of them. Tokens without a
        label are missing (`ent_iob` 0), all others outside.
        """
        waiting: list[Doc] = []
        for text in texts:
            waiting.append(self.nlp.make_doc(text))
            if len(waiting) == _TOGETHER:
                yield from self._labelled(waiting)
                waiting = []
        yield from self._labelled(waiting)

    def names(self) -> list[str]:
        """List the names that may be found in text, in its language."""
        facts, rows = self._finder.facts, np.unique(self._finder.exact.rows).astype(np.int64)
        for mask in (facts.allowed, facts.native):
            rows = rows if mask is None else rows[mask.passes(rows)]
        return self.assets.kb.texts_at(rows.tolist())

    def _labelled(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        docs = self._found(self._found(docs, _NAMES, None), _NEAR, self._threshold)
        words = [list(_unknown_words(doc)) for doc in docs]
        self._ask({token.lower_ for own in words for token in own})
        for doc, own in zip(docs, words, strict=True):
            unsure = list(doc.spans[_NEAR])
            sure = [Span(doc, one.start, one.end, label=self.label) for one in doc.spans[_NAMES]]
            for token in own:
                probability = self._probabilities[token.lower_]
                ends = self._heads.ends(token.lower_)
                if ends and probability >= self.sure:
                    sure.append(Span(doc, token.i, token.i + 1, label=self.label))
                elif probability >= (self.unsure if ends else self.sure):
                    unsure.append(doc[token.i : token.i + 1])
            _set(doc, sure, unsure)
            yield doc

    def _found(self, docs: Sequence[Doc], spans_key: str, propose: float | None) -> list[Doc]:
        """Write the mentions found to `doc.spans[spans_key]`."""
        self._finder.spans_key, self._finder.propose = spans_key, propose
        return list(self._finder.pipe(docs))

    def _ask(self, words: set[str]) -> None:
        """Ask the linker about new words."""
        new = sorted(words.difference(self._probabilities))
        for word, link in zip(new, self._linker.link_texts(new), strict=True):
            best = link.candidates[0] if link.candidates else {"prob": 0.0}
            # Assets without a calibrator have scores alone.
            sure = best["score"] if best["prob"] is None else best["prob"]
            self._probabilities[word] = float(sure)


def _unknown_words(doc: Doc) -> Iterator[Token]:
    """List the words outside of names that may be mentions by themselves."""
    taken = {token.i for name in doc.spans[_NAMES] for token in name}
    for token in doc:
        may_be = token.is_alpha and len(token) >= _SHORTEST and not token.is_stop
        if may_be and token.i not in taken and not is_short_form(token.text):
            yield token


def _set(doc: Doc, sure: Sequence[Span], unsure: Iterable[Span]) -> None:
    ents = filter_spans(sure)
    taken = {token.i for ent in ents for token in ent}
    places = {token.i for span in unsure for token in span} - taken
    doc.set_ents(ents, missing=[doc[place : place + 1] for place in sorted(places)])
    del doc.spans[_NAMES], doc.spans[_NEAR]
    doc.spans[SPANS_KEY] = list(sure)


class OtherNames:
    """A writer of copies of documents with other names in place of their mentions.

    So an NER learns from context and the form of names; without this it learns only the dictionary.

    texts (Iterable[str]): of names. seed (int): of what is drawn.
    """

    def __init__(self, texts: Iterable[str], seed: int = 0) -> None:
        names = dict.fromkeys(upright(text) for text in texts if not is_short_form(text))
        self._names = [name for name in names if len(name.split()) <= _MOST_WORDS]
        self._luck = random.Random(seed)

    def __call__(self, doc: Doc, tokenized: "Language") -> Doc:
        """Make such a document; short forms stay, and a mention has one name in all of it.

        tokenized (Language): whose tokenizer made the Doc.
        """
        names: dict[str, Doc | Span] = {}
        parts: list[Doc | Span] = []
        labels: list[str] = []
        place = 0
        for ent in doc.ents:
            if ent.text not in names:
                names[ent.text] = self._draw(ent, tokenized)
            new = names[ent.text]
            before = doc[place : ent.start]
            parts += [before, new]
            labels += [*_labels(before), f"B-{ent.label_}", *[f"I-{ent.label_}"] * (len(new) - 1)]
            place = ent.end
        parts.append(doc[place:])
        spaces = [bool(token.whitespace_) for part in parts for token in part]
        ends = np.cumsum([len(part) for part in parts])[1::2]  # every second part is a name
        for end, ent in zip(ends.tolist(), doc.ents, strict=True):
            spaces[end - 1] = bool(ent[-1].whitespace_)
        words = [token.text for part in parts for token in part]
        return Doc(doc.vocab, words=words, spaces=spaces, ents=[*labels, *_labels(doc[place:])])

    def _draw(self, ent: Span, tokenized: "Language") -> Doc | Span:
        if is_short_form(ent.text) or not self._names:
            return ent
        name = self._luck.choice(self._names)
        if ent.text.islower():
            name = " ".join(word.lower() if word.istitle() else word for word in name.split())
        return tokenized.make_doc(name)


def _labels(tokens: Span) -> list[str]:
    return ["O" if token.ent_iob else "" for token in tokens]

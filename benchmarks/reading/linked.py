"""A pipeline at its default settings, its names, and what is right of what it does with a text."""

import random
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import spacy
from spacy.tokens import Doc, Span

from benchmarks.reading.cases import ANYTHING, UNWRITTEN, Case, Place
from spacy_medlink.text.normalisation import key

RIGHT, WRONG, LOST = "right", "wrong", "lost"
_ATTRIBUTES = {
    "is_negated": "absent",
    "is_uncertain": "possible",
    "is_historical": "past",
    "is_family": "family",
    "is_hypothetical": "hypothetical",
}
_BATCH, _MOST_TRIED = 200, 6000
SAID_OF = frozenset("R7 R15 R16 R17 R18 R19".split())  # kinds that ask what a text says of mentions


class Outcome(NamedTuple):
    """What became of a place: right, wrong or lost, and what was linked there instead."""

    verdict: str
    said: str


class Row(NamedTuple):
    """What became of a place of a case, and what was linked there instead."""

    kind: str
    part: str
    way: str
    verdict: str
    text: str
    place: str
    linked: str


class Linked:
    """The mentions, linker and context components over some assets, and the names they know.

    assets (str): a directory, or "starter".
    """

    def __init__(self, assets: str, lang: str) -> None:
        self.lang = lang
        self.nlp = spacy.blank(lang)
        config = {} if assets == "starter" else {"assets": assets}
        self.nlp.add_pipe("medical_mentions", config=config)
        linker: Any = self.nlp.add_pipe("medical_linker", config=config)
        self.nlp.add_pipe("medical_context")
        self._alone: dict[str, str] = {}
        self.ids: dict[str, set[str]] = {}  # by the keys of names
        self.names: list[str] = []
        ids = list(linker.kb.iter_ids())
        for row, name in linker.kb.iter_names():
            self.ids.setdefault(key(name.text), set()).add(ids[row])
            if name.lang in (lang, "") and 3 < len(name.text) < 60:
                self.names.append(name.text)
        self.names = sorted(set(self.names))

    def pool(self, pattern: str, most: int, rng: random.Random) -> list[tuple[str, str]]:
        """Draw names that fit a pattern, and are found and linked alone, with their links."""
        fitting = [name for name in self.names if re.fullmatch(pattern, name)]
        rng.shuffle(fitting)
        linked: list[tuple[str, str]] = []
        for start in range(0, min(len(fitting), _MOST_TRIED), _BATCH):
            if len(linked) < most:
                alone = self.alone(fitting[start : start + _BATCH])
                linked += [(name, id) for name, id in alone.items() if id]
        return linked[:most]

    def alone(self, names: Iterable[str]) -> dict[str, str]:
        """Link names that are a text of their own. RETURNS: links; "" where one is not whole."""
        names = list(dict.fromkeys(names))
        new = [name for name in names if name not in self._alone]
        for name, doc in zip(new, self.nlp.pipe(new), strict=True):
            whole = [ent for ent in links_of(doc.ents) if len(ent.text) == len(name)]
            self._alone[name] = whole[0].kb_id_ if whole else ""
        return {name: self._alone[name] for name in names}

    def run(self, cases: list[Case]) -> Iterator[Doc]:
        """Read texts; the places of a given case are set as mentions."""
        texts = [case.text for case in cases if not case.given]
        given = [self._given(case) for case in cases if case.given]
        read = self.nlp.pipe(texts)
        with self.nlp.select_pipes(disable="medical_mentions"):
            linked = iter(list(self.nlp.pipe(given)) if given else [])
        for case in cases:
            yield next(linked if case.given else read)

    def _given(self, case: Case) -> Doc:
        doc = self.nlp.make_doc(case.text)
        spans = [doc.char_span(p.start, p.end, "X", alignment_mode="expand") for p in case.places]
        doc.set_ents([span for span in spans if span is not None])
        return doc

    def resolve(self, cases: list[Case]) -> list[Case]:
        """Give the places of cases written by hand their ids; leave out what the names cannot try.

        A place stays if a concept has one of its names, or one of its traps; where the context is
        asked (SAID_OF), if it is found alone, too. A given mention that is a name has its ids.
        """
        asked = [p.names[0] for case in cases if case.kind in SAID_OF for p in case.places]
        alone = self.alone(asked)
        resolved = []
        for case in cases:
            places = []
            for place in case.places:
                whole = self.ids.get(key(case.text)) if case.given else None
                ids = whole or set[str]().union(*map(self._ids_of, place.names))
                live = any(map(self._ids_of, place.traps)) if place.traps else bool(ids)
                live |= not {ANYTHING, UNWRITTEN}.isdisjoint(place.traps)
                if live and (case.kind not in SAID_OF or alone[place.names[0]]):
                    places.append(place._replace(ids=frozenset(ids)))
            if places:
                resolved.append(case._replace(places=tuple(places)))
        return resolved

    def _ids_of(self, name: str) -> set[str]:
        return self.ids.get(key(name), set())


def links_of(spans: Iterable[Span]) -> list[Span]:
    """Take the spans that are linked."""
    return [span for span in spans if span.kb_id_ not in ("", "NIL")]


def _narrower(ent: Span) -> bool:
    candidates = ent._.candidates or [{}]
    return bool(candidates[0].get("match") == "narrower")


def _written(ent: Span) -> bool:
    return key(ent.text) == key(ent._.candidates[0].get("matched", ""))


def judge(doc: Doc, place: Place, exact: bool) -> Outcome:
    """Say what became of a place.

    exact (bool): a link is right only with the same characters. Where it is asked what the text
    says of a mention, the link itself is not judged.
    """
    touching = [e for e in doc.ents if e.start_char < place.end and place.start < e.end_char]
    if place.said:
        return _judge_said(touching, place)
    links = links_of(touching)
    said = ", ".join(f"{ent.text!r} as {ent._.candidates[0]['name']!r}" for ent in links)
    if place.traps:
        links = [ent for ent in links if not _narrower(ent)]
    if UNWRITTEN in place.traps:
        links = [ent for ent in links if not _written(ent)]
    wrong = [ent for ent in links if ent.kb_id_ not in place.ids]
    if not place.ids:
        return Outcome(WRONG if wrong else RIGHT, said)
    spans = {(ent.start_char, ent.end_char) for ent in links if ent.kb_id_ in place.ids}
    if (place.start, place.end) in spans or (spans and not exact):
        return Outcome(RIGHT, said)
    return Outcome(WRONG if wrong else LOST, said)


def _judge_said(touching: list[Span], place: Place) -> Outcome:
    if not touching:
        return Outcome(LOST, "not found")
    said_there = {said for name, said in _ATTRIBUTES.items() if touching[0]._.get(name)}
    return Outcome(
        RIGHT if said_there in place.said else WRONG, ",".join(sorted(said_there)) or "present"
    )

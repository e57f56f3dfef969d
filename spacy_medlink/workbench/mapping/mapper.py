"""Mapper: maps terms to concepts, by shared names and shared codes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from spacy.util import minibatch

from ...kb import KnowledgeBase
from ...linking import Linker
from ...linking.decision import Decision
from ...linking.prepare import Document, Place
from ...retrieval.concepts import MEMORY
from ...text.lexicon.clinical import CLINICAL, open_lexicon
from ...text.normalisation import key
from ...types import Mention
from .codes import NARROWER, SharedCodes
from .parts import Form, Parts, parts_of
from .terms import Term
from .translations import Translations
from .words import BROADER, CLOSE, EXACT, RELATED, Words, says_another, untranslated

UNCHECKED = "UNCHECKED"
_TOGETHER = 1024  # names that are linked at once
_KEPT = 65_536


class Target(NamedTuple):
    """A concept that a term is, or may be, mapped to.

    match (str): relation of the concept to the term. matched (str): the concept's name found.
    prob (Optional[float]): probability of being right, if the assets have a calibrator and the
        concept is the first candidate. score (Optional[float]): None where only codes match.
    """

    id: str
    name: str
    match: str
    matched: str = ""
    prob: float | None = None
    score: float | None = None


class Mapping(NamedTuple):
    """The mapping of a term.

    targets (Tuple[Target, ...]): usually one; () for none. others (Tuple[Target, ...]): further
        candidates. status, comment (str): of the reviewers. extra: (header, cell) of each column
        that reviewers added. aside (Dict[str, str]): what was set aside, by `parts.COLUMNS`.
    """

    term: Term
    targets: tuple[Target, ...] = ()
    others: tuple[Target, ...] = ()
    status: str = UNCHECKED
    comment: str = ""
    extra: tuple[tuple[str, str], ...] = ()
    aside: dict[str, str] = {}


class _Answer(NamedTuple):
    """A concept that the linker found for a name.

    is_link (bool): whether it is the link. is_name (bool): whether it has the name, or corrections
        say so. is_head (bool): whether it is linked to the name without its qualifiers alone.
    is_given (bool): whether corrections say so.
    """

    row: int
    matched: str
    prob: float | None
    score: float
    is_link: bool
    is_name: bool
    is_head: bool
    is_given: bool


class Mapper:
    """A mapper of terms to the concepts of a linker's knowledge base.

    A name is linked as a document of its own, followed by the context. A term with several names
    gets the concept that most of the names are linked to. Concepts that share a code with the term
    go before all others. A term that is no name is looked up without what is set aside of it, and
    then without what qualifies it (`parts`).

    Relation of a concept to the term (`Target.match`):
        exact: it has the term's name (without case, accents and plural), or corrections say so, or
            a code says so.
        broader, narrower: a code says so; it is above or below an exact concept in the hierarchy;
            or something that makes the term narrower was set aside (broader).
        close: it is the link, or shares a code without a relation.
        related: it is a further candidate, or what the term says is past, a relative's, uncertain.

    linker (Linker): has the knowledge base. k (int): candidates of a term, at most.
    lang (str): of the terms; several, with a comma between them, of a mixed list.
    """

    def __init__(self, linker: Linker, k: int = 5, lang: str = "en") -> None:
        assert linker.parts.kb is not None
        self.kb: KnowledgeBase = linker.parts.kb
        self._linker, self._k = linker, k
        first, *others = [tag.strip() for tag in lang.split(",")]
        lexicons = {first: linker.parts.lexicon} | {
            tag: open_lexicon(CLINICAL, tag) for tag in others
        }
        self._words = [
            Words.of(tag, lexicon, self._translations(tag)) for tag, lexicon in lexicons.items()
        ]
        self._codes = SharedCodes(self.kb)
        self._above = lru_cache(_KEPT)(self.kb.ancestors)

    def _translations(self, lang: str) -> Callable[[str], tuple[str, ...]]:
        """Make what gives names that say what a text says in other words."""
        return untranslated if lang == "en" else Translations(self._linker.parts, lang).names

    def map(self, terms: Sequence[Term]) -> list[Mapping]:
        """Map terms; more terms at once need fewer calls of the tiers."""
        mentions = [[self._mention(term, name) for name in term.all_names] for term in terms]
        answers = self._answers(chain.from_iterable(mentions))
        mappings = [
            self._mapping(term, [answers[mention] for mention in its_mentions])
            for term, its_mentions in zip(terms, mentions, strict=True)
        ]
        parts = {
            nth: self._translated(term.name) if self._is_sure(mapping) else self._parts(term.name)
            for nth, (term, mapping) in enumerate(zip(terms, mappings, strict=True))
        }
        forms = {
            nth: [(form, self._mention(terms[nth], form.text, terms[nth].name))
                     for form in its_parts.forms if self._is_looked_up(form, its_parts)]
            for nth, its_parts in parts.items()
        }  # fmt: skip
        answers |= self._answers(mention for pairs in forms.values() for _, mention in pairs)
        for nth, pairs in forms.items():
            whole = Form(terms[nth].name, EXACT), mentions[nth][0]
            link = _link(answers[mentions[nth][0]])
            ranks = [_rank(form, answers[mention], link) for form, mention in (whole, *pairs)]
            if ranks[0] == 0 and 1 in ranks and not self._codes.rows_of(terms[nth].codes):
                ranks[0] = 1 + self._differs(link, answers[pairs[ranks.index(1) - 1][1]])
            form, mention = (whole, *pairs)[ranks.index(min(ranks))]
            if form is not whole[0]:
                mappings[nth] = self._mapping(terms[nth], [answers[mention]], form.match)
            mappings[nth] = mappings[nth]._replace(aside=parts[nth].aside)
        return mappings

    def _parts(self, name: str) -> Parts:
        """Read a term in each of the languages; what is set aside, in the first that finds some."""
        parts = [parts_of(name, words) for words in self._words]
        aside = next((of_lang.aside for of_lang in parts if of_lang.aside), {})
        forms = dict.fromkeys(chain.from_iterable(of_lang.forms for of_lang in parts))
        return Parts(aside, tuple(forms), parts[0].head)

    def _translated(self, name: str) -> Parts:
        """List what a term says in other words: a name in its own language may be a wrong one."""
        names = chain.from_iterable(words.translated(name) for words in self._words)
        return Parts({}, tuple(Form(text, CLOSE) for text in names if text != name))

    def _differs(self, link: _Answer | None, others: Sequence[_Answer]) -> bool:
        """Tell whether other words of a term name another concept than the term itself.

        Where the concept of the term has them among its names, too, they say no more.
        """
        other = _link(others)
        if link is None or link.is_given or other is None or link.row == other.row:
            return False
        texts = self.kb.texts_at(list(self.kb.name_rows(link.row)))
        return key(other.matched) not in map(key, texts)

    def _is_sure(self, mapping: Mapping) -> bool:
        """Tell whether a name or a code of a term says its concept."""
        targets = mapping.targets
        is_exact = bool(targets) and targets[0].match == EXACT
        return is_exact or bool(targets and self._codes.rows_of(mapping.term.codes))

    def _is_looked_up(self, form: Form, parts: Parts) -> bool:
        """Tell whether a form is a name, or the head, which may be misspelt."""
        is_short = any(form.text in words.lexicon for words in self._words)
        is_name = is_short or self.kb.rows_named(form.text)
        return form.text == parts.head or bool(is_name)

    def _mention(self, term: Term, name: str, *around: str) -> Mention:
        context = "; ".join(filter(None, (*around, *term.context)))
        text = f"{name}\n{context}" if context else name
        return self._linker.prepare(Document(text, [Place(name, 0, len(name))]))[0]

    def _answers(self, mentions: Iterable[Mention]) -> dict[Mention, tuple[_Answer, ...]]:
        return {
            mention: tuple(self._read(mention, decision))
            for batch in minibatch(dict.fromkeys(mentions), _TOGETHER)  # type: ignore[no-untyped-call]  # untyped
            for mention, decision in zip(batch, self._linker.decide(batch), strict=True)
        }

    def _read(self, mention: Mention, decision: Decision) -> Iterator[_Answer]:
        wanted, best = key(mention.text), decision.answers[: self._k]
        # A lexicon may have led to another name of a concept that has the term as a name, too.
        named = {concept for _, concept in self.kb.rows_named(mention.text)}
        names = self.kb.texts_at([answer.name_row for answer in best])
        for answer, name in zip(best, names, strict=True):
            is_given, is_head = bool(answer.scores.get(MEMORY)), bool(answer.match)
            is_name = is_given or key(name) == wanted or answer.row in named
            is_link = decision.link is not None and answer.row == decision.link.row
            is_link &= is_name or is_head or not says_another(mention.text, name)
            yield _Answer(
                answer.row, name, answer.prob, answer.score, is_link, is_name, is_head, is_given
            )

    def _mapping(
        self, term: Term, answers_of_names: Sequence[Sequence[_Answer]], match: str = EXACT
    ) -> Mapping:
        """Make a mapping. match (str): what a concept with the looked up name is to the term."""
        by_row: dict[int, list[_Answer]] = {}
        for answers in answers_of_names:
            for answer in answers:
                by_row.setdefault(answer.row, []).append(answer)
        coded = self._codes.rows_of(term.codes)
        named = [row for row, of_row in by_row.items() if any(answer.is_name for answer in of_row)]
        exact = {
            self.kb.brief_at(row)[0]
            for row in (*named, *(row for row, relation in coded.items() if relation == EXACT))
        }
        votes = {
            row: (sum(each.is_link for each in answers), sum(each.is_name for each in answers))
            for row, answers in ((row, by_row.get(row, ())) for row in (*by_row, *coded))
        }
        order = sorted(votes, key=votes.__getitem__, reverse=True)  # else in the linker's order
        chosen = self._chosen(order, by_row, coded)
        targets, others = list[Target](), list[Target]()
        for row in (*chosen, *(row for row in order if row not in chosen)):
            target = self._target(row, by_row.get(row, ()), coded, exact, row in chosen)
            if match != EXACT and target.match in (EXACT, BROADER, NARROWER):
                target = target._replace(match=RELATED if target.match == NARROWER else match)
            (targets if row in chosen else others).append(target)
        return Mapping(term, tuple(targets), tuple(others[: max(0, self._k - len(targets))]))

    def _chosen(
        self, order: Sequence[int], by_row: dict[int, list[_Answer]], coded: dict[int, str]
    ) -> list[int]:
        """Choose the concepts of a term: by codes, then by names."""
        linked = [row for row in order if any(answer.is_link for answer in by_row.get(row, ()))]
        if not coded:
            return linked[:1]
        exact = [row for row in order if coded.get(row) == EXACT]
        among = exact or [row for row in order if row in coded]
        # A code that several concepts share stands for the concept with the name, if there is one.
        return [row for row in linked if row in among][:1] or among

    def _target(
        self,
        row: int,
        answers: Sequence[_Answer],
        coded: dict[int, str],
        exact: set[str],
        is_chosen: bool,
    ) -> Target:
        id, name, _ = self.kb.brief_at(row)
        best = max(answers, key=_strength, default=None)
        if coded.get(row):
            match = coded[row]
        elif id in exact:
            match = EXACT
        elif exact & self._above(id).keys():
            match = NARROWER
        elif any(id in self._above(other) for other in exact) or any(
            each.is_head for each in answers
        ):
            match = BROADER
        else:
            match = CLOSE if is_chosen or row in coded else RELATED
        if best is None:
            return Target(id, name, match)
        return Target(id, name, match, best.matched, best.prob, best.score)


def _strength(answer: _Answer) -> tuple[bool, bool, float]:
    return answer.is_name, answer.is_link, answer.score


def _link(answers: Sequence[_Answer]) -> _Answer | None:
    return next((answer for answer in answers if answer.is_link), None)


def _rank(form: Form, answers: Sequence[_Answer], whole: _Answer | None) -> int:
    """Rank the link of a form: a name that says all of the term first, one that says less last.

    whole (Optional[_Answer]): the link of the term, which a name within the term may confirm.
    """
    link = _link(answers)
    if link is None:
        return 7
    if link.is_head:
        return 6
    if form.match in (EXACT, CLOSE):
        return (0 if form.match == EXACT else 1) if link.is_name else 3
    if not link.is_name:
        return 5
    is_confirmed = whole is not None and whole.row == link.row and not whole.is_head
    return 2 if is_confirmed else 4

"""Hierarchy: the concepts above and below others, in arrays for very many concepts at a time.

`KnowledgeBase.descendants` queries the file level by level. For millions of concepts, that takes
many times as long as following arrays.
"""

import re
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..types import Ints1d
from . import schema
from .knowledge_base import KnowledgeBase

_CHILD = (1 << 32) - 1


class Hierarchy:
    """The hierarchy of a knowledge base in arrays: 4 bytes an edge and 8 a concept, twice.

    The arrays of a direction are read when they are first needed.
    RAISES (MedlinkError): E102 for a damaged file, at the first call of a method.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb

    def below(self, rows: Ints1d) -> NDArray[np.bool_]:
        """Mark these concepts and all below them; cycles do no harm: (n_concepts,)."""
        return _reached(rows, *self._down)

    def above(self, rows: Ints1d) -> NDArray[np.bool_]:
        """Mark these concepts and all above them; cycles do no harm: (n_concepts,)."""
        return _reached(rows, *self._up)

    @cached_property
    def _down(self) -> tuple[Ints1d, NDArray[np.int32]]:
        edges = self._edges()
        return _starts(edges >> 32, len(self._kb)), (edges & _CHILD).astype(np.int32)

    @cached_property
    def _up(self) -> tuple[Ints1d, NDArray[np.int32]]:
        edges = self._edges()
        children = edges & _CHILD
        order = np.argsort(children, kind="stable")
        return _starts(children, len(self._kb)), (edges[order] >> 32).astype(np.int32)

    def _edges(self) -> Ints1d:
        db = self._kb.connection
        try:
            (data,) = db.execute("SELECT edges FROM hierarchy").fetchone()
            edges = np.frombuffer(data, schema.EDGE)
            for ends in (edges >> 32, edges & _CHILD) if len(edges) else ():
                if not 0 <= ends.min() <= ends.max() < len(self._kb):
                    raise ValueError("its hierarchy names concepts that do not exist")
            return edges
        except (ValueError, TypeError) as error:
            raise Errors.kb_damaged(path=self._kb.path, reason=error) from error


def _starts(rows: Ints1d, n_concepts: int) -> Ints1d:
    """Find where each concept's edges begin in the array sorted by concept: (n_concepts + 1,)."""
    return np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n_concepts))))


def _reached(rows: Ints1d, starts: Ints1d, ends: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Follow the edges from some rows level by level, each row once: (n_concepts,)."""
    reached = np.zeros(len(starts) - 1, dtype=np.bool_)
    place_of = np.empty(len(reached), dtype=np.int64)
    reached[rows] = True
    while len(rows):
        first, counts = starts[rows], starts[rows + 1] - starts[rows]
        places = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        rows = ends[places]
        rows = rows[~reached[rows]]
        reached[rows] = True
        # Keep one edge for each row that several edges reach. Sorting them would take longer.
        place_of[rows] = np.arange(len(rows))
        rows = rows[place_of[rows] == np.arange(len(rows))]
    return reached


Concepts = NDArray[np.bool_]
"""A mask of the selected concepts: (n_concepts,)."""

_TOKEN = re.compile(r"<<|>>|[<>()]|\|[^|]*\||[^\s()<>|]+|\|")
_SIGNS = ("<", "<<", ">", ">>")
_JOIN: dict[str, Callable[[Concepts, Concepts], Concepts]] = {
    "AND": np.logical_and,
    "OR": np.logical_or,
    "MINUS": np.greater,
}
_DEEPEST = 100  # parentheses


def concepts_of(expression: str, kb: KnowledgeBase, hierarchy: Hierarchy) -> Concepts:
    """Find the concepts that an expression selects; retired ids are followed: (n_concepts,).

    RAISES (MedlinkError): E224 for what is no expression, with the place; E106 for an unknown id.
    """
    return _Expression(expression, kb, hierarchy).concepts()


class _Expression:
    """Reads an expression from left to right, and selects as it reads."""

    def __init__(self, text: str, kb: KnowledgeBase, hierarchy: Hierarchy) -> None:
        self._text, self._kb = text, kb
        self._around = {"<": hierarchy.below, ">": hierarchy.above}
        # The next one last. Nothing but white space is passed over.
        self._tokens = [(match[0], match.start()) for match in _TOKEN.finditer(text)][::-1]

    def concepts(self) -> Concepts:
        """Select by the whole expression."""
        mask = self._joined(0)
        if self._token:
            raise self._error("AND, OR, MINUS or the end")
        return mask

    def _joined(self, depth: int) -> Concepts:
        mask, word = self._part(depth), self._token.upper()
        while self._token.upper() in _JOIN:
            if self._token.upper() != word:
                raise self._error(f"{word} again, or parentheses around what belongs together")
            self._take()
            mask = _JOIN[word](mask, self._part(depth))
        return mask

    def _part(self, depth: int) -> Concepts:
        if self._token == "(":
            if depth == _DEEPEST:
                raise self._error(f"at most {_DEEPEST} parentheses within each other")
            self._take()
            mask = self._joined(depth + 1)
            if self._token != ")":
                raise self._error("AND, OR, MINUS or )")
            self._take()
            return mask
        sign = self._take() if self._token in _SIGNS else ""
        if self._token[:1] in ("", "<", ">", "(", ")", "|") or self._token.upper() in _JOIN:
            raise self._error("an id" if sign else "an id, one of << < >> >, or (")
        id = self._take()
        if len(self._token) > 1 and self._token[0] == "|":
            self._take()
        return self._selected(sign, id)

    def _selected(self, sign: str, id: str) -> Concepts:
        """Select a concept ("", "<<", ">>"), and those below or above it."""
        in_use = self._kb.resolve(id)
        if in_use is None:
            raise Errors.unknown_concept(path=self._kb.path, id=id)
        row = np.array([self._kb.row_of(in_use)])
        mask = self._around[sign[0]](row) if sign else np.zeros(len(self._kb), dtype=np.bool_)
        mask[row] = sign in ("", "<<", ">>")
        return mask

    @property
    def _token(self) -> str:
        """Return the token at the current place; "" at the end."""
        return self._tokens[-1][0] if self._tokens else ""

    def _take(self) -> str:
        return self._tokens.pop()[0]

    def _error(self, expected: str) -> Exception:
        position = self._tokens[-1][1] if self._tokens else len(self._text)
        token = repr(self._token) if self._token else "its end"
        return Errors.bad_expression(
            expression=self._text, place=position + 1, found=token, expected=expected
        )

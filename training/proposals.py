"""Choose the threshold of proposals (`propose` of medical_mentions) from names alone.

`python -m training.proposals ASSETS --branch HP:0000118`

As in distant supervision, names play the mentions. A name should be accepted if the other names of
its concept find the concept. Texts that only look like names should not: a name with a word of
another name, and a name without its first or last word.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

from spacy_medlink.assets import Assets
from spacy_medlink.assets.dictionary import Choice, allowed_names, name_words
from spacy_medlink.components.finding.proposals import Heads
from spacy_medlink.errors import Errors
from spacy_medlink.retrieval.mask import Mask
from spacy_medlink.text.normalisation import is_short_form, key, upright
from spacy_medlink.util.devices import AUTO

from .verbs import Device, run

THRESHOLDS = tuple(round(0.5 + 0.01 * step, 2) for step in range(50))
_DEPTH = 50  # names looked at for one that is not the mention itself
_WORDS = (2, 6)


class Figures(NamedTuple):
    """The figures of a threshold.

    right (float): share of the names that are accepted and of the right concept.
    wrong (float): share that are accepted and of a wrong one, and share of the texts that are no
        names and accepted: up to 2, since each counts as if there were as many as of the other.
    """

    threshold: float
    right: float
    wrong: float

    @property
    def precision(self) -> float:
        """Share of right texts among the accepted ones."""
        accepted = self.right + self.wrong
        return self.right / accepted if accepted else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and the share of names found."""
        both = self.precision + self.right
        return 2 * self.precision * self.right / both if both else 0.0


def judge_thresholds(
    assets: Assets, branches: Sequence[str] = (), names: int = 1500, seed: int = 0
) -> list[Figures]:
    """Compute the figures of every threshold on names and on texts that are not names.

    branches (Sequence[str]): as in medical_mentions. names (int): how many play mentions, at most.
    RETURNS (List[Figures]): by ascending threshold.
    RAISES (MedlinkError): E302 for assets without an encoder, E106 for a branch that there is not.
    """
    if "dense" not in assets.tiers:
        raise Errors.bad_setting(
            name="assets", value=assets.path, rule="must have a dense tier to propose with"
        )
    trial = _Trial(assets, branches, random.Random(seed))
    rows = trial.sample(names)
    own = trial.scores([trial.texts[row] for row in rows], held_out=rows)
    others = trial.scores(list(trial.not_names(rows)))
    found = []
    for threshold in THRESHOLDS:
        right = _share(is_right and score >= threshold for score, is_right in own)
        wrong = _share(not is_right and score >= threshold for score, is_right in own)
        found.append(Figures(threshold, right, wrong + _share(s >= threshold for s, _ in others)))
    return found


def _share(truths: Iterable[bool]) -> float:
    values = list(truths)
    return sum(values) / len(values) if values else 0.0


def choose_threshold(figures: Sequence[Figures], names: int) -> float:
    """Take the highest threshold whose F1 is within a standard error of the best.

    names (int): number of names that the figures are of.
    """
    best = max(one.f1 for one in figures)
    error = (best * (1 - best) / max(1, names)) ** 0.5
    return max(one.threshold for one in figures if one.f1 >= best - error)


class _Trial:
    def __init__(self, assets: Assets, branches: Sequence[str], luck: random.Random) -> None:
        self._assets, self._luck = assets, luck
        allowed = allowed_names(assets, Choice(branches=tuple(branches)))
        self._mask = Mask.of(allowed)
        self.texts = list(assets.kb.iter_texts())
        self._concepts = assets.kb.name_concepts()
        self._rows = np.flatnonzero(allowed).tolist()
        self._heads = Heads(self.texts[row] for row in self._rows)
        self._keys = {key(self.texts[row]) for row in self._rows}

    def sample(self, count: int) -> list[int]:
        """Draw names of a few words whose concept has others."""
        of_concept = np.bincount(self._concepts[self._rows], minlength=len(self._assets.kb))
        fit = [
            row
            for row in self._rows
            if of_concept[self._concepts[row]] > 1
            and _WORDS[0] <= len(self.texts[row].split()) <= _WORDS[1]
            and not is_short_form(self.texts[row])
        ]
        return self._luck.sample(fit, min(count, len(fit)))

    def not_names(self, rows: Sequence[int]) -> Iterator[str]:
        """Make texts that look like names but are not."""
        words = [word for row in self._rows for word in self.texts[row].split() if len(word) > 3]
        for row in rows:
            own = self.texts[row].split()
            changed = list(own)
            changed[self._luck.randrange(len(own))] = self._luck.choice(words).lower()
            shorter = own[1:] if self._luck.random() < 0.5 else own[:-1]
            for text in (changed, shorter) if len(own) > _WORDS[0] else (changed,):
                if key(" ".join(text)) not in self._keys:
                    yield " ".join(text)

    def scores(
        self, texts: Sequence[str], held_out: Sequence[int] = ()
    ) -> list[tuple[float, bool]]:
        """Find (dense score, whether it is of the right concept) of the nearest name.

        A name that says more than the text scores 0, and a text that ends as names do not, as with
        the component.
        held_out (Sequence[int]): rows of the texts, where they are names: names with the same
            words are passed over.
        """
        assert self._assets.encoder is not None and self._assets.dense is not None
        if not texts:
            return []
        hits = self._assets.dense.search(self._assets.encoder.encode(texts), _DEPTH, self._mask)
        found = []
        for place, text in enumerate(texts):
            words = sorted(name_words(text))
            near = zip(hits.scores[place].tolist(), hits.rows[place].tolist(), strict=True)
            for score, row in near:
                if row < 0:
                    break
                name = sorted(name_words(self.texts[row]))
                if held_out and name == words:
                    continue
                is_cut = set(words) < set(name) or not self._heads.ends(upright(text))
                right = bool(held_out) and self._concepts[row] == self._concepts[held_out[place]]
                found.append((0.0 if is_cut else score, bool(right)))
                break
        return found


def main(
    assets: Annotated[Path, typer.Argument(help="Assets with an encoder.")],
    branch: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="As for medical_mentions; repeatable.")
    ] = None,
    names: Annotated[int, typer.Option(min=2, help="Names that play mentions.")] = 1500,
    device: Device = AUTO,
) -> None:
    """Choose the threshold of proposals."""
    figures = judge_thresholds(Assets(assets, device=device), branch or (), names)
    typer.echo("threshold  right %  wrong %     F1")
    for one in figures[20:]:
        row = f"{one.threshold:9.2f} {100 * one.right:8.1f} {100 * one.wrong:8.1f}"
        typer.echo(f"{row} {100 * one.f1:6.1f}")
    typer.echo(f"propose = {choose_threshold(figures, names)}")


if __name__ == "__main__":
    run(main)

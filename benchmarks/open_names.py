"""Write names of MEDIC and open ontologies for pre-training: `python -m benchmarks.open_names OUT`.

OUT is JSON Lines for `medlink kb build --from jsonl`. A concept of the ontologies joins the MEDIC
concept that it shares most names with; without a shared name it stays by itself. Short names and
names of several concepts do not count.
"""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.diseases import DATA
from spacy_medlink.text.normalisation import is_short_form, key

_SHORT = 5  # characters of names that are often ambiguous


def join(medic: list[dict[str, Any]], others: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Join concepts by their names.

    medic (List[Dict]): "concept_id", "canonical_name" and "aliases". others (List[Dict]):
        "concept_id" and "names", each with "name" and "lang".
    YIELDS (Dict): the concepts of MEDIC, with more aliases; then those that joined none of them.
    """
    concepts_of = defaultdict(set)
    for place, concept in enumerate(medic):
        for name in [concept["canonical_name"], *concept["aliases"]]:
            if len(name) > _SHORT and not is_short_form(name):
                concepts_of[key(name)].add(place)
    joined: defaultdict[int, list[str]] = defaultdict(list)
    rest = []
    for concept in others:
        names = list(dict.fromkeys(_english(concept)))
        shared = [concepts_of[own] for own in dict.fromkeys(map(key, names)) if own in concepts_of]
        votes = Counter(place for places in shared if len(places) == 1 for place in places)
        if votes:
            joined[votes.most_common(1)[0][0]] += names
        elif names:
            rest.append((concept["concept_id"], names))
    for place, concept in enumerate(medic):
        yield concept | {"aliases": list(dict.fromkeys([*concept["aliases"], *joined[place]]))}
    for own, (first, *aliases) in rest:
        yield {"concept_id": own, "canonical_name": first, "aliases": aliases}


def _english(concept: dict[str, Any]) -> Iterator[str]:
    """Yield the English names; some entries hold several names."""
    for name in concept["names"]:
        if name["lang"] == "en" and "|" not in name["name"]:
            yield name["name"]


def _read(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main(out: Annotated[Path, typer.Argument(help="JSON Lines to write.")]) -> None:
    """Write the names."""
    concepts = list(join(_read("medic_2012.kb.jsonl.gz"), _read("open_umls.kb.jsonl.gz")))
    out.write_text("".join(json.dumps(one) + "\n" for one in concepts), encoding="utf-8")
    typer.echo(f"{len(concepts):,} concepts, {out}")


if __name__ == "__main__":
    typer.run(main)

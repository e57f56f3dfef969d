"""How well and how fast local terms are mapped: `python -m benchmarks.mapping WORK --medic KB ...`.

The right concepts of these lists are known, but no name or code in the assets gives them away.

- MEDIC: 10,000 of its names, which the assets lack; right is the concept that had them.
- Orphanet to the open UMLS names without their names from Orphanet; right is the CUI that had most
  of these names of a disease.
- The Disease Ontology to MEDIC by names alone; right are the concepts with its MeSH or OMIM code.
- ICD-O-3 in Spanish to the open UMLS names: no code is in both, so only shares are reported.

Each list is one run of `medlink map`, from the start of the process to its end. The assets have the
exact and the n-gram tier, and with `--encoder` the dense tier.
"""

import csv
import json
import random
import resource
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.measured import machine, run_command, write_results
from spacy_medlink.building import build_assets
from spacy_medlink.kb import KnowledgeBase, build_knowledge_base
from spacy_medlink.text.normalisation import key
from spacy_medlink.types import Concept, Name

_SEED, _LINES, _K = 83, 10_000, 5
Gold = Mapping[str, set[str]]
"""Of the code of a term: the concepts that are right."""
Terms = Iterable[tuple[str, str]]
"""Codes and names."""


def write_kb(kb: KnowledgeBase, out: Path, keep: Callable[[Concept, Name], bool]) -> KnowledgeBase:
    """Build a knowledge base with only some of the names of another one."""
    source = out.with_suffix(".jsonl")
    with source.open("w", encoding="utf-8") as file:
        for concept in kb:
            names = [one for one in concept.names if keep(concept, one)]
            if names:
                record = {
                    "concept_id": concept.id, "canonical_name": names[0].text,
                    "types": concept.types, "codes": dict(concept.codes),
                    "parents": concept.parents,
                    "names": [{"name": one.text, "lang": one.lang} for one in names],
                }  # fmt: skip
                file.write(json.dumps(record) + "\n")
    return build_knowledge_base(out=out, sources=[("jsonl", source)], overwrite=True).kb


def held_out(kb: KnowledgeBase) -> tuple[set[tuple[str, str]], list[tuple[str, str]], Gold]:
    """Take names out of a knowledge base; each concept keeps a name, and none like those taken out.

    RETURNS: (id, key) of the names to leave out; the terms; their right concepts.
    """
    every = [
        (concept.id, one.text)
        for concept in kb
        for one in concept.names[1:]
        if key(one.text) != key(concept.name)
    ]
    chosen = random.Random(_SEED).sample(every, min(_LINES, len(every)))
    terms = [(f"{id}/{number}", name) for number, (id, name) in enumerate(chosen)]
    gold = {code: {code.partition("/")[0]} for code, _ in terms}
    return {(id, key(name)) for id, name in chosen}, terms, gold


def orphanet_gold(orphanet: KnowledgeBase, umls: KnowledgeBase) -> Gold:
    """Find the CUI that has most of the Orphanet names of each disease; ties have no CUI."""
    known = defaultdict(set)
    for concept in umls:
        for one in concept.names:
            if "ORDO" in one.source:
                known[one.lang, key(one.text)].add(concept.id)
    gold = {}
    for concept in orphanet:
        votes = Counter(id for one in concept.names for id in known[one.lang, key(one.text)])
        best = votes.most_common(2)
        if best and (len(best) == 1 or best[0][1] > best[1][1]):
            gold[concept.id] = {best[0][0]}
    return gold


def code_gold(source: KnowledgeBase, target: KnowledgeBase) -> Gold:
    """Find the concepts of `target` with a MeSH or OMIM code of each concept of `source`."""
    having = defaultdict(set)
    for concept in target:
        for vocabulary in ("MESH", "OMIM"):
            for code in concept.codes.get(vocabulary, ()):
                having[vocabulary, code].add(concept.id)
    return {
        concept.id: found
        for concept in source
        if (found := {
            id
            for vocabulary in ("MESH", "OMIM")
            for code in concept.codes.get(vocabulary, ())
            for id in having[vocabulary, code]
        })
    }  # fmt: skip


def measure(work: Path, assets: Path, terms: Terms, gold: Gold, lang: str) -> dict[str, Any]:
    """Map terms by the command, and compare them with gold."""
    place = work / "terms.csv"
    with place.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("code", "name"), *terms])
    out = work / "mapped.csv"
    out.unlink(missing_ok=True)
    before = _processor_seconds()
    run = run_command(
        "map", str(place), "--to", str(assets), "--output", str(out), "--lang", lang,
        "--candidates", str(_K), "--device", "cpu",
    )  # fmt: skip
    seconds = _processor_seconds() - before
    right: Counter[str] = Counter()
    with out.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            right["terms"] += 1
            kind = "exact" if row["match_type"] == "exact" else "probable"
            right[kind if row["concept_id"] else "without"] += 1
            wanted = gold.get(row["source_code"], set())
            if wanted:
                found = [id for id in _ranked(row) if id]
                right["gold"] += 1
                right["first"] += bool(found) and found[0] in wanted
                right["five"] += not set(found[:_K]).isdisjoint(wanted)
                right["linked"] += bool(row["concept_id"])
                right["linked_right"] += row["concept_id"] in wanted
    return {
        **right,
        "seconds": run["wall_s"],
        "processor_s": seconds,
        "peak_rss_mb": run["peak_rss_mb"],
    }


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _ranked(row: Mapping[str, str]) -> Iterator[str]:
    yield row["concept_id"]
    for place in range(1, _K + 1):
        yield row[f"candidate_{place}_id"]


def table(results: Mapping[str, Any]) -> str:
    """Write results as Markdown."""
    lines = [
        "| list | terms | exact / probable / without | with a right concept | acc@1 | acc@5 "
        "| of links right | seconds | of them on a processor | MB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, one in results["lists"].items():
        gold = one.get("gold", 0)
        shares = (("first", gold), ("five", gold), ("linked_right", one.get("linked", 0)))
        cells = [f"{100 * one[what] / of:.1f}" if of else "-" for what, of in shares]
        kinds = " / ".join(f"{one.get(kind, 0):,}" for kind in ("exact", "probable", "without"))
        lines.append(
            f"| {name} | {one['terms']:,} | {kinds} | {gold:,} | {' | '.join(cells)} "
            f"| {one['seconds']:.0f} | {one['processor_s']:.0f} | {one['peak_rss_mb']:.0f} |"
        )
    facts = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    return "\n".join([*lines, "", f"{facts}."])


def main(
    work: Annotated[Path, typer.Argument(help="Directory for assets, which may stay.")],
    medic: Annotated[Path, typer.Option(help="Knowledge base of MEDIC.")],
    umls: Annotated[Path, typer.Option(help="Knowledge base of the open UMLS names.")],
    orphanet: Annotated[Path, typer.Option(help="Knowledge base of Orphanet.")],
    icdo: Annotated[Path, typer.Option(help="Knowledge base of ICD-O-3 in Spanish.")],
    ontology: Annotated[Path, typer.Option(help="The Disease Ontology, OBO.")],
    encoder: Annotated[str, typer.Option(help="For a dense tier; none by default.")] = "",
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/mapping.json"
    ),
) -> None:
    """Measure how well and how fast local terms are mapped."""
    work.mkdir(parents=True, exist_ok=True)
    kbs = {name: KnowledgeBase(path) for name, path in
           {"medic": medic, "umls": umls, "orphanet": orphanet, "icdo": icdo}.items()}  # fmt: skip
    left_out, terms, gold = held_out(kbs["medic"])
    less = write_kb(
        kbs["medic"], work / "medic.kb", lambda own, name: (own.id, key(name.text)) not in left_out
    )
    other = write_kb(kbs["umls"], work / "umls.kb", lambda own, name: "ORDO" not in name.source)
    disease = build_knowledge_base(
        out=work / "do.kb", sources=[("obo", ontology)], overwrite=True, skip_bad_lines=True
    ).kb
    targets = {"less": less, "other": other, "medic": kbs["medic"], "umls": kbs["umls"]}
    for name, kb in targets.items():
        if not (work / name).exists():
            build_assets(work / name, kb.path, Path(encoder) if encoder else None)
    cuis = {concept.id for concept in other}
    from_orphanet = orphanet_gold(kbs["orphanet"], kbs["umls"])
    lists = {
        "MEDIC names held out": (work / "less", terms, gold, "en"),
        "Orphanet, English, to CUIs": (
            work / "other", _named(kbs["orphanet"], "en"),
            {id: own for id, own in from_orphanet.items() if own <= cuis}, "en",
        ),
        "Disease Ontology to MEDIC": (
            work / "medic", _named(disease, "en"), code_gold(disease, kbs["medic"]), "en",
        ),
        "ICD-O-3, Spanish, to CUIs": (work / "umls", _named(kbs["icdo"], "es"), {}, "es"),
    }  # fmt: skip
    results = {
        "lists": {name: measure(work, *one) for name, one in lists.items()},
        "encoder": encoder,
        "machine": machine(),
    }
    write_results(output, results, table(results))


def _named(kb: KnowledgeBase, lang: str) -> Terms:
    names = ((one.id, next((n.text for n in one.names if n.lang == lang), "")) for one in kb)
    return [(id, name) for id, name in names if name]


if __name__ == "__main__":
    typer.run(main)

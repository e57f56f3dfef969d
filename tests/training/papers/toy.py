# ruff: noqa: E501 - lines of corpora are as long as they are.
"""The corpora and terminologies of the papers, tiny, each in its original format."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from spacy_medlink.types import Concept
from tests.kb.umls_release import atom, relation, semantic_type, source, write_release
from tests.tiny import TINY_RECORDS

_LANGUAGES = {"en": "ENG", "es": "SPA", "de": "GER", "fr": "FRE", "nl": "DUT"}
_PARTS = {"train": "severe", "dev": "mild", "test": "acute"}


class Toy(NamedTuple):
    """A concept: cui and code (of SNOMED, MeSH, ICD), type, names by language."""

    cui: str
    code: str
    type: str
    names: dict[str, list[str]]


def concepts() -> list[Toy]:
    """List the tiny concepts."""
    found = []
    records = (record for record in TINY_RECORDS if isinstance(record, Concept))
    for number, record in enumerate(records):
        names: dict[str, list[str]] = {}
        for name in record.names:
            names.setdefault(name.lang, []).append(name.text)
        names.setdefault("es", [f"{record.name} es", f"{record.name} esp"])
        names["nl"] = [f"{record.name} nl"]
        cui = record.codes["UMLS"][0]
        found.append(Toy(cui, str(100100 + number), record.types[0], names))
    return found


class Said(NamedTuple):
    """A mention in its sentence."""

    text: str
    mention: str
    concept: Toy

    @property
    def start(self) -> int:
        return self.text.index(self.mention)

    @property
    def end(self) -> int:
        return self.start + len(self.mention)


def said(part: str, lang: str = "en") -> Iterator[Said]:
    """List mentions of a part: one that is a name, and others that are not."""
    for number, toy in enumerate(concepts()):
        for name in toy.names.get(lang, []):
            mention = name if number % 3 == 0 else f"{_PARTS[part]} {name}"
            yield Said(f"With {mention} ({part}).", mention, toy)


def umls(place: Path) -> Path:
    """Write a release: names of four languages, types, typed relations."""
    every = sorted(concepts())
    rows = [
        atom(toy.cui, name, LAT=_LANGUAGES[lang], SAB="SNOMEDCT_US" if lang == "en" else f"MSH{_LANGUAGES[lang]}",
             TTY="PT" if number == 0 else "SY", CODE=toy.code)
        for toy in every for lang in toy.names for number, name in enumerate(toy.names[lang])
    ]  # fmt: skip
    rows += [atom(toy.cui, name, SAB="ICD10CM", TTY="PT" if number == 0 else "ET")
             for toy in every for number, name in enumerate(toy.names["en"])]  # fmt: skip
    rows.sort()
    pairs = [(every[n], every[(n + 1) % len(every)]) for n in range(len(every))]
    relations = [
        relation(one.cui, *(("PAR", other.cui, "inverse_isa") if n % 2 else ("RO", other.cui, "may_treat")))
        for n, (one, other) in enumerate(pairs)
    ]  # fmt: skip
    sources = [source("SNOMEDCT_US", family="SNOMEDCT"), source("ICD10CM", family="ICD10")]
    sources += [source(f"MSH{lat}", lat, "MSH") for lat in _LANGUAGES.values()]
    types = [semantic_type(toy.cui, toy.type) for toy in every]
    ranks = ["0200|SNOMEDCT_US|PT|N|", "0100|SNOMEDCT_US|SY|N|"]
    tables = {
        "MRCONSO": rows, "MRSTY": types, "MRREL": relations, "MRRANK": ranks, "MRSAB": sources,
    }  # fmt: skip
    return write_release(place, tables)


def biosyn(place: Path) -> None:
    """Write three corpora with their dictionaries, for training and for testing."""
    for corpus in ("ncbi-disease", "bc5cdr-disease", "bc5cdr-chemical"):
        names = [f"D{toy.code}||{name}" for toy in concepts() for name in toy.names["en"]]
        known = [
            f"D{one.concept.code}||{one.mention}" for part in ("train", "dev") for one in said(part)
        ]
        _write(place / corpus / "train_dictionary.txt", "\n".join(names))
        _write(place / corpus / "test_dictionary.txt", "\n".join([*names, *known]))
        for part in _PARTS:
            for number, one in enumerate(said(part)):
                line = f"{part}{number}||0|{len(one.mention)}||Disease||{one.mention.lower()}||D{one.concept.code}"
                _write(place / corpus / f"processed_{part}" / f"{part}{number}.concept", line)


def medmentions(place: Path) -> None:
    """Write PubTator with lists of the splits."""
    blocks, numbers = [], {part: [] for part in _PARTS}
    for part in _PARTS:
        for one in said(part):
            pmid = str(len(blocks) + 1)
            numbers[part].append(pmid)
            type, cui = one.concept.type, one.concept.cui
            span = f"{pmid}\t{one.start}\t{one.end}\t{one.mention}\t{type}\tUMLS:{cui}"
            blocks.append(f"{pmid}|t|{one.text}\n{pmid}|a|Nothing.\n{span}\n\n")
    data = place / "full" / "data"
    _write(data / "corpus_pubtator.txt", "".join(blocks))
    for part, name in (("train", "trng"), ("dev", "dev"), ("test", "test")):
        _write(data / f"corpus_pubtator_pmids_{name}.txt", "\n".join(numbers[part]))


def askapatient(place: Path) -> None:
    """Write ten folds."""
    for fold in range(10):
        for part in _PARTS:
            name = {"dev": "validation"}.get(part, part)
            lines = [
                f"{one.concept.code}\t{one.concept.names['en'][0]}\t{one.mention}"
                for one in said(part)
            ]
            _write(place / f"AskAPatient.fold-{fold}.{name}.txt", "\n".join(lines))


def cometa(place: Path) -> None:
    """Write a division."""
    head = "ID\tTerm\tGeneral SNOMED Label\tGeneral SNOMED ID\tSpecific SNOMED Label\tSpecific SNOMED ID\tExample"
    for part in _PARTS:
        rows = [
            f"{number}\t{one.mention}\tx\t{one.concept.code}\tx\t{one.concept.code}\t{one.text}"
            for number, one in enumerate(said(part))
        ]
        for division in ("stratified_general", "zeroshot_general"):
            _write(place / division / f"{part}.csv", "\n".join([head, *rows]))


def snomed(place: Path) -> Path:
    """Write concepts and descriptions of a release (RF2)."""
    module, when = "900000000000207008", "20260101"
    head = "id\teffectiveTime\tactive\tmoduleId\tdefinitionStatusId"
    rows = [f"{toy.code}\t{when}\t1\t{module}\t900000000000074008" for toy in concepts()]
    terms = place / "Snapshot" / "Terminology"
    _write(terms / "sct2_Concept_Snapshot_INT_20260101.txt", "\n".join([head, *rows]))
    head = "id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId"
    rows = []
    for toy in concepts():
        for number, name in enumerate(toy.names["en"]):
            kind = "900000000000013009" if number else "900000000000003001"
            shown = name if number else f"{name} (disorder)"
            rows.append(
                f"{toy.code}{number}\t{when}\t1\t{module}\t{toy.code}\ten\t{kind}\t{shown}\t900000000000448009"
            )
    _write(terms / "sct2_Description_Snapshot-en_INT_20260101.txt", "\n".join([head, *rows]))
    return place


def brat(place: Path, lang: str = "es", type: str = "MORFOLOGIA_NEOPLASIA") -> None:
    """Write CANTEMIST: a text and its annotations, the code in a note."""
    for part, folder in (("train", "train-set"), ("dev", "dev-set1"), ("test", "test-set")):
        for number, one in enumerate(said(part, lang)):
            base = place / folder / "cantemist-norm" / f"cc_{part}{number}"
            _write(base.with_suffix(".txt"), one.text)
            note = f"T1\t{type} {one.start} {one.end}\t{one.mention}\n#1\tAnnotatorNotes T1\t{one.concept.code}"
            _write(base.with_suffix(".ann"), note)


def codiesp(place: Path) -> None:
    """Write cases and their tables."""
    for part in _PARTS:
        rows = []
        for number, one in enumerate(said(part, "es")):
            _write(place / part / "text_files" / f"S{part}{number}.txt", one.text)
            rows.append(
                f"S{part}{number}\tDIAGNOSTICO\t{one.concept.code}\t{one.mention}\t{one.start} {one.end}"
            )
        _write(place / part / f"{part}X.tsv", "\n".join(rows))


def mcn(place: Path) -> None:
    """Write notes of two parts."""
    for part in ("train", "test"):
        for number, one in enumerate(said(part)):
            _write(place / part / f"{part}_note" / f"{part}{number}.txt", one.text)
            norm = f"N001||{one.concept.cui}||{one.start}||{one.end}"
            _write(place / part / f"{part}_norm" / f"{part}{number}.norm", norm)


def mantra(place: Path) -> None:
    """Write a file for each of five languages."""
    for lang in ("en", "es", "de", "fr", "nl"):
        units = "".join(
            f'<document id="d{n}"><unit id="d{n}.u1"><text>{one.text}</text><e cui="{one.concept.cui}" '
            f'grp="DISO" id="e1" len="{len(one.mention)}" offset="{one.start}" type="T047">{one.mention}</e>'
            "</unit></document>"
            for n, one in enumerate(said("test", lang))
        )
        xml = f'<?xml version="1.0" encoding="UTF-8"?>\n<Corpus lang="{lang}" source="Medline">{units}</Corpus>'
        for kind in ("Medline", "EMEA", "Patent"):
            _write(place / f"{kind}_GSC_{lang}_man.xml", xml.replace('id="d', f'id="{kind}'))


def coder_folds(place: Path) -> None:
    """Write five folds of each corpus, with the same targets in another order."""
    for folder, first in (("cadec/CADEC_", 0), ("psytar_disjoint_folds/fold_", 1)):
        for fold in range(5):
            every = concepts()[fold:] + concepts()[:fold]
            targets = [f"{toy.code}\t{toy.names['en'][0]}" for toy in every]
            phrases = [f"{one.concept.code}\t{one.mention}" for one in list(said("test"))[fold::5]]
            _write(place / f"{folder}{first + fold}" / "standard.txt", "\n".join(targets))
            _write(place / f"{folder}{first + fold}" / "test.txt", "\n".join(phrases))
            _write(place / f"{folder}{first + fold}" / "train.txt", "\n".join(phrases))


def diseases_database(place: Path) -> None:
    """Write triplets of concepts."""
    every = concepts()
    rows = [
        f"{one.cui}\t{every[(n + step) % len(every)].cui}\t{relation}"
        for n, one in enumerate(every) for step, relation in ((1, "may cause"), (2, "see also"))
    ]  # fmt: skip
    _write(place, "\n".join(["head\ttail\trelation", *rows]))


def temist(place: Path, name: str) -> None:
    """Write DisTEMIST or MedProcNER: texts, tables, gazetteer."""
    for part, own in (("train", "training1_linking"), ("test", "test_linking")):
        rows = ["filename\tmark\tlabel\toff0\toff1\tspan\tcode\tsemantic_rel"]
        for number, one in enumerate(said(part, "es")):
            _write(place / part / f"{part}{number}.txt", one.text)
            rows.append(
                f"{part}{number}\tT1\tENFERMEDAD\t{one.start}\t{one.end}\t{one.mention}\t{one.concept.code}\tEXACT"
            )
        table = (
            f"distemist_subtrack2_{own}.tsv"
            if name == "distemist"
            else f"{name}_tsv_{part}_subtask2.tsv"
        )
        _write(place / part / table, "\n".join(rows))
    rows = [
        f"{toy.code}\tes\t{term}\tdisorder\t{int(number == 0)}"
        for toy in concepts() for number, term in enumerate(toy.names["es"])
    ]  # fmt: skip
    head = "code\tlanguage\tterm\tsemantic_tag\tmainterm"
    _write(place / f"dictionary_{name}.tsv", "\n".join([head, *rows]))


def xl_bel(place: Path) -> None:
    """Write queries of three languages."""
    for lang in ("en", "es", "de"):
        lines = [f"{one.concept.cui}||{one.mention}" for one in said("test", lang)]
        _write(place / f"{lang}_1k_test_query.txt", "\n".join(lines))
    names = [
        f"{toy.cui}||{name}" for toy in concepts() for own in toy.names.values() for name in own
    ]
    _write(place.with_name("xl_bel_targets"), "\n".join(names))


def translations(muse: Path, titles: Path) -> None:
    """Write words as MUSE has them, titles as WMT has them."""
    _write(muse / "en-de.txt", "heart Herz\nlung\tLunge")
    _write(muse / "en-xx.txt", "heart x")
    _write(titles / "wikititles-v3.de-en.tsv", "Das Herz\tThe heart\nDie Lunge\tThe lung")


def own_files(place: Path) -> None:
    """Write dictionaries and gold mentions in the project's own formats."""
    for name, lang in (("icdo3_es", "es"), ("medic_2012", "en")):
        lines = [
            {"concept_id": toy.code, "canonical_name": toy.names[lang][0],
             "names": [{"name": one, "lang": lang} for one in toy.names[lang]], "types": ["Disease"]}
            for toy in concepts()
        ]  # fmt: skip
        _packed(place / f"{name}.kb.jsonl.gz", lines)
    for name, lang in (("cantemist", "es"), ("ncbi_disease", "en"), ("bc5cdr", "en")):
        for part in ("train", "dev"):
            _packed(place / f"{name}.{part}.jsonl.gz", [
                {"doc_id": f"{part}{n}", "lang": lang, "text": one.text, "mentions": [
                    {"start": one.start, "end": one.end, "mention": one.mention,
                     "ids": [one.concept.code], "type": "Disease"}]}
                for n, one in enumerate(said(part, lang))
            ])  # fmt: skip


def _packed(path: Path, lines: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(json.dumps(one) + "\n" for one in lines).encode()))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", "utf-8")

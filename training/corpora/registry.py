"""The corpora that can be converted, by name."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from spacy_medlink.errors import Errors
from spacy_medlink.exchange.documents import Document

from . import (
    abstracts,
    askapatient,
    biosyn,
    cadec,
    cantemist,
    cases,
    coder,
    cometa,
    e3c,
    gsc_plus,
    mantra,
    mcn,
    medmentions,
    psytar,
    xlbel,
)
from .tally import Tally


class Corpus(NamedTuple):
    """A corpus.

    read (Callable[[Path, Tally], Iterator[Document]]): streams its documents.
    ids (str): the terminology of its ids.
    """

    name: str
    read: Callable[[Path, Tally], Iterator[Document]]
    ids: str


CORPORA = {
    corpus.name: corpus
    for corpus in (
        Corpus("askapatient", askapatient.read, "SNOMED CT and AMT"),
        Corpus("bc5cdr", abstracts.read_bc5cdr, "MeSH"),
        Corpus("biosyn", biosyn.read, "those of its dictionary"),
        Corpus("cadec", cadec.read_snomed, "SNOMED CT and AMT"),
        Corpus("cadec-meddra", cadec.read_meddra, "MedDRA"),
        Corpus("cantemist", cantemist.read, "ICD-O-3 (eCIE-O)"),
        Corpus("codiesp-d", cases.read_codiesp_d, "ICD-10-CM (CIE-10)"),
        Corpus("codiesp-x", cases.read_codiesp_x, "ICD-10-CM and ICD-10-PCS (CIE-10)"),
        Corpus(coder.NAME, coder.read, "SNOMED CT and AMT"),
        Corpus("cometa", cometa.read_general, "SNOMED CT"),
        Corpus("cometa-specific", cometa.read_specific, "SNOMED CT"),
        Corpus("distemist", cases.read_distemist, "SNOMED CT"),
        Corpus("e3c", e3c.read, "UMLS"),
        Corpus("gsc-2024", gsc_plus.read, "HPO"),
        Corpus("gsc-plus", gsc_plus.read, "HPO"),
        Corpus("mantra", mantra.read, "UMLS"),
        Corpus("mcn", mcn.read, "UMLS"),
        Corpus("medmentions", medmentions.read_full, "UMLS"),
        Corpus("medmentions-st21pv", medmentions.read_st21pv, "UMLS"),
        Corpus("medprocner", cases.read_medprocner, "SNOMED CT"),
        Corpus("ncbi-disease", abstracts.read_ncbi_disease, "MeSH and OMIM (MEDIC)"),
        Corpus("psytar", psytar.read_umls, "UMLS"),
        Corpus("psytar-snomed", psytar.read_snomed, "SNOMED CT"),
        Corpus("symptemist", cases.read_symptemist, "SNOMED CT"),
        Corpus("xl-bel", xlbel.read_v0, "UMLS"),
        Corpus("xl-bel-v1", xlbel.read_v1, "UMLS"),
    )
}


def find_corpus(name: str) -> Corpus:
    """Find a corpus.

    RAISES (MedlinkError): E108 when there is none of the name.
    """
    if name not in CORPORA:
        raise Errors.unknown_choice(what="corpus", value=name, known=", ".join(CORPORA))
    return CORPORA[name]

"""The sources of corpora: addresses, licences and checksums.

Licences are as their publishers state them; the publisher's page decides. Only published checksums
are listed. For other files the first download is recorded, and later ones must equal it.
"""

from typing import NamedTuple

from spacy_medlink.errors import Errors


class Remote(NamedTuple):
    """A file of a source.

    urls (Tuple[str, ...]): addresses, tried in order.
    place (str): directory below the output for the file or its content, "" for the output.
    sha256 (str): "" if unknown.
    """

    urls: tuple[str, ...]
    place: str = ""
    sha256: str = ""


class Source(NamedTuple):
    """A corpus or terminology to download.

    how (str): what the user must do to get the file, "" for open sources.
    key (str): environment variable that holds the user's key for the server, "" for none.
    """

    name: str
    licence: str
    homepage: str
    files: tuple[Remote, ...] = ()
    how: str = ""
    key: str = ""


_NCBI = "https://www.ncbi.nlm.nih.gov/CBBresearch/Dogan/DISEASE/NCBI{}set_corpus.zip"
_MEDMENTIONS = "https://raw.githubusercontent.com/chanzuckerberg/MedMentions/master/{}"
_XLBEL = "https://raw.githubusercontent.com/cambridgeltl/sapbert/main/evaluation/xl_bel/{}"
_XLBEL_LANGUAGES = ("en", "es", "de", "fi", "ru", "tr", "ko", "zh", "ja", "th")
_XLBEL_TERMS = "text of Wikipedia (CC BY-SA 3.0), ids of the UMLS (its licence)"
_UMLS = "https://download.nlm.nih.gov/umls/kss/{release}/umls-{release}-metathesaurus-full.zip"
_CC_BY = "CC BY 4.0"


def _open(name: str, licence: str, homepage: str, *files: Remote) -> Source:
    return Source(name, licence, homepage, files)


def _zenodo(name: str, record: int, file: str) -> Source:
    url = f"https://zenodo.org/records/{record}/files/{file}?download=1"
    return _open(name, _CC_BY, f"https://zenodo.org/records/{record}", Remote((url,)))


def _medmentions(path: str) -> Remote:
    return Remote((_MEDMENTIONS.format(path),), path.rpartition("/")[0])


def _xlbel(name: str, version: str, ending: str) -> Source:
    names = [f"{version}/{lang}_1k_test_query{ending}.txt" for lang in _XLBEL_LANGUAGES]
    files = (Remote((_XLBEL.format(each),)) for each in names)
    return _open(name, _XLBEL_TERMS, "https://github.com/cambridgeltl/sapbert", *files)


SOURCES = {
    source.name: source
    for source in (
        _zenodo("askapatient", 55013, "datasets.zip"),
        _open(
            "bc5cdr",
            "public domain, as the work of a government",
            "https://biocreative.bioinformatics.udel.edu/tasks/biocreative-v/track-3-cdr/",
            Remote((
                "https://biocreative.bioinformatics.udel.edu/media/store/files/2016/CDR_Data.zip",
                "https://ftp.ncbi.nlm.nih.gov/pub/lu/BC5CDR/CDR_Data.zip",
            )),
        ),
        Source(
            "biosyn", "those of the corpora it was made of", "https://github.com/dmis-lab/BioSyn",
            how="its page links to a drive",
        ),
        Source(
            "cadec", "CSIRO Data Licence", "https://data.csiro.au/collection/csiro:10948",
            how="its page asks you to accept the licence",
        ),
        _zenodo("cantemist", 3978041, "cantemist.zip"),
        _zenodo("codiesp", 3837305, "codiesp.zip"),
        Source(
            "cometa", "terms of the page, for research", "https://siphs.org/corpus",
            how="its page says whom to ask",
        ),
        _zenodo("distemist", 6671292, "distemist.zip"),
        _open(
            "e3c", "CC BY-NC 4.0", "https://github.com/hltfbk/E3C-Corpus",
            Remote(("https://github.com/hltfbk/E3C-Corpus/archive/refs/tags/v2.0.0.zip",)),
        ),
        _open(
            "gsc-plus",
            "none is stated; abstracts of PubMed",
            "https://github.com/ncbi-nlp/PhenoTagger",
            Remote((
                "https://raw.githubusercontent.com/ncbi-nlp/PhenoTagger/master/data/corpus.zip",
            )),
        ),
        _open(
            "hpo", "the HPO licence (https://hpo.jax.org/app/license)",
            "https://hpo.jax.org/",
            Remote(("http://purl.obolibrary.org/obo/hp.obo",)),
        ),
        _open(
            "mantra", _CC_BY, "https://github.com/mi-erasmusmc/Mantra-Gold-Standard-Corpus",
            Remote(("https://files.ifi.uzh.ch/cl/mantra/gsc/GSC-v1.1.zip",)),
        ),
        _open(
            "mantra-brat", _CC_BY, "https://github.com/mi-erasmusmc/Mantra-Gold-Standard-Corpus",
            Remote(("http://biosemantics.org/MantraGSC/Mantra-GSC.zip",)),
        ),
        Source(
            "mcn", "data use agreement of n2c2", "https://portal.dbmi.hms.harvard.edu/",
            how="it is given out after an agreement, as 2019 track 3",
        ),
        _open(
            "medmentions", "CC0 1.0", "https://github.com/chanzuckerberg/MedMentions",
            _medmentions("full/data/corpus_pubtator.txt.gz"),
            _medmentions("full/data/corpus_pubtator_pmids_trng.txt"),
            _medmentions("full/data/corpus_pubtator_pmids_dev.txt"),
            _medmentions("full/data/corpus_pubtator_pmids_test.txt"),
            _medmentions("st21pv/data/corpus_pubtator.txt.gz"),
        ),
        _zenodo(
            "medprocner", 8224056,
            "medprocner_gs_train+test+gazz+multilingual+crossmap_230808.zip",
        ),
        _open(
            "ncbi-disease",
            "public domain, as the work of a government",
            "https://www.ncbi.nlm.nih.gov/CBBresearch/Dogan/DISEASE/",
            # The checksums are published in the package nlstruct.
            Remote(
                (_NCBI.format("train"),),
                sha256="26157233d70aeda0b2ac1dda4fc9369b0717bd888f5afe511d0c1c6a5ad307a0",
            ),
            Remote(
                (_NCBI.format("develop"),),
                sha256="61681ad09356619c8f4f3e1738663dd007ad0135720fdc90195120fea944cbe9",
            ),
            Remote(
                (_NCBI.format("test"),),
                sha256="b978442f39c739deb6619c70e7b07327d9eb1b71aff64996c02a592435583f46",
            ),
        ),
        Source(
            "psytar", _CC_BY,
            "https://www.askapatient.com/research/pharmacovigilance/"
            "corpus-ades-psychiatric-medications.asp",
            how="its page has a form",
        ),
        _zenodo("symptemist", 10635215, "symptemist-complete_240208.zip"),
        Source(
            "umls",
            "UMLS Metathesaurus Licence: yours, and not to be passed on",
            "https://www.nlm.nih.gov/research/umls/licensedcontent/umlsknowledgesources.html",
            (Remote((_UMLS,)),),
            key="UMLS_API_KEY",
        ),
        _xlbel("xl-bel", "xlbel_v1.0", "_with_context"),
        _xlbel("xl-bel-v0", "xlbel_v0.0", ""),
    )
}  # fmt: skip

# Converters whose corpora share a download.
ALIASES = {
    "cadec-meddra": "cadec",
    "codiesp-d": "codiesp",
    "codiesp-x": "codiesp",
    "cometa-specific": "cometa",
    "medmentions-st21pv": "medmentions",
    "psytar-snomed": "psytar",
}


def find_source(name: str) -> Source:
    """Find the source of a corpus.

    RAISES (MedlinkError): E704 when there is none of the name.
    """
    name = ALIASES.get(name, name)
    if name not in SOURCES:
        raise Errors.unknown_corpus(name=name, known=", ".join(sorted({*SOURCES, *ALIASES})))
    return SOURCES[name]

"""A small corpus of each format, by the name of its converter."""

import tempfile
from pathlib import Path

from tests.training.corpora import (
    test_abstracts,
    test_askapatient,
    test_cadec,
    test_cases,
    test_coder,
    test_cometa,
    test_e3c,
    test_gsc_plus,
    test_mantra,
    test_mcn,
    test_medmentions,
    test_psytar,
)
from tests.training.corpora.workbook import write_workbook


def _book() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.xlsx"
        write_workbook(path, test_psytar.SHEETS)
        return path.read_bytes()


_ANN = (
    "T1\tMORFOLOGIA 0 5;6 10\tTumor óseo\n#1\tAnnotatorNotes T1\t8500/3\nN1\tReference T1 X:1\tx\n"
)
_TEMIST = "filename\tlabel\tspan_ini\tspan_end\ttext\tcode\nes-1\tS\t0\t6\tFiebre\t386661006+1\n"
_XLBEL = "C0010200||yskä||Kova <tgt>yskä</tgt> ja kuume.\nC1||x||\n"
_CONCEPT = "1||0|4||Disease||gout||D006073\n1||5|9||Disease||a|b||D1|D2\n"

SAMPLES: dict[str, dict[str, str | bytes]] = {
    "askapatient": dict(list(test_askapatient.FILES.items())[:3]),
    "bc5cdr": {"CDR_TestSet.PubTator.txt": test_abstracts.PUBTATOR},
    "bc5cdr ": {"CDR_TestSet.BioC.xml": test_abstracts.BIOC},
    "biosyn": {"processed_train/1.concept": _CONCEPT},
    "cadec": test_cadec.FILES,
    "cadec-meddra": test_cadec.FILES,
    "cantemist": {"train/a.txt": "Tumor\nóseo benigno.", "train/a.ann": _ANN},
    "coder-folds": test_coder.FILES,
    "codiesp-d": test_cases.CODIESP_FILES,
    "codiesp-x": test_cases.CODIESP_FILES,
    "cometa": test_cometa.FILES,
    "e3c": {"layer1/a.xml": test_e3c.xmi("en", "a")},
    "gsc-plus": {"GSCplus_dev_gold.tsv": test_gsc_plus.GOLD},
    "gsc-plus ": {
        "Text/1": "Short stature.",
        "Annotations/1": "[0::13]\tHP_0004322 | Short stature\n",
    },
    "gsc-2024": {
        "Text/1": "Short stature.",
        "Annotations/1": "[0:13]\tHP:0004322\tShort stature\n",
    },
    "mantra": {"Medline_GSC_fr_man.xml": test_mantra.XML},
    "mcn": test_mcn.FILES,
    "medmentions": test_medmentions.FILES,
    "medmentions ": {
        "corpus_pubtator.txt": test_medmentions.FULL,
        "corpus_pubtator_pmids_trng.txt": "1\n2\n",
    },
    "ncbi-disease": test_abstracts.NCBI_FILES,
    "psytar": {"book.xlsx": _book()},
    "psytar-snomed": test_psytar.tables(),
    "symptemist": {
        "symptemist_train/es-1.txt": "Fiebre alta.",
        "symptemist_train/symptemist_tsv_train_subtask2.tsv": _TEMIST,
    },
    "xl-bel": {"fi_1k_test_query.txt": "C0010200||yskä\nC1|C2||x\n"},
    "xl-bel-v1": {"fi_1k_test_query_with_context.txt": _XLBEL},
}

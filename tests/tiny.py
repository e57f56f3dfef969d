"""A dozen real concepts (Human Phenotype Ontology ids, UMLS codes) and a random encoder for them.

Among the names: a shared abbreviation (PE), several languages, an obsolete name, and letters
outside ASCII. HP:0005965 is an id that HPO has merged into HP:0005978.
"""

import string
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from spacy_medlink.types import Concept, Name, Record, Retired

if TYPE_CHECKING:
    from spacy_medlink.assets import Assets

DISEASE, FINDING, SYMPTOM = "T047", "T033", "T184"


def _concept(
    id: str,
    umls: str,
    type: str,
    definition: str,
    names: list[Name],
    parents: tuple[str, ...] = (),
    **codes: str,
) -> Concept:
    return Concept(
        id=id,
        name=names[0].text,
        names=tuple(names),
        types=(type,),
        definition=definition,
        codes={"UMLS": (umls,), **{vocabulary: (code,) for vocabulary, code in codes.items()}},
        parents=parents,
    )


def _english(*texts: str) -> list[Name]:
    return [Name(text, "en", "HPO", "PT" if n == 0 else "SY") for n, text in enumerate(texts)]


def _foreign(**names: str) -> list[Name]:
    return [Name(text, lang, "LOCAL", "SY") for lang, text in names.items()]


TINY_RECORDS: list[Record] = [
    _concept(
        "HP:0000819", "C0011849", DISEASE, "Too much glucose in the blood, for a long time.",
        [*_english("Diabetes mellitus", "DM", "sugar diabetes"), *_foreign(de="Zuckerkrankheit")],
    ),
    _concept(
        "HP:0005978", "C0011860", DISEASE, "Diabetes in which the body answers little to insulin.",
        [
            *_english("Type II diabetes mellitus", "Type 2 diabetes", "T2DM"),
            *_foreign(es="diabetes tipo 2", fr="diabète de type 2"),
            Name("NIDDM", "en", "HPO", "SY", obsolete=True),
        ],
        parents=("HP:0000819",), ICD10CM="E11",
    ),
    _concept(
        "HP:0100651", "C0011854", DISEASE, "Diabetes in which the body makes no insulin.",
        _english("Type I diabetes mellitus", "Type 1 diabetes", "juvenile diabetes"),
        parents=("HP:0000819",), ICD10CM="E10",
    ),
    _concept(
        "HP:0000822", "C0020538", DISEASE, "Blood pressure that stays too high.",
        [
            *_english("Hypertension", "High blood pressure", "Arterial hypertension", "HTN"),
            *_foreign(es="hipertensión", de="Bluthochdruck", fr="hypertension artérielle"),
        ],
        ICD10CM="I10",
    ),
    _concept(
        "HP:0001658", "C0027051", DISEASE, "Death of heart muscle for want of blood.",
        [
            *_english("Myocardial infarction", "Heart attack", "MI"),
            *_foreign(es="infarto de miocardio", de="Herzinfarkt"),
        ],
    ),
    _concept(
        "HP:0005110", "C0004238", DISEASE, "Rapid, uneven beating of the upper heart chambers.",
        [*_english("Atrial fibrillation", "AF"), *_foreign(de="Vorhofflimmern")],
        ICD10CM="I48.91",
    ),
    _concept(
        "HP:0002204", "C0034065", DISEASE, "A clot that blocks an artery of the lung.",
        _english("Pulmonary embolism", "lung embolism", "PE"),
    ),
    _concept(
        "HP:0001698", "C0031039", FINDING, "Fluid in the sac around the heart.",
        _english("Pericardial effusion", "fluid around the heart", "PE"),
    ),
    _concept(
        "HP:0002099", "C0004096", DISEASE, "Airways that narrow in attacks.",
        [*_english("Asthma", "Bronchial asthma"), *_foreign(es="asma", fr="asthme")],
    ),
    _concept(
        "HP:0002090", "C0032285", DISEASE, "Inflammation of the lung.",
        [*_english("Pneumonia"), *_foreign(es="neumonía", de="Lungenentzündung")],
    ),
    _concept(
        "HP:0001945", "C0015967", SYMPTOM, "Body temperature above normal.",
        [*_english("Fever", "Pyrexia"), *_foreign(es="fiebre", de="Fieber", fr="fièvre")],
    ),
    _concept(
        "HP:0002315", "C0018681", SYMPTOM, "Pain in the head.",
        [*_english("Headache", "Cephalalgia"), *_foreign(es="cefalea", de="Kopfschmerzen")],
    ),
    Retired("HP:0005965", "HP:0005978", "merged"),
]  # fmt: skip


def write_tiny_encoder(path: Path, seed: int = 0, cased: bool = False) -> Path:
    """Write a random one-layer BERT and its WordPiece tokenizer.

    cased (bool): let the tokenizer keep the letter case, and know capitals.
    RETURNS (Path): the directory, which transformers loads like any other.
    """
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    vocabulary = _vocabulary()
    if cased:
        capitals = string.ascii_uppercase
        vocabulary += [*capitals, *(f"##{letter}" for letter in capitals)]
    words = path / "vocab.txt"
    words.write_text("\n".join(vocabulary), encoding="utf8")
    tokenizer = BertTokenizerFast.from_pretrained(
        str(path), model_max_length=64, do_lower_case=not cased
    )
    tokenizer.save_pretrained(path)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = BertModel(config)
    model.eval().save_pretrained(path, safe_serialization=True)
    return path


def assets_of(
    path: Path,
    records: Iterable[Record],
    encoder: Path | None = None,
    weights: dict[str, float] | None = None,
) -> "Assets":
    """Build a knowledge base of some records, and assets of it, in a directory."""
    from spacy_medlink.assets import build_assets
    from spacy_medlink.kb import build_kb

    build_kb(path / "kb", iter(records))
    return build_assets(path / "assets", path / "kb", encoder, weights=weights)


def _vocabulary() -> list[str]:
    """Words of the names, their beginnings, and single characters."""
    concepts = [record for record in TINY_RECORDS if isinstance(record, Concept)]
    texts = [_plain(name.text) for concept in concepts for name in concept.names]
    words = sorted({word for text in texts for word in text.split()})
    stems = sorted({word[:4] for word in words if len(word) > 5})
    letters = sorted({*string.ascii_lowercase, *string.digits, *"-,.()/'", *"".join(words)})
    inside = [f"##{letter}" for letter in letters]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return list(dict.fromkeys([*special, *letters, *inside, *words, *stems]))


def _plain(text: str) -> str:
    """Lower the case and drop accents, as the tokenizer does before it looks words up."""
    parts = unicodedata.normalize("NFD", text.lower())
    return "".join(part for part in parts if not unicodedata.combining(part))

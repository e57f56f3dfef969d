"""A dozen real concepts (Human Phenotype Ontology ids, UMLS codes) and a random encoder for them.

Among the names: a shared abbreviation (PE), several languages, an obsolete name, and letters
outside ASCII. HP:0005965 is an id that HPO has merged into HP:0005978.
"""

import string
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy_medlink.types import Concept, Name, Record
from tests.golden import records_of

if TYPE_CHECKING:
    from spacy_medlink.assets import Assets
    from spacy_medlink.kb import KnowledgeBase

DISEASE, FINDING, SYMPTOM = "T047", "T033", "T184"
TINY_RECORDS: list[Record] = records_of(Path(__file__).with_suffix(".jsonl"))


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
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=64,
    )  # fmt: skip
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


def kb_of(path: Path, records: Iterable[Record], *facts: dict[str, Any]) -> "KnowledgeBase":
    """Build a knowledge base of some records, and open it."""
    from spacy_medlink.kb import KnowledgeBase, build_kb

    build_kb(path, iter(records), *facts)
    return KnowledgeBase(path)


def concept(
    id: str, *names: str | Name, lang: str = "en", source: str = "", **facts: Any
) -> Concept:
    """Make a concept of names, the first of which is the preferred one."""
    made = tuple(Name(name, lang, source) if isinstance(name, str) else name for name in names)
    return Concept(id, made[0].text if made else "", made, **facts)


def concepts_of(names: Iterable[str] | Mapping[str, str | list[str]]) -> list[Concept]:
    """Make concepts of names by their ids, or of single names, which are their ids too."""
    by_id = names if isinstance(names, Mapping) else {name: name for name in names}
    own = {id: [text] if isinstance(text, str) else text for id, text in by_id.items()}
    return [concept(id, *texts) for id, texts in own.items()]


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

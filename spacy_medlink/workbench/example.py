"""The files of the documentation: a small terminology, notes, annotated text, an encoder."""

import csv
import json
import re
import shutil
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers.implementations import BertWordPieceTokenizer

from ..assets.starter import KB_LINES
from ..errors import Errors
from ..kb.readers import read
from ..types import Concept, Data, Floats2d

FILES = (
    "my_terms.jsonl", "scispacy_kb.jsonl", "notes.jsonl", "notes.csv", "notes", "train.jsonl",
    "dev.jsonl", "my_model",
)  # fmt: skip
_NOTES = (
    "Longstanding type 2 diabetes and atrial fibrillation, now short of breath.",
    "The patient was started on metformin. No fever.",
    "Myocardial infarction in 2019; COPD, hypertension.",
)
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_DIM, _LENGTH = 64, 64


def write_example(directory: Path) -> None:
    """Write the files into a directory, all or none.

    RAISES (MedlinkError): E109 where one of them exists already, or they cannot be written.
    """
    for name in FILES:
        if (directory / name).exists():
            raise Errors.write_failed(path=directory / name, reason="it exists already")
    concepts = [record for record in read("jsonl", KB_LINES) if isinstance(record, Concept)]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _write_files(directory, concepts)
        write_encoder(directory / "my_model", concepts)
    except OSError as error:
        raise Errors.write_failed(path=directory, reason=error.strerror or error) from error


def _write_files(directory: Path, concepts: list[Concept]) -> None:
    shutil.copy(KB_LINES, directory / "my_terms.jsonl")
    _write_lines(directory / "scispacy_kb.jsonl", [_as_scispacy(concept) for concept in concepts])
    notes = [{"note_id": f"note-{n}", "text": text} for n, text in enumerate(_NOTES)]
    _write_lines(directory / "notes.jsonl", notes)
    with (directory / "notes.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("note_id", "note_text"), *(note.values() for note in notes)])
    (directory / "notes").mkdir()
    for note in notes:
        (directory / "notes" / f"{note['note_id']}.txt").write_text(note["text"], encoding="utf-8")
    for name, part in (("train.jsonl", concepts[::2]), ("dev.jsonl", concepts[1::2])):
        mentions = [(f"{concept.name} today", concept.id) for concept in part]
        _write_lines(directory / name, [{"mention": text, "ids": [id]} for text, id in mentions])


def _as_scispacy(concept: Concept) -> Data:
    aliases = [name.text for name in concept.names if name.lang == "en"]
    return {
        "concept_id": concept.id, "canonical_name": concept.name, "aliases": aliases[1:],
        "types": list(concept.types), "definition": concept.definition,
    }  # fmt: skip


def write_encoder(directory: Path, concepts: list[Concept]) -> None:
    """Write an encoder without layers that has learned from the names which pieces mean the same.

    It is latent semantic analysis (Deerwester et al. 1990) of a table that counts how often a piece
    of a word is in the names of a concept: good enough to try everything out, and for no more.
    """
    names = [[name.text for name in concept.names] for concept in concepts]
    texts = " ".join(text.lower() for own in names for text in own)
    words = sorted(set(re.findall(r"\w+", texts)))
    letters = sorted(set("".join(words)))
    pieces = [*_SPECIAL, *letters, *(f"##{letter}" for letter in letters), *words]
    vocabulary = {piece: row for row, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = BertWordPieceTokenizer(vocabulary, strip_accents=False)
    table = _piece_vectors(
        [[encoded.ids[1:-1] for encoded in tokenizer.encode_batch(own)] for own in names],
        tokenizer.get_vocab_size(),
    )
    directory.mkdir()
    tokenizer.save(str(directory / "tokenizer.json"))
    tokenizer.save_model(str(directory))
    config = {
        "architectures": ["BertModel"], "model_type": "bert", "vocab_size": len(table),
        "hidden_size": _DIM, "num_hidden_layers": 0, "num_attention_heads": 1,
        "intermediate_size": 1, "type_vocab_size": 1, "max_position_embeddings": _LENGTH,
        "layer_norm_eps": 1.0, "pad_token_id": 0,
    }  # fmt: skip
    settings = {"tokenizer_class": "BertTokenizerFast", "model_max_length": _LENGTH}
    for name, values in (("config.json", config), ("tokenizer_config.json", settings)):
        (directory / name).write_text(json.dumps(values, indent=1), encoding="utf-8")
    none = np.zeros((_LENGTH, _DIM), np.float32)
    weights = {
        "word_embeddings.weight": table, "position_embeddings.weight": none,
        "token_type_embeddings.weight": none[:1].copy(), "LayerNorm.weight": none[0] + 1,
        "LayerNorm.bias": none[1].copy(),
    }  # fmt: skip
    pooler = {"pooler.dense.weight": none.copy(), "pooler.dense.bias": none[2].copy()}
    embeddings = {f"embeddings.{name}": weight for name, weight in weights.items()}
    save_file({**embeddings, **pooler}, directory / "model.safetensors", {"format": "pt"})


def _piece_vectors(pieces: list[list[list[int]]], count: int) -> Floats2d:
    """Make the vectors of pieces.

    pieces (List[List[List[int]]]): of each name of each concept.
    RETURNS (Floats2d): a row for each of the `count` pieces, (count, _DIM).
    """
    counts = np.zeros((count, len(pieces)))
    for concept, names in enumerate(pieces):
        for ids in names:
            np.add.at(counts[:, concept], ids, 1 / len(names))
    spread = (counts > 0).sum(axis=1, keepdims=True)
    left, sizes, _ = np.linalg.svd(np.log1p(counts) / np.maximum(spread, 1), full_matrices=False)
    vectors: Floats2d = (left * sizes)[:, :_DIM].astype(np.float32)
    return vectors


def _write_lines(path: Path, values: list[Data]) -> None:
    text = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    path.write_text(text, encoding="utf-8")

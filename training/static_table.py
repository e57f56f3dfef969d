"""Write a static student as a table that model2vec and sentence-transformers load.

`python -m training.static_table models/student models/table`
"""

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from safetensors.numpy import save_file

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.directory import CONFIG, WEIGHTS, refused
from spacy_medlink.encoders.tables import MODULES
from spacy_medlink.types import Floats2d
from spacy_medlink.util.files import replacing_directory
from spacy_medlink.util.outputs import DirectoryKind

from .verbs import Overwrite, run_verb

_TABLE = DirectoryKind("a table of word pieces")
_TYPE = "sentence_transformers.models.{}"
_LEAST = 0.95  # cosine of a text by the table to that by the student
_PLACES = 6  # word pieces of a usual name


def table_of(encoder: BiEncoder) -> tuple[Floats2d, float]:
    """Make the vector of each word piece: (n_pieces, dim).

    Training may teach a student where in a text a piece stands; a table knows nothing of that, and
    gets the mean over the first places.

    RETURNS (Tuple[Floats2d, float]): the table, and the least cosine of what it says of a text to
        what the encoder says, over 100 texts of random pieces.
    RAISES (ValueError): for an encoder with layers, or whose vectors are not means of such vectors.
    """
    if not encoder.is_static or encoder.pooling != "mean" or encoder.preparation:
        raise ValueError("it has layers, another pooling than the mean, or changes texts first")
    ids = torch.arange(encoder.tokenizer.backend_tokenizer.get_vocab_size(), device=encoder.device)
    with torch.inference_mode():
        hidden = encoder.module(input_ids=ids[:, None].expand(-1, 1 + _PLACES)).last_hidden_state
    table: Floats2d = hidden[:, 1:].mean(dim=1).float().cpu().numpy()  # behind [CLS]
    generator = np.random.default_rng(0)
    words = np.setdiff1d(ids.cpu().numpy(), encoder.special.cpu().numpy())
    pieces = [generator.choice(words, _PLACES).tolist() for _ in range(100)]
    means = np.stack([table[row].mean(axis=0) for row in pieces])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    there = encoder.run_batches(encoder.module, pieces, 512)
    least = float((means * there).sum(axis=1).min())
    if least < _LEAST:
        raise ValueError(f"it heeds where a word piece stands: the least cosine is {least:.3f}")
    return table, least


def main(
    student: Annotated[Path, typer.Argument(help="Directory of a static encoder.")],
    output: Annotated[Path, typer.Argument(help="Directory for the table.")],
    overwrite: Overwrite = False,
) -> None:
    """Write table, tokenizer and config, as model2vec saves them.

    RAISES (MedlinkError): E205, E206 for the student, E120-E123 for what is at `output`.
    """
    encoder = BiEncoder.load(student)
    try:
        table, least = table_of(encoder)
    except ValueError as error:
        raise refused(student, str(error)) from error
    config = {
        "model_type": "model2vec", "architectures": ["StaticModel"], "normalize": True,
        "hidden_dim": table.shape[1], "max_length": encoder.max_length,
    }  # fmt: skip
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": _TYPE.format("StaticEmbedding")},
        {"idx": 1, "name": "1", "path": "1_Normalize", "type": _TYPE.format("Normalize")},
    ]
    with replacing_directory(output, _TABLE, [student], overwrite=overwrite) as path:
        save_file({"embeddings": table}, path / WEIGHTS)
        encoder.tokenizer.backend_tokenizer.save(str(path / "tokenizer.json"))
        (path / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        (path / MODULES).write_text(json.dumps(modules, indent=2) + "\n", encoding="utf-8")
    typer.echo(f"{output}: {len(table):,} word pieces, least cosine to the student {least:.3f}")


if __name__ == "__main__":
    run_verb(main)

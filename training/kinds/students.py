"""Students: smaller encoders that learn from a teacher."""

import copy
from collections.abc import Sequence
from itertools import chain

import numpy as np

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.cross_encoder import keep_layers
from spacy_medlink.encoders.tables import bert_without_layers
from spacy_medlink.util.devices import batch_pieces

STATIC = "static"
_SIF = 1e-3  # Arora et al. 2017, "A simple but tough-to-beat baseline for sentence embeddings"
# A layer norm that adds 1 to a variance of at most 1 / dim is nearly linear: lengths matter.
_EPSILON = 1.0


def make_student(teacher: BiEncoder, student: str, texts: Sequence[str]) -> BiEncoder:
    """Make the student, on the device of its teacher.

    student (str): a number of the teacher's layers, or "static".
    texts (Sequence[str]): say how frequent word pieces are.
    RAISES (MedlinkError): E302 for layers that the teacher has not.
    """
    if student == STATIC:
        return static_of(teacher, texts)
    module = copy.deepcopy(teacher.module)
    keep_layers(module, int(student))
    return teacher.over(module)


def static_of(teacher: BiEncoder, texts: Sequence[str]) -> BiEncoder:
    """Make a student without layers: a table of word pieces, whose vectors are averaged.

    As in model2vec (Tulkens and van Dongen 2024): the teacher encodes each piece alone, the mean
    of all is subtracted, frequent pieces get less weight. The student is a BERT without layers,
    so that any code for a BERT runs it.

    texts (Sequence[str]): say how frequent pieces are.
    """
    tokenizer = teacher.tokenizer
    count = max(tokenizer.get_vocab().values()) + 1
    *before, last = teacher.tokenize([""])[0]
    pieces = [[*before, piece, last] for piece in range(count)]
    size = batch_pieces(teacher.device, teacher.dim)
    vectors = teacher.run_batches(teacher.inference_module(), pieces, size)
    used = np.fromiter(chain.from_iterable(teacher.tokenize(texts)), dtype=np.int64)
    seen = np.bincount(used, minlength=count)[:count]
    weights = _SIF / (_SIF + seen / max(1, seen.sum()))
    table = (vectors - vectors.mean(axis=0)) * weights[:, None]
    pad_id = tokenizer.pad_token_id or 0
    module = bert_without_layers(table, teacher.max_length, _EPSILON, pad_id)
    return BiEncoder(tokenizer, module, "mean", teacher.max_length, teacher.preparation)

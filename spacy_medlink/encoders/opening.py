"""Opens the encoder of assets, to encode with torch."""

from pathlib import Path

import torch

from ..errors import Errors
from ..util import devices
from .bi_encoder import BiEncoder


def open_to_encode(directory: Path, device: torch.device = devices.CPU) -> tuple[BiEncoder, str]:
    """Open an encoder that `BiEncoder.save` wrote, to encode only.

    device (torch.device): where it encodes.
    RETURNS (Tuple[BiEncoder, str]): in the precision that encodes fastest, and its fingerprint.
    RAISES (MedlinkError): E205 no such directory, E206 files that cannot be read.
    """
    try:
        encoder = BiEncoder.load(directory, device=device, stays=True)
        fingerprint = encoder.fingerprint()
        encoder.move(device).halve()
    except OSError as error:
        raise Errors.encoder_damaged(path=directory, reason=error) from error
    # The name of the vectors of word pieces: the first one there is.
    names = (name for name, _ in encoder.module.named_parameters() if "embeddings" in name)
    rows = encoder.module.get_parameter(next(names)).shape[0]
    highest = max(encoder.tokenizer.get_vocab().values(), default=-1)
    problem = ""
    if not 0 <= highest < rows:
        problem = f"the tokenizer has the word piece {highest}, the model {rows} of them"
    elif encoder.max_length < 2:
        problem = f"texts would have {encoder.max_length} word pieces"
    if problem:
        raise Errors.encoder_damaged(path=directory, reason=problem)
    return encoder, fingerprint

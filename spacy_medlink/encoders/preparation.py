"""The preparation of texts for an encoder: letter case, Unicode normalisation, and a prefix."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from ..errors import Errors

MEAN, MEAN_ALL, CLS, POOLER = "mean", "mean_all", "cls", "pooler"
POOLINGS = (POOLER, MEAN_ALL, MEAN, CLS)
POOLING_RULE = f"must be one of {', '.join(map(repr, POOLINGS))}"
NORMALISATIONS = ("", "NFC", "NFKC")


@dataclass(frozen=True)
class Preparation:
    """The changes to a text before it is cut into word pieces.

    It is saved with the encoder and applied wherever the encoder encodes, so that training and
    linking cannot differ.

    lower_case (bool): lower-case the text; matters for models whose tokenizer keeps the case.
    normalisation (str): Unicode normalisation form, one of "", "NFC" and "NFKC".
    prefix (str): put before every text, such as "query: " for models of the E5 family.
    RAISES (MedlinkError): E302 for an unknown normalisation.
    """

    lower_case: bool = False
    normalisation: str = ""
    prefix: str = ""

    def __post_init__(self) -> None:
        self.prefix.encode()  # half a character is no text
        if self.normalisation not in NORMALISATIONS:
            rule = f"must be one of {', '.join(map(repr, NORMALISATIONS))}"
            raise Errors.bad_setting(name="normalisation", value=self.normalisation, rule=rule)

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """Prepare texts: as many, in the same order."""
        return [self._prepared(text) for text in texts] if self else list(texts)

    def __bool__(self) -> bool:
        """Tell whether anything is done at all."""
        return bool(self.lower_case or self.normalisation or self.prefix)

    def _prepared(self, text: str) -> str:
        if self.normalisation:
            text = unicodedata.normalize(self.normalisation, text)  # type: ignore[arg-type]  # checked above
        return self.prefix + (text.lower() if self.lower_case else text)

    def without_prefix(self) -> "Preparation":
        """Leave out the prefix, for texts that are only a part of what is encoded."""
        return replace(self, prefix="")

    def as_settings(self) -> dict[str, object]:
        """List the settings that differ from the defaults, as saved beside the weights."""
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> "Preparation":
        """Read saved settings; those that are not there have their defaults.

        RAISES (MedlinkError): E302 for an unknown normalisation.
        """
        return cls(
            lower_case=bool(settings.get("lower_case", False)),
            normalisation=str(settings.get("normalisation", "")),
            prefix=str(settings.get("prefix", "")),
        )


AS_IT_IS = Preparation()
"""Texts are encoded as they are."""

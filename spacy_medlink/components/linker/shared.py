"""SharedTransformer: a linker's use of the transformer of its pipeline."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .settings import LinkerSettings

if TYPE_CHECKING:  # spaCy imports this module with every `spacy.blank`
    from spacy.language import Language
    from spacy.tokens import Doc, Span

    from ...assets import Assets
    from ...encoders.bi_encoder import BiEncoder

Home = Callable[[], "Language | None"]


class SharedTransformer:
    """The transformer of a pipeline, which a linker's encoder may share.

    name (str): of the component. settings (LinkerSettings): name the encoder.
    home (Callable): returns the pipeline, where it is known.
    """

    def __init__(self, name: str, settings: LinkerSettings, home: Home) -> None:
        self.name, self.settings, self.home = name, settings, home
        self._mark: Any = None  # mark of the weights at the last check
        self._has_checked = False  # whether these weights have read the documents

    @property
    def is_used(self) -> bool:
        """Whether the encoder shares the transformer."""
        model = self.settings.model
        return model is not None and bool(model.attrs.get("shared"))

    def encoder(self, saved: "Assets | None") -> "BiEncoder":
        """Get the encoder over the current weights of the transformer.

        saved (Optional[Assets]): assets that were saved with the component.
        RAISES (MedlinkError): E225 when there is no transformer.
        """
        from ...assets.manifest import ENCODER
        from .. import shared_network

        model = self._model
        if saved is not None and model.shims[0].projection is None:
            with saved.directory(ENCODER) as path:
                shared_network.load_saved(model, path)
        nlp = self.home()
        pipes = None if nlp is None else [pipe for _, pipe in nlp.components]
        return shared_network.connect(model, pipes, self.name)

    def has_moved(self, encoder: "BiEncoder") -> bool:
        """Tell whether the weights have changed since the last call."""
        from ..shared_network import mark_of

        mark = mark_of(encoder)
        if mark == self._mark:
            return False
        encoder.refresh()
        self._mark, self._has_checked = mark, False
        return True

    def vectors(self, doc: "Doc", spans: "Sequence[Span]") -> list[bytes]:
        """Make the vectors of spans in the context of their Doc; b"" where nothing was read.

        RAISES (MedlinkError): E227 when another transformer has read the Doc, E208 for numbers that
            are not finite.
        """
        from .. import shared_network

        model = self._model
        self._has_checked = self._has_checked or shared_network.check_reader(model, doc, self.name)
        return shared_network.vectors_in_context(model, doc, spans)

    @property
    def _model(self) -> Any:
        return self.settings.model

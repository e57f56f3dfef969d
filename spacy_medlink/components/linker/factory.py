"""The factory `medical_linker`."""

from spacy.language import Language

from ...types import Data
from ...util.setting_types import factory_of
from ..extensions import SPAN_ATTRIBUTES
from ..names import LINKER
from .component import MedicalLinker
from .scoring import SCORES
from .settings import DEFAULT_CONFIG, LinkerSettings


def _make(nlp: Language, name: str, settings: Data) -> MedicalLinker:
    """Make a `medical_linker`; see LinkerSettings for the settings.

    RAISES (MedlinkError): E302 for settings out of range, E308 for a prefix that another
        linker of the pipeline has.
    """
    linker = MedicalLinker(nlp.vocab, name, **settings)
    linker.check_prefix(nlp)
    linker.set_home(nlp)
    return linker


make_medical_linker = Language.factory(
    LINKER,
    func=factory_of(LinkerSettings, _make),
    assigns=["doc.ents", "token.ent_kb_id"] + [f"span._.{name}" for name in SPAN_ATTRIBUTES],
    requires=["doc.ents"],
    default_config=DEFAULT_CONFIG,
    default_score_weights={"acc@1": 1.0, **dict.fromkeys(SCORES[1:], 0.0)},
)

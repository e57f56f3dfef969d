from .annotate import Annotation as Annotation
from .annotate import annotate_file as annotate_file
from .annotate.linked_text import LinkedText as LinkedText
from .annotate.linked_text import Linker as Linker
from .annotate.linked_text import link as link
from .assets import Assets as Assets
from .assets import build_assets as build_assets
from .components.linker import MedicalLinker as MedicalLinker
from .components.mentions import MedicalMentions as MedicalMentions
from .components.pipelines import open_pipeline as open_pipeline
from .errors import MedlinkError as MedlinkError
from .kb import KnowledgeBase as KnowledgeBase
from .kb import KnowledgeBaseBuilder as KnowledgeBaseBuilder
from .kb import build_knowledge_base as build_knowledge_base
from .kb.gold import GoldDocument as GoldDocument
from .kb.gold import GoldMention as GoldMention
from .kb.gold import read_gold as read_gold
from .types import Candidate as Candidate
from .types import CodeMap as CodeMap
from .types import Concept as Concept
from .types import Mention as Mention
from .types import Name as Name
from .types import Relation as Relation
from .types import Retired as Retired

__version__: str

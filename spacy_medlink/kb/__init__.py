"""The knowledge base: concepts and their names in one SQLite file."""

from .builder import KnowledgeBaseBuilder, build_kb
from .from_sources import build_knowledge_base
from .knowledge_base import KnowledgeBase
from .writer import BuildReport

__all__ = [
    "BuildReport",
    "KnowledgeBase",
    "KnowledgeBaseBuilder",
    "build_kb",
    "build_knowledge_base",
]

"""Link medical mentions in text to concepts of a terminology, as a spaCy component.

What is listed here is the public API (docs/api.md). It is imported when it is asked for: spaCy
imports this package with every `spacy.blank`, which must not cost anything. The attributes of spans
are registered as soon as spaCy is imported, so that stored Docs can be read.
"""

from importlib import import_module

from .util.after_import import call_after_import, names_from

__version__ = "0.1.0"

_WHERE = {
    "Annotation": "annotate.run",
    "Assets": "assets",
    "Candidate": "types",
    "CodeMap": "types",
    "Concept": "types",
    "GoldDocument": "kb.gold",
    "GoldMention": "kb.gold",
    "KnowledgeBase": "kb",
    "KnowledgeBaseBuilder": "kb",
    "LinkedText": "annotate.linked_text",
    "MedicalLinker": "components.linker",
    "MedicalMentions": "components.mentions",
    "MedlinkError": "errors",
    "Mention": "types",
    "Name": "types",
    "Relation": "types",
    "Retired": "types",
    "TextLinker": "annotate.linked_text",
    "annotate_file": "annotate.run",
    "build_assets": "assets",
    "build_knowledge_base": "kb",
    "evaluate": "annotate.evaluate",
    "learn": "assets.learn",
    "link": "annotate.linked_text",
    "map_terms": "workbench.mapping.run",
    "open_pipeline": "components.pipelines",
    "read_gold": "kb.gold",
    "use_tokenizer": "components.tokenizer",
}
__all__ = [*_WHERE]


_EXTENSIONS = f"{__name__}.components.extensions"
call_after_import("spacy.tokens", lambda: import_module(_EXTENSIONS).register_free())


__getattr__ = names_from(__name__, **_WHERE)


def __dir__() -> list[str]:
    return [*_WHERE, *(name for name in globals() if name.startswith("__"))]

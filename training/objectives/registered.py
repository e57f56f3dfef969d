"""The losses that a recipe can name, with their needs: names, mentions, or a teacher."""

from spacy_medlink.encoders.objectives.batch import LOSSES
from spacy_medlink.encoders.objectives.protocol import Choice

from .marginal import MarginalObjective
from .memory import MemoryObjective
from .mention_memory import MentionMemoryObjective
from .teacher import TeacherObjective

OF_NAMES = {**LOSSES, "all_names": Choice(MemoryObjective, {"temperature": 0.05}, "memory")}

OF_MENTIONS = {
    **LOSSES,
    "all_names": Choice(MentionMemoryObjective, {"temperature": 0.05, "renewal": 0.5}, "memory"),
    # The defaults of dense share and candidates are the paper's.
    "marginal": Choice(
        MarginalObjective,
        {"candidates": 20, "dense_ratio": 0.5, "temperature": 0.05, "sparse_weight": 0.0},
        "candidates",
    ),
}

OF_TEACHER = {
    "teacher": Choice(
        TeacherObjective, {"vector_weight": 1.0, "ranking_weight": 1.0, "temperature": 0.05}
    ),
}

"""The objective and the sampler of a recipe."""

from collections.abc import Callable
from typing import NamedTuple

import torch

from spacy_medlink.encoders.objectives.protocol import Needs, Objective
from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Floats2d

from .data.group_sampler import GroupSampler
from .data.language_sampler import LanguageSampler
from .data.material import Material
from .data.pairs import Pairs
from .data.relations import Relations, RelationSampler
from .data.sampler import NameSampler, PairSampler, Sampler, SequenceSampler
from .objectives.joint import JointObjective, Part
from .objectives.mined_memory import MinedMemoryObjective
from .objectives.name_memory import NameMemory
from .objectives.registered import OF_NAMES
from .objectives.transe import TransE
from .objectives.typing_head import TypeHead, concept_types
from .recipe.settings import Recipe

Vectors = Callable[[], Floats2d]


def make_relations(recipe: Recipe, kb: KnowledgeBase, material: Material) -> Relations | None:
    """Make the drawer of triples for each batch, if the recipe gives relations a weight.

    RAISES (MedlinkError): E519 no relations in the knowledge base.
    """
    own = recipe.relations
    if not own.weight:
        return None
    each = 1 if own.triples else max(1, recipe.sampler.names_per_concept)
    batch_names = 2 * recipe.sampler.batch_pairs
    return Relations(kb, material.kb_names, own.triples, recipe.training.seed, each, batch_names)


def make_objective(
    recipe: Recipe,
    kb: KnowledgeBase,
    material: Material,
    relations: Relations | None,
    vectors: Vectors,
    dim: int,
    device: torch.device,
) -> Objective:
    """Make the main loss, and add the other ones.

    vectors (Callable): gives the base's vectors of all names, for a loss over all names.
    dim (int): of the vectors. RAISES (MedlinkError): E520 no types in the knowledge base.
    """
    main = _way(recipe).objective(recipe, material, vectors, device)
    seed = recipe.training.seed
    parts: list[tuple[str, float, Part]] = []
    if relations is not None:
        own = recipe.relations
        part = TransE(relations.draw, 2 * len(relations.kinds), dim, own.margin, seed, device)
        parts.append(("relations", own.weight, part))
    if recipe.types.weight:
        types = concept_types(kb)
        if int(types.max()) < 1:
            raise Errors.no_types(path=kb.path)
        parts.append(("types", recipe.types.weight, TypeHead(types, dim, seed, device)))
    return JointObjective(main, parts) if parts else main


def _in_batch(recipe: Recipe, *others: object) -> Objective:
    return recipe.objective.in_batch().make()


def _with_neighbours(
    recipe: Recipe, material: Material, vectors: Vectors, device: torch.device
) -> Objective:
    own = recipe.objective
    memory = NameMemory(material.names, vectors(), device)
    return MinedMemoryObjective(*own.in_batch().parts(), memory, own.neighbours)


def _with_memory(
    recipe: Recipe, material: Material, vectors: Vectors, device: torch.device
) -> Objective:
    own = recipe.objective
    objective: Objective = OF_NAMES[own.loss].with_settings(
        own.loss_settings, material.names, vectors(), device
    )
    return objective


def make_sampler(
    recipe: Recipe, material: Material, relations: Relations | None
) -> tuple[Sampler, int | None]:
    """Make the sampler, which chooses the names of each batch.

    RETURNS (Tuple[Sampler, Optional[int]]): and the number of batches to train on, if stages have
        their own epochs.
    """
    pairs = material.pairs if recipe.bitext.order == "mixed" else material.synonyms
    batches = None
    if relations is not None and not recipe.relations.triples:
        sampler: Sampler = RelationSampler(None, relations)
    else:
        sampler = _way(recipe).sampler(recipe, material, pairs)
    if recipe.bitext.order == "after":
        own = recipe.bitext
        second = PairSampler(material.translations, own.batch_pairs, recipe.training.seed)
        first = round(recipe.training.epochs * sampler.steps_per_epoch)
        batches = first + round(own.epochs * second.steps_per_epoch)
        sampler = SequenceSampler([(sampler, first), (second, batches - first)])
    if relations is not None:
        sampler = RelationSampler(sampler, relations)
    return sampler, batches


def _of_names(recipe: Recipe, material: Material, pairs: Pairs) -> Sampler:
    return NameSampler(material.names, 2 * recipe.sampler.batch_pairs, recipe.training.seed)


def _of_synonyms(recipe: Recipe, material: Material, pairs: Pairs) -> Sampler:
    own, seed = recipe.sampler, recipe.training.seed
    size = own.batch_pairs
    if own.names_per_concept:
        names = material.names if recipe.bitext.order == "mixed" else material.kb_names
        most = recipe.data.pairs_per_concept
        return GroupSampler(names, own.names_per_concept, 2 * size, most, seed)
    if own.balance_languages:
        return LanguageSampler(pairs, material.languages, size, seed)
    return PairSampler(pairs, size, seed)


class _Way(NamedTuple):
    objective: Callable[[Recipe, Material, Vectors, torch.device], Objective]
    sampler: Callable[[Recipe, Material, Pairs], Sampler]


_WAYS: dict[Needs, _Way] = {
    "pairs": _Way(_in_batch, _of_synonyms),
    "neighbours": _Way(_with_neighbours, _of_synonyms),
    "memory": _Way(_with_memory, _of_names),
}


def _way(recipe: Recipe) -> _Way:
    return _WAYS[recipe.objective.needs(OF_NAMES)]

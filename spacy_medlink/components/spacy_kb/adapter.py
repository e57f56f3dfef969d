"""MedlinkKB: a knowledge base in the shape that spaCy's own `entity_linker` works with."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly
from spacy.kb import Candidate
from spacy.kb import KnowledgeBase as SpacyKB
from spacy.tokens import Span
from spacy.util import SimpleFrozenList
from spacy.vocab import Vocab

from ...errors import Errors
from ...retrieval.exact import SAME_KEY, SAME_STRING
from ...text.normalisation import is_short_form, key
from ...types import Concept
from ...util.files import OwnedDirectory, recover, replacing_directory
from ...util.held import HeldFile
from ...util.outputs import DirectoryKind, read_json
from .vectors import EntityVectors, IndexVectors, NameProjections

if TYPE_CHECKING:  # sqlite is loaded when a knowledge base is opened, faiss when an index is
    from ...kb import KnowledgeBase

_KB, _INDEX, _SETTINGS = "kb.sqlite", "dense.faiss", "settings.json"
WIDTH = 64


def _files_of(path: Path) -> list[str] | None:
    settings = read_json(path / _SETTINGS)
    if not isinstance(settings, dict) or settings.keys() != {"width", "files"}:
        return None
    return [*settings["files"], _SETTINGS]


_SAVED = DirectoryKind("a saved MedlinkKB", _files_of)
_LARGEST = 1 << 30  # bytes


class MedlinkKB(SpacyKB):  # type: ignore[misc]  # spaCy's class is Cython, without types
    """A terminology as spaCy's knowledge base, read from disk.

    Candidates are the concepts that have a name with the mention's key (`text.key`), as in the
    exact tier. Their prior probabilities are equal, with a small lead for the identical string,
    since a terminology has no counts of texts. Concept vectors are those of the preferred names,
    from the dense index of assets; without an index, `NameProjections`.

    vocab (Vocab): the pipeline's. entity_vector_length (int): length of the vectors, without an
        index.
    """

    def __init__(self, vocab: Vocab, entity_vector_length: int = WIDTH) -> None:
        super().__init__(vocab, entity_vector_length)
        self.kb: KnowledgeBase | None = None
        self.max_bytes_size = _LARGEST
        self._vectors: EntityVectors = NameProjections(entity_vector_length)
        self._index: HeldFile | None = None
        self._keep_alive: object = None

    def open(self, path: str | Path) -> "MedlinkKB":
        """Open a knowledge base, or the knowledge base of assets with its vectors.

        path (Path): a file that `medlink kb build` wrote, or a directory of `medlink build`.
        RAISES (MedlinkError): E101-E103 for the knowledge base, E201-E204 for the assets.
        """
        if not Path(path).is_dir():
            from ...kb import KnowledgeBase

            return self._take(KnowledgeBase(path), None)
        from ...assets import Assets
        from ...assets.layout import DENSE_FILE

        assets = Assets(path)
        index = assets.file(DENSE_FILE) if "dense" in assets.tiers else None
        return self._take(assets.kb, index)

    def is_empty(self) -> bool:
        """Tell whether nothing was opened yet."""
        return self.kb is None

    def get_candidates(self, mention: Span) -> list[Candidate]:
        """List the concepts that have the mention's text as a name, by row."""
        return self._candidates(mention.text)

    def get_candidates_batch(self, mentions: Iterable[Span]) -> list[list[Candidate]]:
        """List the candidates of each mention; equal texts are looked up once."""
        texts = [mention.text for mention in mentions]
        found = {text: self._candidates(text) for text in dict.fromkeys(texts)}
        return [found[text] for text in texts]

    def get_vector(self, entity: str) -> list[float]:
        """Get a concept's vector; zeros for an unknown id, as in spaCy's own knowledge base."""
        id = self.kb.resolve(entity) if self.kb is not None else None
        if self.kb is None or id is None:
            return [0.0] * self.entity_vector_length
        return self._vector(self.kb[id])

    def to_disk(self, path: str | Path, exclude: Iterable[str] = SimpleFrozenList()) -> None:
        """Save into a directory; files are hard-linked where possible.

        RAISES (MedlinkError): E109 when it cannot be written, E120-E123 where something else is.
        """
        with replacing_directory(Path(path), _SAVED) as temporary:
            for name, file in self._files().items():
                file.put(temporary / name)
            srsly.write_json(temporary / _SETTINGS, self._settings())

    def from_disk(
        self, path: str | Path, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "MedlinkKB":
        """Load from a directory; the files are used where they are.

        RAISES (MedlinkError): E101-E103 and E202 when they are not whole.
        """
        directory = Path(path)
        recover(directory)
        settings = srsly.read_json(directory / _SETTINGS)
        return self._restore(settings, {name: directory / name for name in settings["files"]})

    def to_bytes(self, **kwargs: Any) -> bytes:
        """Save as bytes.

        RAISES (MedlinkError): E303 when the files are larger than `max_bytes_size`.
        """
        files = self._files()
        size = sum(file.size for file in files.values())
        if size > self.max_bytes_size:
            raise Errors.too_big_for_bytes(size=size >> 20, limit=self.max_bytes_size >> 20)
        contents = {name: file.read() for name, file in files.items()}
        data: bytes = srsly.msgpack_dumps({"settings": self._settings(), "files": contents})
        return data

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "MedlinkKB":
        """Load from bytes: the files go to a temporary directory that lives as long as they do."""
        data = srsly.msgpack_loads(bytes_data)
        directory = OwnedDirectory("spacy-medlink-")
        files = {name: directory.path / name for name in (_KB, _INDEX)}
        for name, content in data["files"].items():
            files[name].write_bytes(content)
        self._restore(data["settings"], {name: files[name] for name in data["files"]})
        self._keep_alive = directory
        return self

    def __reduce__(self) -> tuple[Callable[..., "MedlinkKB"], tuple[Any, ...]]:
        # By path if the files last; files that came as bytes are sent as bytes.
        lasts = self._keep_alive is None
        content = (self.kb, self._index and self._index.path) if lasts else self.to_bytes()
        return _rebuild, (self.vocab, self._settings(), content)

    def _take(self, kb: "KnowledgeBase", index: HeldFile | None) -> "MedlinkKB":
        self.kb, self._index = kb, index
        if index is not None:
            from ...retrieval.dense import DenseIndex

            loaded = DenseIndex.load(index)
            if len(loaded) != kb.n_names:
                problem = f"{index.path.name} is not of these {kb.n_names} names"
                raise Errors.assets_mismatch(path=index.path.parent, problem=problem)
            self._vectors = IndexVectors(loaded)
            SpacyKB.__init__(self, self.vocab, self._vectors.width)  # the only way to set the width
        return self

    def _restore(self, settings: dict[str, Any], files: dict[str, Path]) -> "MedlinkKB":
        self._keep_alive = None
        self._vectors = NameProjections(settings["width"])
        SpacyKB.__init__(self, self.vocab, settings["width"])
        if _KB not in files:
            return self
        from ...kb import KnowledgeBase

        index = files.get(_INDEX)
        return self._take(KnowledgeBase(files[_KB]), None if index is None else _held(index))

    def _files(self) -> dict[str, HeldFile]:
        files = {_KB: self.kb.file if self.kb is not None else None, _INDEX: self._index}
        return {name: file for name, file in files.items() if file is not None}

    def _settings(self) -> dict[str, Any]:
        return {"width": self.entity_vector_length, "files": sorted(self._files())}

    def _candidates(self, text: str) -> list[Candidate]:
        if self.kb is None or not text.strip():
            return []
        found = [(concept, _score(concept, text)) for concept in self.kb.find(text)]
        found = [(concept, score) for concept, score in found if score]
        total = sum(score for _, score in found)
        alias = self.vocab.strings.add(text)
        return [
            Candidate(
                self,
                entity_hash=self.vocab.strings.add(concept.id),
                entity_freq=0.0,
                entity_vector=self._vector(concept),
                alias_hash=alias,
                prior_prob=score / total,
            )
            for concept, score in found
        ]

    def _vector(self, concept: Concept) -> list[float]:
        vector: list[float] = self._vectors.of(
            concept.id, concept.name, concept.first_name
        ).tolist()
        return vector


def _score(concept: Concept, text: str) -> float:
    """Score a concept's best name as the exact tier does; 0 when case excludes all names."""
    wanted = key(text)
    same_key = [name.text for name in concept.names if key(name.text) == wanted]
    if text in same_key:
        return SAME_STRING
    return SAME_KEY if any(not is_short_form(name) for name in same_key) else 0.0


def _held(path: Path) -> HeldFile:
    try:
        return HeldFile(path)
    except OSError as error:
        problem = f"{path.name}: {error.strerror}"
        raise Errors.assets_incomplete(path=path.parent, problem=problem) from error


def _rebuild(
    vocab: Vocab,
    settings: dict[str, Any],
    content: "tuple[KnowledgeBase | None, Path | None] | bytes",
) -> MedlinkKB:
    made = MedlinkKB(vocab, settings["width"])
    if isinstance(content, bytes):
        return made.from_bytes(content)
    kb, index = content
    if kb is None:
        return made
    return made._take(kb, None if index is None else _held(index))

"""The time that linking adds where the linker shares the pipeline's transformer.

`python -m benchmarks.shared_transformer TRANSFORMER KB GOLD` runs `transformer -> ner` on the
documents of a gold file, and sets the gold mentions as entities. They are linked by a linker on
that transformer, and by a linker with the same network as a separate encoder. Times are CPU times
with one thread, the least of three runs, since others may use the machine.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import spacy
import torch
import typer
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_medlink.building import build_assets
from spacy_medlink.components.examples import gold_reader

_RUNS = 3
_MS = 1000


def pipeline(transformer: Path) -> Language:
    """Make `transformer -> ner` with an untrained NER."""
    nlp = spacy.blank("en")
    spans = {"@span_getters": "spacy-transformers.strided_spans.v1", "window": 128, "stride": 96}
    network = {
        "@architectures": "spacy-transformers.TransformerModel.v3", "name": str(transformer),
        "tokenizer_config": {"use_fast": True}, "get_spans": spans,
    }  # fmt: skip
    parser = {
        "@architectures": "spacy.TransitionBasedParser.v2", "state_type": "ner",
        "extra_state_tokens": False, "hidden_width": 64, "maxout_pieces": 2, "use_upper": False,
        "tok2vec": _listener("reduce_mean.v1"),
    }  # fmt: skip
    nlp.add_pipe("transformer", config={"model": network})
    ner: Any = nlp.add_pipe("ner", config={"model": parser})
    ner.add_label("DISEASE")
    doc = nlp.make_doc("fever")
    nlp.initialize(lambda: [Example(doc, doc.copy())])
    return nlp


def measure(transformer: Path, kb: Path, gold: Path, docs: int) -> dict[str, float]:
    """Measure milliseconds of CPU time per document, and mentions per document."""
    torch.set_num_threads(1)
    nlp = pipeline(transformer)
    examples = list(gold_reader(str(gold))(nlp))[:docs]
    texts = [example.text for example in examples]
    found = {"mentions": sum(len(one.reference.ents) for one in examples) / len(examples)}
    found["transformer -> ner"] = _least(lambda: list(nlp.pipe(texts)), len(texts))
    read = list(nlp.pipe(texts))
    for doc, example in zip(read, examples, strict=True):
        ents = example.reference.ents  # of the same tokens
        doc.set_ents([Span(doc, ent.start, ent.end, label=ent.label) for ent in ents])
    with TemporaryDirectory() as directory:
        assets = build_assets(Path(directory) / "assets", kb)
        shared = {
            "@architectures": "spacy-medlink.SharedBiEncoder.v1",
            "tok2vec": _listener("reduce_sum.v1"),
        }
        config = {"assets": str(assets.path), "model": shared, "threshold": 0.0}
        linker: Any = nlp.add_pipe("medical_linker", config=config)
        linker.initialize(list, nlp=nlp)
        found["shared"] = _linked(linker, read)
        # The assets made by this linker have the same network, and its vectors of the names.
        config = {"assets": str(linker.assets.path), "threshold": 0.0}
        own: Any = spacy.blank("en").add_pipe("medical_linker", config=config)
        found["separate"] = _linked(own, read)
    return found


def _listener(pooling: str) -> dict[str, Any]:
    return {
        "@architectures": "spacy-transformers.TransformerListener.v1", "grad_factor": 1.0,
        "pooling": {"@layers": pooling},
    }  # fmt: skip


def _linked(linker: Any, docs: Sequence[Doc]) -> float:
    """Measure one linker, with empty caches at the start of each run."""

    def link() -> None:
        linker.engine.retrieval.clear()
        list(linker.pipe(docs))

    return _least(link, len(docs))


def _least(work: Callable[[], object], docs: int) -> float:
    work()
    seconds = []
    for _ in range(_RUNS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds) / docs * _MS


def main(
    transformer: Annotated[Path, typer.Argument(help="A Hugging Face directory.")],
    kb: Annotated[Path, typer.Argument(metavar="KB", help="A knowledge base.")],
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Documents with gold mentions.")],
    docs: Annotated[int, typer.Option(help="Documents, from the first on.")] = 50,
) -> None:
    """Measure what a document costs without a linker, with a shared and with a separate encoder."""
    found = measure(transformer, kb, gold, docs)
    base = found["transformer -> ner"]
    typer.echo(f"{found['mentions']:.1f} mentions a document; transformer -> ner {base:.1f} ms")
    for name in ("shared", "separate"):
        typer.echo(f"{name} encoder: {found[name]:.1f} ms more, {1 + found[name] / base:.3f} times")


if __name__ == "__main__":
    typer.run(main)

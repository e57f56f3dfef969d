"""Other linkers over the same names: `python -m benchmarks.peers ASSETS GOLD --output FILE`.

FILE has the metrics of `medlink evaluate`, with scispaCy's candidate generator and spaCy's
untrained entity_linker among the baselines; `medlink report` reads it.
"""

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.measured import write_results
from benchmarks.peers import PEERS
from spacy_medlink.assets import Assets
from spacy_medlink.evaluation import Settings, load_gold, measure
from spacy_medlink.evaluation.baselines import names_per_tier


def main(
    assets: Annotated[Path, typer.Argument(help="Assets of our linker.")],
    gold: Annotated[Path, typer.Argument(help="Gold mentions.")],
    output: Annotated[Path, typer.Option(help="Where the metrics go, JSON.")],
    peer: Annotated[list[str], typer.Option(help="scispacy or spacy; repeatable.")] = [*PEERS],  # noqa: B006  # typer copies it
) -> None:
    """Measure other linkers beside ours."""
    own, settings = Assets(assets), Settings()
    depth = names_per_tier(max(settings.ks))
    beside = {name: PEERS[name](own.kb, depth) for name in peer}
    metrics = measure(own, load_gold(gold, own.kb), settings, beside=beside)
    rows = [f"| {name} | {own['acc@1']} |" for name, own in metrics["baselines"].items()]
    lines = ["| linker | acc@1 |", "|---|---:|", f"| ours | {metrics['acc@1']} |", *rows]
    write_results(output, metrics, "\n".join(lines))


if __name__ == "__main__":
    typer.run(main)

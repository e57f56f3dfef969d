"""The benchmarks that need only the checkout, at a size that takes minutes: `make bench`."""

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.kb import main as measure_kb
from benchmarks.pipeline import main as measure_pipeline

_RESULTS = Path("benchmarks/results")


def main() -> None:
    """Measure the knowledge base, and linking over HPO; mentions are names with a mistake."""
    measure_kb(output=_RESULTS / "kb_small.json")
    with TemporaryDirectory(prefix="medlink-bench-") as work:
        measure_pipeline(
            Path(work), data=Path(work), scispacy="no", output=_RESULTS / "pipeline_small.json"
        )


if __name__ == "__main__":
    main()

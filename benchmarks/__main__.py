"""The benchmarks that need only the checkout, at a size that takes minutes: `make bench`."""

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.kb import main as measure_kb
from benchmarks.measured import RESULTS, run_command
from benchmarks.pipeline import main as measure_pipeline
from benchmarks.training import material


def main() -> None:
    """Measure an invented terminology, and linking over HPO; mentions are misspelt names."""
    with TemporaryDirectory(prefix="medlink-bench-") as directory:
        work = Path(directory)
        measure_kb(work / "kb", output=RESULTS / "kb_small.json")
        _, kb = material(work)
        run_command("build", kb, "--output", work / "hpo")
        output = RESULTS / "pipeline_small.json"
        measure_pipeline(work, [f"HPO={work / 'hpo'}"], data=work, output=output)


if __name__ == "__main__":
    main()

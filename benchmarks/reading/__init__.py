"""How well notes are read as people type them: `python -m benchmarks.reading ASSETS...`."""

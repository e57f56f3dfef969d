"""The benchmarks that need nothing but the checkout, at a size that takes minutes: `make bench`."""

import typer

from benchmarks.kb import main

if __name__ == "__main__":
    typer.run(main)

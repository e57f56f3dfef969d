"""Run a module of the checkout from the papers' project, whose steps start in this directory.

`python run.py training.train configs/sapbert.cfg ...` is `python -m training.train ...` as
from the top of the checkout, but with paths relative to here.
"""

import runpy
import sys
from pathlib import Path


def main() -> None:
    """Run the module that the first argument names, with the other arguments."""
    # In the place of this directory, whose modules would hide others of the same name.
    sys.path[0] = str(Path(__file__).parents[2])
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()

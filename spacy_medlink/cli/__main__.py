"""`python -m spacy_medlink.cli`: the command, for programs that start modules, such as torchrun."""

from . import main

if __name__ == "__main__":
    main()

"""The command `medlink`: a module for each verb, with what they share. `app` puts them together."""


def main() -> None:
    """Run the command line; the entry point `medlink`."""
    from .app import app  # all verbs, also those of sides, which import modules of this package

    app()

"""The kinds of recipes: what each learns from, by which loss, and how it is measured."""

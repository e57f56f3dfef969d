"""The tables of the papers: ours beside the published figures."""

"""Lines of problem lists, laboratory lists and drug lists, as people type them."""

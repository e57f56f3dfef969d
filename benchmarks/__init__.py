"""Scripts that measure spacy-medlink, and the generators of the data they measure it on."""

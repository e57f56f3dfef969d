"""Scripts that measure spacy-medlink, and generators of invented data for them."""

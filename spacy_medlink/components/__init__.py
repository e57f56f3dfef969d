"""medical_linker, medical_mentions, medical_context, and what `spacy train` needs of them."""

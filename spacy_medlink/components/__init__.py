"""What a pipeline has: medical_linker, medical_mentions, and what `spacy train` needs of them."""

"""Text: normalisation, spelling, abbreviations, identifiers and lexicons. Knows no spaCy."""

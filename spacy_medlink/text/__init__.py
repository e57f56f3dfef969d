"""Text: normalisation, spelling, abbreviations and lexicons. Knows no spaCy."""

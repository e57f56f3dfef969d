"""What vectors know besides linking: types, relations, similarities, and how they look."""

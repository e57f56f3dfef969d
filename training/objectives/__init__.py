"""Training objectives: miners, losses, and memories of vectors."""

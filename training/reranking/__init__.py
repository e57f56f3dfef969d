"""Training of rerankers: what they read, losses, the loop, and the choice of their weight."""

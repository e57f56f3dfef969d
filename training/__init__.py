"""The workflow, run from a checkout: from a knowledge base to a trained and measured encoder."""

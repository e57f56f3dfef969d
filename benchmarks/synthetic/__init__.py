"""Parts of the generators of synthetic terminologies."""

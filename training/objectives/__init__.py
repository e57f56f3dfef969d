"""What a batch is trained for: miners, losses, and what they remember."""

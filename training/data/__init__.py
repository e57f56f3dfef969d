"""What is trained on: names, pairs, batches, and the names that are held out."""

"""The loop: steps, gradients, checkpoints, devices."""

"""Formats of other tools: links go out in them, gold comes in."""

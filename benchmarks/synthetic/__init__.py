"""Invented releases of terminologies, of any size: the same arguments write the same bytes."""

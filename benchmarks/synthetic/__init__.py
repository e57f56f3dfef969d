"""Invented releases of terminologies, of any size; equal arguments write equal bytes."""

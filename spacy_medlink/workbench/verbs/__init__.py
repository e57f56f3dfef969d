"""Verbs of the workbench on the command line."""

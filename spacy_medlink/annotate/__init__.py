"""Bulk annotation: documents of a file or directory in, their links out, in bounded memory."""

"""Downloads: `sources` lists them, `fetch` gets a file, `unpack` opens it, `place` puts all into a
directory.
"""

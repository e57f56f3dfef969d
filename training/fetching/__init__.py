"""Downloads: `sources` lists them, `fetch` gets a file, `unpack` opens it.
`place` puts all files of a source into a directory.
"""

"""Downloads: `sources` says what comes from where, `fetch` gets a file, `unpack` opens it, `place`
puts the whole into a directory.
"""

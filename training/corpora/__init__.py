"""Corpora: from the formats they are published in to the project's gold mentions.

`registry` names the corpora, one file each; these stand on `formats` (files into rows, blocks and
elements) and give `records`; `writing` checks offsets and makes the lines; `tally` counts what was
dropped and why; `convert` runs it all, `__main__` is the command.
"""

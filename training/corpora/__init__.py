"""Corpora: from the formats they are published in to the project's gold mentions.

`registry` names the corpora, one file each, which read files with `layout` and `tables`. `writing`
checks offsets and makes the lines; `tally` counts what was dropped and why; `convert` runs all of
this, `__main__` is the command.
"""

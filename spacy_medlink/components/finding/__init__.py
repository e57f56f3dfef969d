"""The steps of `medical_mentions`, one module for each way to find mentions.

`words` lists the runs of words of a Doc, `names` looks for names of the dictionary,
`coordinations` reads "palmar and plantar pits" as "palmar pits", `proposals` asks the linker about
words that no dictionary has, and `choosing` says which matches are kept.
"""

"""Finding mentions: what `medical_mentions` does, a room for each way to find one.

`words` tells what the words of a Doc may be, `names` looks for names of the dictionary,
`coordinations` reads "palmar and plantar pits" as "palmar pits", `proposals` asks the linker about
what no dictionary has, and `choosing` says which of what was found is kept.
"""

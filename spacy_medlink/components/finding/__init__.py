"""The steps of `medical_mentions`, one module for each, from the pieces of a text to its mentions.

`names` looks up runs of pieces, also joined, in any order and misspelt; `coordinations` reads
"palmar and plantar pits" as "palmar pits"; `short_forms`, `headings`, `phrases` and
`persons_and_places` correct what was found; `choosing` says which matches stay, and
`tokens` splits tokens that a mention lies in.
"""

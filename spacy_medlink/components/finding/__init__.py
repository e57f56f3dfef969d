"""The steps of `medical_mentions`, from the pieces of a text to its mentions, in their order.

`names` looks up runs of pieces as they are written and in any order, what they may be besides
(`readings`: joined, inflected, misspelt) and `coordinations`; `short_forms` corrects the matches;
`left_out` takes out headings, idioms, addresses, `persons` and `places` (by their `capitals`);
`phrases` makes whole phrases; `matches` says which stay, and `tokens` splits tokens that a mention
lies in. `linker_names` asks the pipeline's linker which names may be found.
"""

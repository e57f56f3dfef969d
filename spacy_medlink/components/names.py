"""The names of the factories, which are those of the components by default."""

LINKER, MENTIONS, CONTEXT = "medical_linker", "medical_mentions", "medical_context"

"""The workbench: the service with its page and tools, and mapping of local lists."""

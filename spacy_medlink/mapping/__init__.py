"""Tables of local terms, or another knowledge base, in; the concepts they are mapped to, out."""

"""`Reasoner`, the facade: facts in, queries, the store; each part of it in a file of its own."""

"""The store: a folder of Parquet files, and a manifest that is replaced atomically.

    modulog-store.json            the manifest: program, switches, and every file with its size and checksum
    modulog-store.lock            locked by the one process that writes
    readers/000006                locked, shared, by every process that reads state 6
    terms/000001-0.parquet        columns id, key; ids are consecutive and never change
    facts/2/p=3/000001-0.parquet  columns c0, c1 with ids, for arity 2 and relation 3 of the manifest

A file is never changed: a new state has new files, whose names begin with the number of the state, and the
manifest says which files belong to the current state. A file that the current manifest does not name is
deleted as soon as no process reads a state that needs it.
"""

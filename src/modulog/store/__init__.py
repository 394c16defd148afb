"""The store: a folder of Parquet files and a manifest that is replaced as a whole.

    modulog-store.json               the manifest: program, switches, and every file with its size and checksum
    modulog-store.lock               held by the one process that writes
    readers/000006                   held, shared, by every process that reads the state 6
    terms/000001-0.parquet           id, key: ids are dense and never change
    facts/2/p=3/000001-0.parquet     c0, c1: ids; 2 is the arity, 3 the number of a relation in the manifest

A file is never changed: a new state has new files, whose names begin with its number, and the manifest decides which files there are. Files that a
newer manifest does not name are removed when nobody reads an older one any more.
"""

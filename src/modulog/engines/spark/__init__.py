"""An SQL engine: facts in Parquet parts, rules as plans of Spark, rounds as jobs of all executors.

The driver has sizes and the terms that were asked for last, nothing that grows with the facts.

backend.py           facts in and out, the store, checkpoints: what joins terms with the engine
engine.py            rounds: what rules give is scheduled, made distinct, and written
compile_rules.py     rules of one shape as one plan
compute.py           comparisons and functions, by executors over keys of terms
graphs.py            what seeds lead to along a graph, and connected components
relation.py          which parts hold a predicate's facts, in every version
fact_files.py        parts: written once, read by many plans
table.py             results; numbers of facts; facts whose terms have no ids yet
sources/             files, tables and frames as keys of terms
key_blocks.py        keys and facts of a chunk of input, as blocks
assign_ids.py        ids for the keys of blocks
terms.py             the table of terms and their ids
term_keys.py         values and texts as keys, over batches of Arrow
export.py            facts out, as files and frames
store_files.py       relations and terms into a store and out of it
checkpoint_files.py  what another process can take up
"""

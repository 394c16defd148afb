"""The fixpoint over strata: relations of a program, observers of its rounds, and statistics."""

"""Modules: ways to evaluate the recursive rules of a stratum, in the words of the papers."""

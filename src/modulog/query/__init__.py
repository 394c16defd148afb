"""Answers conjunctive queries over the facts of a reasoner."""

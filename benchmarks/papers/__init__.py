"""The evaluations of the three papers: their figures, ours for the same tasks, and one report of both."""

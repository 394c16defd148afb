"""The command line: verbs, their options, and what they print; a thin client of the library."""

"""Terms, the arguments of facts: as values of Python, as `Constant`, and as the ids that stand for them.

The engines compute with ids only. `dictionary.py` gives each term its id, `literal_values.py` compares terms
by value, and `term_functions.py` evaluates the functions of rules.
"""

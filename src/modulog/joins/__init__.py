"""How a body is joined: the order of its atoms, hypertree decompositions, and what either costs."""

"""How each system answers a workload: one module for each, imported only in the process that measures it."""

"""Plans a program: passes over its rules before it runs, join orders by estimated costs while it runs."""

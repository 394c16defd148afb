"""Plans a program: passes over its rules before it runs."""

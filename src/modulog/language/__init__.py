"""The rule language: text to programs and back, and the checks before anything runs."""

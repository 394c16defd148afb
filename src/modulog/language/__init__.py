"""The rule language: parses and prints programs, and checks them before they run."""

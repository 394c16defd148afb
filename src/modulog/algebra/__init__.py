"""Expressions over relations: what they are, how they are printed, and how one is put into others."""

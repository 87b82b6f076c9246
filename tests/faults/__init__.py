"""Faults that an author can run into. Each row of README.md has tests named after it."""

"""Formulas in Markdown: where they begin and end, displays, and their numbers."""

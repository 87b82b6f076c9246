"""Formulas in Markdown: their start and end, displays, and their numbers."""

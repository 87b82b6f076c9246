"""Cells: their fences, options, languages, and values in the text."""

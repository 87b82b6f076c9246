"""Mistakes as data: places, codes, diagnostics, and their printed form."""

"""Errors and warnings as data: locations, codes, diagnostics, and their printed form."""

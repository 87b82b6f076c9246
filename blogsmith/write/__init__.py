"""Outputs → a folder on disk: staged, swapped in one step, and only ever our own files."""

"""Verification of an import. Counts the content of old and new pages, and compares the counts."""

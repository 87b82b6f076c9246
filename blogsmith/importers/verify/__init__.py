"""Verification of an import: counts the content of old and new pages, and compares the counts."""

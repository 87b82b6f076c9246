"""Verification of an import: the content of pages is counted on both sides and compared."""

"""Foundations of every stage: diagnostics, files on disk, YAML as typed records, regular expressions."""

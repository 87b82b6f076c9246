"""Benchmarks of builds, previews, formulas, code, imports and pages, most of them next to other tools."""

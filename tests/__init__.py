"""Tests of blogsmith. `python -m tests.regen` rewrites generated files."""

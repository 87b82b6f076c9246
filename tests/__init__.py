"""Tests of blogsmith; `python -m tests.regen` rewrites what is generated."""

"""Cells of a site: what is recorded of them, what has to run, and what pages show of it."""

"""Attacks on blogsmith and its sites. Each row of README.md has tests named after it."""

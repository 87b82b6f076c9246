"""Obsidian: vaults of notes, also as published by Quartz."""
